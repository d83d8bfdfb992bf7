// Calls a service over HTTP as any caller would (interface §4).
import type { Members } from './verify-offline.ts'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Empty where the body is no JSON object. */
  readonly body: Members
}

/** Sends `body` as JSON. */
export type Call = (method: 'GET' | 'POST', path: string, body?: unknown) => Promise<Reply>

/** Why the demo cannot run at all, as a sentence for the person at the terminal. */
export class CannotRun extends Error {}

const TIMEOUT_MS = 30_000

/**
 * @param options.key sent where it is given
 * @param options.signal ends the calls in flight
 * @throws CannotRun where nobody answers
 */
export function openClient({
  url,
  key,
  signal,
}: {
  url: string
  key: string | undefined
  signal: AbortSignal
}): Call {
  return async (method, path, body) => {
    try {
      const response = await fetch(url.replace(/\/$/, '') + path, {
        method,
        headers: {
          ...(key ? { Authorization: `Bearer ${key}` } : {}),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: object(text) }
    } catch (error) {
      throw new CannotRun(`Nobody answers at ${url}: ${reason(error)}.`, { cause: error })
    }
  }
}

/** `fetch failed` says nothing; its cause does. */
function reason(error: unknown): string {
  const { cause = error } = error as { cause?: unknown }
  const { code, message } = cause as { code?: unknown; message?: unknown }
  return typeof code === 'string' ? code : String(message)
}

function object(text: string): Members {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Members
  } catch {
    // No JSON: what the caller expects of the body is missing, and it says so.
  }
  return {}
}
