// Requests of the console to the service it came from. The browser adds the session's cookie, and the page its own secret, which only this origin
// can read: the cookie alone is sent to every port of the host.

/** The answer of the service in place of what was asked for. */
export class ApiProblem extends Error {
  readonly status: number
  readonly code: string | undefined
  /** When to ask again; undefined: that would change nothing. */
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

/** There was no answer, or not the whole of it. */
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
  /** @returns a function that ends it */
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

/** The human or auditor who looks, as GET /console/me answers. */
export interface Me {
  readonly callerId: string
  readonly credentialHolderType: string
  readonly readAll: boolean
  readonly approverId: string | null
  readonly allowedCapabilities: readonly string[]
  /** Their step-ups are signed with it; null: a raw key, or nothing. */
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

/** Since when the service has not answered, milliseconds since 1970; null: it answers. */
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
  // What the service holds until something changes is no part of loading.
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

/** How many requests of `get` are under way. */
const loads = counter()

function counter() {
  let count = 0
  const waiting = new Set<() => void>()
  const look = () =>
    // What was shown may ask for more at once.
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

/** Resolves once the page shows all that it asked for. What is only beside it is asked for then, so that it holds nothing up. */
export const whenLoaded = (): Promise<void> =>
  // A frame is drawn between its callbacks and the next task.
  loads.atRest().then(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))))

/**
 * The bytes as they were signed, for what is verified.
 * @throws as `get`
 */
export async function getText(path: string): Promise<string> {
  return whole((await send(path, {})).text())
}

/**
 * The whole range of a list, as a file.
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

/** Shared by the tabs of this origin, port included; a login makes another one. Before the first it is no secret, and logs in. */
const pageSecret = () => localStorage.getItem(PAGE_HEADER) ?? 'login'

/** At a logout: the secret goes with its session. */
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
  // Refused: the secret of this page is not that of the cookie, which another login or another server of this host has set.
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

/** Undefined for what is not there. */
export async function orNone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined
    throw error
  }
}

/** After a failure that names no time. */
const AGAIN_MS = 3_000

/**
 * In how many milliseconds to ask again after a request that failed: when the service says so, and soon where it was not reached or could not
 * answer, which another time it can.
 * @returns undefined: that would change nothing
 */
export function againAfterMs(error: unknown): number | undefined {
  if (error instanceof Unreached) return AGAIN_MS
  if (!(error instanceof ApiProblem)) return undefined
  if (error.retryAfterSeconds !== undefined) return error.retryAfterSeconds * 1_000
  return error.status >= 500 ? AGAIN_MS : undefined
}

/** Whether it is the caller who went away. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

export function problemText(error: unknown): string {
  return error instanceof ApiProblem || error instanceof Unreached ? error.message : String(error)
}
