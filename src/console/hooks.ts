// State of components that lives outside them: stores, and what is loaded from the service.
import { useEffect, useState } from 'preact/hooks'
import { get, isAborted, problemText, session, type Store } from './api.ts'

export function useStore<T>({ get: read, follow }: Store<T>): T {
  const [value, setValue] = useState(read())
  useEffect(() => {
    setValue(read())
    return follow(() => setValue(read()))
  }, [read, follow])
  return value
}

export interface Loaded<T> {
  /** What was loaded last, also while it is loaded again. */
  readonly data: T | undefined
  readonly next: string | undefined
  /** Why it could not be loaded the last time. */
  readonly problem: string | undefined
  readonly reload: () => void
}

/**
 * Loads a path of the API, and again now and then while the page can be seen.
 * @param path undefined: nothing is loaded
 * @param everyMs undefined: only once
 */
export function useLoaded<T>(path: string | undefined, everyMs?: number): Loaded<T> {
  const [state, setState] = useState<{
    path?: string | undefined
    data?: T
    next?: string
    problem?: string
  }>({})
  const [round, setRound] = useState(0)
  useEffect(() => {
    if (path === undefined) return undefined
    const leaving = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = async () => {
      if (document.visibilityState === 'visible') {
        try {
          const { data, next } = await get<T>(path, { signal: leaving.signal })
          setState({ path, data, ...(next === undefined ? {} : { next }) })
        } catch (error) {
          if (isAborted(error)) return
          setState((before) => ({ ...before, problem: problemText(error) }))
        }
      }
      if (everyMs !== undefined && session.get() !== null) timer = setTimeout(() => void load(), everyMs)
    }
    void load()
    return () => {
      leaving.abort()
      clearTimeout(timer)
    }
  }, [path, everyMs, round])
  const isOfThis = state.path === path
  return {
    data: isOfThis ? state.data : undefined,
    next: isOfThis ? state.next : undefined,
    problem: state.problem,
    reload: () => setRound(round + 1),
  }
}

/** The time, renewed so that countdowns go on. */
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** The title of the browser's tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Countersign`
  }, [title])
}
