// Requests of the console to the service that served it. The browser adds the session's cookie. The page adds its own secret, which only this
// origin can read, because the browser sends the cookie to every port of the host.

/** An error reply of the service in place of the requested data. */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: string | undefined
  /** Delay before another attempt; undefined: another attempt would change nothing. */
  readonly retryAfterSeconds: number | undefined
  constructor(
    status: number,
    message: string,
    {
      code,
      retryAfterSeconds,
    }: { readonly code?: string | undefined; readonly retryAfterSeconds?: number | undefined } = {},
  ) {
    super(message)
    this.name = 'ApiProblem'
    this.status = status
    this.code = code
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** The service sent no reply, or an incomplete reply. */
class Unreached extends Error {
  constructor(cause: unknown) {
    super('The service cannot be reached.', { cause })
    this.name = 'Unreached'
  }
}

/** A value that components follow. */
export interface Store<T> {
  readonly get: () => T
  readonly set: (value: T) => void
  /** @returns a function that removes the listener */
  readonly follow: (listener: () => void) => () => void
}

export function store<T>(initial: T): Store<T> {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: () => value,
    set(next) {
      if (next === value) return
      value = next
      for (const listener of listeners) listener()
    },
    follow(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

/** The human or auditor who is logged in, as in the reply of GET /console/me. */
export interface Me {
  readonly callerId: string
  readonly credentialHolderType: string
  readonly readAll: boolean
  readonly approverId: string | null
  readonly allowedCapabilities: readonly string[]
  /** The passkey that signs their step-ups; null: they have a raw key, or no key. */
  readonly stepUpPasskey: {
    readonly publicKeyPem: string
    readonly rpId: string
    readonly credentialId?: string
  } | null
  readonly expiresAt: string
  readonly version: string
  /** Whether the service can look for executions (docs/handbook/finding.md). */
  readonly catalogue: boolean
}

/** Undefined: not known yet. Null: not logged in. */
export const session = store<Me | null | undefined>(undefined)

/** Time of the first request without a reply, in milliseconds since 1970; null: the service answers. */
export const unreachableSince = store<number | null>(null)

export interface Reply<T> {
  readonly data: T
  /** Path of the next page, from the Link header (RFC 8288). */
  readonly next: string | undefined
}

interface GetOptions {
  readonly signal?: AbortSignal
  /** Seconds that the reply may be held until something changes (RFC 7240 `wait`). */
  readonly wait?: number
}

/** @throws ApiProblem, or Unreached */
export async function get<T>(path: string, { signal, wait }: GetOptions = {}): Promise<Reply<T>> {
  // A request that the service holds until something changes is not part of loading a page.
  const isLoad = !wait
  if (isLoad) loads.add(1)
  try {
    const response = await send(path, {
      headers: wait === undefined ? {} : { Prefer: `wait=${wait}` },
      ...(signal === undefined ? {} : { signal }),
    })
    const [, next] = /<([^>]+)>; *rel="next"/.exec(response.headers.get('Link') ?? '') ?? []
    return { data: (await whole(response.json())) as T, next }
  } finally {
    if (isLoad) loads.add(-1)
  }
}

/** The number of requests of `get` in flight. */
const loads = counter()

function counter() {
  let count = 0
  const waiting = new Set<() => void>()
  const look = () =>
    // Components that were just drawn may send further requests at once.
    setTimeout(() => {
      if (count > 0) return
      for (const resolve of waiting) resolve()
      waiting.clear()
    })
  return {
    add(one: 1 | -1) {
      count += one
      if (count === 0) look()
    },
    atRest: () =>
      new Promise<void>((resolve) => {
        waiting.add(resolve)
        look()
      }),
  }
}

/** Resolves once the page shows all data that it requested. Secondary data is requested afterwards, so that it delays nothing. */
export const whenLoaded = (): Promise<void> =>
  // The browser draws a frame after the frame's callbacks and before the next task.
  loads.atRest().then(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))))

/**
 * Reads the bytes as they were signed, for verification.
 * @throws as `get`
 */
export async function getText(path: string): Promise<string> {
  return whole((await send(path, {})).text())
}

/**
 * Reads the whole range of a list as a file.
 * @throws as `get`
 */
export async function getFile(path: string, type: string): Promise<Blob> {
  return whole((await send(path, { headers: { Accept: type } })).blob())
}

/** @throws as `get` */
export async function post<T = undefined>(
  path: string,
  body: unknown,
  { signal }: { readonly signal?: AbortSignal } = {},
): Promise<T> {
  const response = await send(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal === undefined ? {} : { signal }),
  })
  return response.status === 204 ? (undefined as T) : ((await whole(response.json())) as T)
}

const PAGE_HEADER = 'X-Countersign-Console'

/** The secret that all tabs of this origin (port included) share. Each login replaces it; before the first login, the value is no secret. */
const pageSecret = () => localStorage.getItem(PAGE_HEADER) ?? 'login'

/** Removes the secret at a logout, because its session ends. */
export function forgetPageSecret(): void {
  localStorage.removeItem(PAGE_HEADER)
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    const headers = { ...(init.headers as Record<string, string>), [PAGE_HEADER]: pageSecret() }
    response = await fetch(path, { credentials: 'same-origin', ...init, headers })
  } catch (error) {
    if (isAborted(error)) throw error
    unreachableSince.set(unreachableSince.get() ?? Date.now())
    throw new Unreached(error)
  }
  unreachableSince.set(null)
  const secret = response.headers.get(PAGE_HEADER)
  if (secret !== null) localStorage.setItem(PAGE_HEADER, secret)
  if (response.ok) return response
  const { error = response.statusText, code } = (await response.json().catch(() => ({}))) as {
    error?: string
    code?: string
  }
  // `CONSOLE_REFUSED`: the page's secret does not match the cookie, which another login or another server of this host has set.
  if (response.status === 401 || code === 'CONSOLE_REFUSED') session.set(null)
  const retryAfter = response.headers.get('Retry-After')
  throw new ApiProblem(response.status, error, {
    code,
    retryAfterSeconds: retryAfter === null ? undefined : Number(retryAfter),
  })
}

/** @throws Unreached where the body ends too early */
async function whole<T>(body: Promise<T>): Promise<T> {
  try {
    return await body
  } catch (error) {
    throw isAborted(error) ? error : new Unreached(error)
  }
}

/** Returns undefined where the service answers 404. */
export async function orNone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined
    throw error
  }
}

/** Delay before another attempt where the failure names none. */
const AGAIN_MS = 3_000

/**
 * The delay in milliseconds before a failed request is sent again: the delay that the service names, else `AGAIN_MS` where the service was not
 * reached or failed itself, because a later attempt may succeed.
 * @returns undefined: another attempt would change nothing
 */
export function againAfterMs(error: unknown): number | undefined {
  if (error instanceof Unreached) return AGAIN_MS
  if (!(error instanceof ApiProblem)) return undefined
  if (error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1_000
  return error.status >= 500 ? AGAIN_MS : undefined
}

/** Whether the request failed because its caller aborted it. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

export function problemText(error: unknown): string {
  return error instanceof ApiProblem || error instanceof Unreached ? error.message : String(error)
}
