// When a call is sent again, and how long to wait before: bounded attempts, Retry-After before backoff (interface §7 row 429, §8).
import { AnswerError, ConnectionLostError } from './errors.ts'

/** The reply that openapi-fetch resolves to. */
export interface Reply<T> {
  readonly data?: T
  readonly error?: unknown
  readonly response: Response
}
export type Call<T> = () => Promise<Reply<T>>

export interface Pacing {
  /** The maximum number of times that one call is sent, the first included. */
  readonly maxAttempts: number
  /** Ends a wait. */
  readonly signal: AbortSignal | undefined
}

/** With a longer Retry-After the error is thrown at once: the caller must plan that wait. */
const WAIT_MS_MAX = 60_000
const BACKOFF_MS = 250
const BACKOFF_MS_MAX = 8_000

/**
 * Sends until there is an answer, an error that `mayRepeat` does not accept, or no attempt left.
 * @throws CountersignError, or the signal's reason
 */
export async function sendRepeatedly<T>(
  call: Call<T>,
  pacing: Pacing,
  mayRepeat: (error: unknown) => boolean,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(call)
    } catch (error) {
      if (!mayRepeat(error)) throw error
      await pause(error, attempt, pacing)
    }
  }
}

/** @throws AnswerError where the answer is not a success or empty; any other error means that no whole answer arrived */
export async function sendOnce<T>(call: Call<T>): Promise<T> {
  const { data, error, response } = await call().catch((thrown: unknown) => {
    // A success that is no JSON comes from something in between, such as a proxy.
    throw thrown instanceof SyntaxError ? new ConnectionLostError('The answer is no JSON', thrown) : thrown
  })
  if (data !== undefined) return data
  throw errorOf(response, error)
}

/**
 * Waits before the next attempt.
 * @throws the error where no attempt is left, or the wait is too long; the signal's reason
 */
export async function pause(error: unknown, attempt: number, { maxAttempts, signal }: Pacing): Promise<void> {
  signal?.throwIfAborted()
  const waitMs = waitMsAfter(error, attempt)
  if (attempt >= maxAttempts || waitMs > WAIT_MS_MAX) throw error
  await sleep(waitMs, signal)
}

/** Whether the service did nothing at all with the request (decisions §3): the limiter and the queues come first. */
export function nothingWasDone(error: unknown): boolean {
  return (
    error instanceof AnswerError &&
    (error.status === 429 || (error.status === 503 && error.code === 'OVERLOADED'))
  )
}

/** Whether the outcome of the request is unknown, because neither the service nor a proxy before it says so. */
export function isUnanswered(error: unknown): boolean {
  if (!(error instanceof AnswerError)) return true
  return error.status < 400 || (error.status >= 502 && error.status <= 504)
}

/** For calls that store nothing, so that sending them twice is harmless. */
export function isPassing(error: unknown): boolean {
  return nothingWasDone(error) || isUnanswered(error)
}

function errorOf(response: Response, body: unknown): AnswerError {
  // A body of another shape comes from something in between, such as a proxy.
  const { error, code } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  return new AnswerError(typeof error === 'string' ? error : `HTTP ${response.status}`, {
    status: response.status,
    code: typeof code === 'string' ? code : undefined,
    requestId: response.headers.get('X-Request-Id') ?? undefined,
    retryAfterSeconds: retryAfterSeconds(response.headers.get('Retry-After')),
    needsApproval: /;\s*rel="?approval-request"?/.test(response.headers.get('Link') ?? ''),
  })
}

/** Seconds, or the date that a proxy may send (RFC 9110 §10.2.3). */
function retryAfterSeconds(text: string | null): number | undefined {
  if (text === null) return undefined
  if (/^\d+$/.test(text)) return Number(text)
  const seconds = (Date.parse(text) - Date.now()) / 1000
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds)
}

/** Half of the backoff is chance, so that callers who failed together do not come back together. */
function waitMsAfter(error: unknown, attempt: number): number {
  if (error instanceof AnswerError && error.retryAfterSeconds !== undefined)
    return error.retryAfterSeconds * 1000
  const backoffMs = Math.min(BACKOFF_MS * 2 ** (attempt - 1), BACKOFF_MS_MAX)
  return backoffMs * (0.5 + Math.random() / 2)
}

/** @throws the signal's reason */
export function sleep(waitMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason as Error)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, waitMs)
    signal?.addEventListener('abort', stop, { once: true })
  })
}
