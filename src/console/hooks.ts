// State of components that lives outside them: stores, and data loaded from the service. Both start in layout effects, because other
// effects wait for the browser's next frame.
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import { againAfterMs, get, isAborted, problemText, session, store, whenLoaded, type Store } from './api.ts'

export function useStore<T>({ get: read, follow }: Store<T>): T {
  const [value, setValue] = useState(read())
  useLayoutEffect(() => {
    setValue(read())
    return follow(() => setValue(read()))
  }, [read, follow])
  return value
}

/** The number of failed loads that are being repeated. The frame reports it on every page, because a human may decide by the missing data. */
export const failing = store(0)

interface Failure {
  readonly problem: string
  /** Another attempt may succeed. */
  readonly isPassing: boolean
}

const failureOf = (error: unknown): Failure => ({
  problem: problemText(error),
  isPassing: againAfterMs(error) !== undefined,
})

/** Counts a temporary failure in `failing` as long as it lasts and its component is mounted. */
function useCounted(failure: Failure | undefined): void {
  const counts = failure?.isPassing === true
  useLayoutEffect(() => {
    if (!counts) return undefined
    failing.set(failing.get() + 1)
    return () => failing.set(failing.get() - 1)
  }, [counts])
}

export interface Loaded<T> {
  /** The data that were loaded last, also while newer data are loaded. */
  readonly data: T | undefined
  readonly next: string | undefined
  /** Why the last load failed. */
  readonly problem: string | undefined
  /** The request has no reply yet: a page that shows an empty result meanwhile would show something untrue. */
  readonly isAwaited: boolean
  readonly reload: () => void
}

/**
 * Loads at once, then periodically, and whenever the page becomes visible again; never while the page is hidden.
 * @param load its signal aborts when the component is removed; returns the milliseconds until the next attempt after a failure; undefined: loaded
 * @param everyMs undefined: only until the first success
 * @returns a function that ends the loading
 */
function whileSeen(load: (signal: AbortSignal) => Promise<number | undefined>, everyMs?: number): () => void {
  const leaving = new AbortController()
  const { signal } = leaving
  let timer: ReturnType<typeof setTimeout> | undefined
  let isLoading = false
  let hasLoaded = false
  const look = async () => {
    const isDone = everyMs === undefined && hasLoaded
    if (isLoading || isDone || signal.aborted || document.visibilityState !== 'visible') return
    clearTimeout(timer)
    isLoading = true
    const againMs = await load(signal)
    isLoading = false
    hasLoaded = againMs === undefined
    const nextMs = againMs ?? everyMs
    if (nextMs !== undefined && !signal.aborted && session.get() !== null)
      timer = setTimeout(() => void look(), nextMs)
  }
  document.addEventListener('visibilitychange', () => void look(), { signal })
  void look()
  return () => {
    leaving.abort()
    clearTimeout(timer)
  }
}

/**
 * Loads a path of the API, and reloads it periodically while the page is visible.
 * @param path undefined: nothing is loaded
 * @param everyMs undefined: only until the first success
 * @param after a change of this number reloads the path at once
 */
export function useLoaded<T>(path: string | undefined, everyMs?: number, after = 0): Loaded<T> {
  const [state, setState] = useState<{
    path?: string | undefined
    data?: T
    next?: string
    failure?: Failure
  }>({})
  const [round, setRound] = useState(0)
  useLayoutEffect(() => {
    if (path === undefined) return undefined
    return whileSeen(async (signal) => {
      try {
        const { data, next } = await get<T>(path, { signal })
        setState({ path, data, ...(next === undefined ? {} : { next }) })
        return undefined
      } catch (error) {
        if (!isAborted(error))
          setState((before) => ({
            ...(before.path === path ? before : { path }),
            failure: failureOf(error),
          }))
        return againAfterMs(error)
      }
    }, everyMs)
  }, [path, everyMs, round, after])
  const { data, next, failure }: typeof state = state.path === path ? state : {}
  const problem = failure?.problem
  useCounted(failure)
  return {
    data,
    next,
    problem,
    isAwaited: path !== undefined && data === undefined && problem === undefined,
    reload: () => setRound(round + 1),
  }
}

/**
 * Delays a secondary request until the page shows its main data, because both share the service and the browser's six connections.
 * @returns undefined until then, afterwards the path
 */
export function useLater<Path extends string | undefined>(path: Path): Path | undefined {
  const [isLoaded, setLoaded] = useState(false)
  useLayoutEffect(() => void whenLoaded().then(() => setLoaded(true)), [])
  return isLoaded ? path : undefined
}

/**
 * Repeats a request that the service holds until something changes, as long as the component is mounted. A failed request is sent again where
 * another attempt may succeed (`againAfterMs`); otherwise it is the last request.
 * @param begin called for each `id`; returns a function that sends a request, and returns the wait before the next in ms; undefined: no next request
 * @returns why the last request failed
 */
export function useFollowed(
  begin: () => (signal: AbortSignal) => Promise<number | undefined>,
  id = '',
): string | undefined {
  const [failure, setFailure] = useState<Failure>()
  useCounted(failure)
  useLayoutEffect(() => {
    const leaving = new AbortController()
    const { signal } = leaving
    setFailure(undefined)
    const follow = async () => {
      const ask = begin()
      for (let waitMs: number | undefined = 0; waitMs !== undefined && !signal.aborted;) {
        try {
          waitMs = await ask(signal)
          setFailure(undefined)
        } catch (error) {
          if (isAborted(error)) return
          setFailure(failureOf(error))
          waitMs = againAfterMs(error)
        }
        if (waitMs) await pause(waitMs, signal)
      }
    }
    void follow()
    return () => leaving.abort()
  }, [id])
  return failure?.problem
}

/**
 * Loads data that takes more than one request, and starts again after a failure where another attempt may succeed (`againAfterMs`).
 * @param load called for each `id`
 * @returns why the last attempt failed, and the data that the last successful attempt for this `id` found
 */
export function useFound<T>(
  load: (signal: AbortSignal) => Promise<T>,
  id: string,
): { readonly found: T | undefined; readonly problem: string | undefined } {
  const [last, setLast] = useState<{ readonly id: string; readonly found: T }>()
  const problem = useFollowed(
    () => async (signal) => {
      const found = await load(signal)
      if (!signal.aborted) setLast({ id, found })
      return undefined
    },
    id,
  )
  return { found: last?.id === id ? last.found : undefined, problem }
}

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}

/** The present time, updated periodically so that countdowns continue. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => followClock(everyMs, setNow), [everyMs])
  return now
}

interface Clock {
  readonly listeners: Set<(now: number) => void>
  readonly timer: ReturnType<typeof setInterval>
}

/** Clocks by their intervals. A list has a time in each row: one timer for all rows redraws them together. */
const clocks = new Map<number, Clock>()

function startClock(everyMs: number): Clock {
  const listeners: Clock['listeners'] = new Set()
  const tick = () => {
    const now = Date.now()
    for (const listener of listeners) listener(now)
  }
  const clock = { listeners, timer: setInterval(tick, everyMs) }
  clocks.set(everyMs, clock)
  return clock
}

/** @returns a function that removes the listener */
function followClock(everyMs: number, listener: (now: number) => void): () => void {
  const { listeners, timer } = clocks.get(everyMs) ?? startClock(everyMs)
  listeners.add(listener)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    clocks.delete(everyMs)
  }
}

let title = ''
let titleCount = ''

function showTitle(): void {
  document.title = `${titleCount === '' ? '' : `(${titleCount}) `}${title} · Countersign`
}

/** The title of the browser's tab. A deferred effect of the shell would run after the effect of a page whose data are there at once. */
export function useTitle(text: string): void {
  useLayoutEffect(() => {
    title = text
    showTitle()
  }, [text])
}

/** Puts the number of requests that wait for the human before every page's title: a tab in the background shows it, too. @param count '' for none */
export function useTitleCount(count: string): void {
  useLayoutEffect(() => {
    titleCount = count
    showTitle()
    return () => {
      titleCount = ''
    }
  }, [count])
}
