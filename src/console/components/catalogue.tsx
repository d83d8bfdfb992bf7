// What pages about many executions share: where they read, how far it reaches, and what they say without a catalogue.
import { session } from '../api.ts'
import { useLoaded, useNow, useStore, type Loaded } from '../hooks.ts'
import { Empty, Time } from './basic.tsx'

/**
 * Loads a path that only a service with a catalogue has; nothing without one.
 * @param path undefined: nothing is loaded
 * @param everyMs undefined: only once
 */
export function useCatalogue<T>(path: string | undefined, everyMs?: number): Loaded<T> {
  return useLoaded<T>(useHasCatalogue() ? path : undefined, everyMs)
}

export function useHasCatalogue(): boolean {
  return useStore(session)?.catalogue ?? false
}

/** In the place of what only the catalogue knows. */
export function WithoutCatalogue({ what }: { readonly what: string }) {
  return (
    <Empty>
      This service keeps no catalogue of its executions (<code>CATALOGUE=off</code> or <code>LOG=off</code>
      ), so {what} is not known here. Requests, changes, policies, refusals and each execution by its id are
      shown as ever.
    </Empty>
  )
}

/** The catalogue lags behind the evidence while much is executed. */
const LAG_SHOWN_MS = 15_000

/** Says until when a reply is complete, where that is not now. */
export function Reach({ until }: { readonly until: string | null }) {
  const now = useNow(10_000)
  if (until !== null && now - Date.parse(until) < LAG_SHOWN_MS) return null
  return (
    <p class="quiet">
      {until === null ? (
        'The catalogue is being built: executions appear here as it goes on.'
      ) : (
        <>
          Complete until <Time at={until} />.
        </>
      )}
    </p>
  )
}
