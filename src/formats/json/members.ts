// A parsed JSON object.
import type { Json } from './canonical.ts'

export type Members = { readonly [name: string]: Json }

export function isMembers(value: Json | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
