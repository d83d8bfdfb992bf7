// State of components that lives outside them: stores, and what is loaded from the service. Both begin in layout effects, because others
// wait for the browser's next frame.
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

/** How many loads have failed and are asked for again. The frame says so, whatever a page makes of it: what is missing may be what a human decides by. */
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

/** Counts a failure that passes for as long as it stands, and its component is there. */
function useCounted(failure: Failure | undefined): void {
  const counts = failure?.isPassing === true
  useLayoutEffect(() => {
    if (!counts) return undefined
    failing.set(failing.get() + 1)
    return () => failing.set(failing.get() - 1)
  }, [counts])
}

export interface Loaded<T> {
  /** The data that were loaded last, also while newer ones are loaded. */
  readonly data: T | undefined
  readonly next: string | undefined
  /** Why it could not be loaded the last time. */
  readonly problem: string | undefined
  /** It is asked for, and there was no answer yet: who takes that for nothing would show what is not so. */
  readonly isAwaited: boolean
  readonly reload: () => void
}

/**
 * Loads at once, again every so often, and whenever the page comes into view again; never while it cannot be seen.
 * @param load its signal aborts when the component goes; returns in how many milliseconds to try again what failed; undefined: it is loaded
 * @param everyMs undefined: only until it is loaded
 * @returns ends it
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
 * Loads a path of the API, and again now and then while the page can be seen.
 * @param path undefined: nothing is loaded
 * @param everyMs undefined: only until it is loaded
 * @param after it is loaded again at once whenever this changes
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
 * What a page shows besides what it is opened for is asked for when that is there: the service and the browser's six connections are shared.
 * @returns the path then; undefined before
 */
export function useLater<Path extends string | undefined>(path: Path): Path | undefined {
  const [isLoaded, setLoaded] = useState(false)
  useLayoutEffect(() => void whenLoaded().then(() => setLoaded(true)), [])
  return isLoaded ? path : undefined
}

/**
 * Repeats a request that the service holds until something changes, for as long as the component is there. One that failed is sent again where
 * another attempt may succeed (`againAfterMs`), and is else the last.
 * @param begin called for each `id`; returns what sends one request, and then in how many milliseconds the next one follows, or undefined
 * @returns why the last one failed
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
 * Loads what takes more than one request, and begins anew after a failure where another attempt may succeed (`againAfterMs`).
 * @param load called for each `id`
 * @returns why the last attempt failed, and what the last one for this `id` found
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

/** The time, renewed so that countdowns go on. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => followClock(everyMs, setNow), [everyMs])
  return now
}

interface Clock {
  readonly listeners: Set<(now: number) => void>
  readonly timer: ReturnType<typeof setInterval>
}

/** By their paces. A list has a time in each row: one timer for all, so that they are drawn again at once. */
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

/** @returns ends it */
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

/** The title of the browser's tab. An effect of the frame that waited would come after that of a page whose data are there at once. */
export function useTitle(text: string): void {
  useLayoutEffect(() => {
    title = text
    showTitle()
  }, [text])
}

/** How many requests wait for the human, before the title of every page: a tab in the background says it too. @param count '' for none */
export function useTitleCount(count: string): void {
  useLayoutEffect(() => {
    titleCount = count
    showTitle()
    return () => {
      titleCount = ''
    }
  }, [count])
}
