// Request bodies: bytes that are JSON with exactly one reading, or nothing (decisions §3 "Not JSON we accept").
import { isUtf8 } from 'node:buffer'
import { MalformedJson, parseJsonText } from '../../formats/json/text.ts'

export { MalformedJson }

const DEPTH_MAX = 64

/**
 * Parses the bytes of a body.
 * @throws MalformedJson for bad UTF-8 and for everything that `parseJsonText` refuses, here with a depth over 64
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (!isUtf8(bytes)) throw new MalformedJson('not UTF-8')
  return parseJsonText(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'),
    DEPTH_MAX,
  )
}

/** Whether a number may have had another value in the JSON text: an integer beyond 2^53 (decisions §3). */
export function holdsUnsafeInteger(value: unknown): boolean {
  if (typeof value === 'number') return Number.isInteger(value) && !Number.isSafeInteger(value)
  if (typeof value !== 'object' || value === null) return false
  return Object.values(value).some(holdsUnsafeInteger)
}
