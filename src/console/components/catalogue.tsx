// Parts that pages about many executions share: loading from the catalogue, its completeness, and the text where there is no catalogue.
import { session } from '../api.ts'
import { useLoaded, useNow, useStore, type Loaded } from '../hooks.ts'
import { Empty, Time } from './basic.tsx'

/**
 * Loads a path that only a service with a catalogue has; loads nothing without a catalogue.
 * @param path undefined: nothing is loaded
 * @param everyMs undefined: only once
 */
export function useCatalogue<T>(path: string | undefined, everyMs?: number): Loaded<T> {
  return useLoaded<T>(useHasCatalogue() ? path : undefined, everyMs)
}

export function useHasCatalogue(): boolean {
  return useStore(session)?.catalogue ?? false
}

/** Replaces content that only the catalogue has. */
export function WithoutCatalogue({ what }: { readonly what: string }) {
  return (
    <Empty>
      This service keeps no catalogue of its executions (<code>CATALOGUE=off</code> or <code>LOG=off</code>
      ), so {what} is not known here. Requests, changes, policies, refusals and each execution by its id are
      shown as ever.
    </Empty>
  )
}

/** A shorter lag is not shown. The catalogue lags behind the evidence under load. */
const LAG_SHOWN_MS = 15_000

/** Says until when a reply is complete, unless it is complete until now. */
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
