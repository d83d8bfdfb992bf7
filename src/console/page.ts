// The properties of every page.
import type { Me } from './api.ts'

export interface PageProps {
  /** The parameters of its path. */
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The human or auditor who is logged in. */
  readonly me: Me
}
