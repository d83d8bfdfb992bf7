// Which executions a payment provider says otherwise of, by the deliveries that the service found to contradict it.
import type { WebhookEvent } from '../../formats/schemas/webhook.ts'
import { session } from '../api.ts'
import { useLoaded, useStore } from '../hooks.ts'
import { Panel, Said, Time } from './basic.tsx'
import { listPath } from './list.tsx'

/** As many as a page holds; there are few, or something is very wrong. */
const LOADED_MAX = 100

/** Deliveries are for humans and auditors. */
export function useSeesDeliveries(): boolean {
  const me = useStore(session)
  return me?.readAll === true || me?.credentialHolderType === 'USER'
}

/**
 * The newest deliveries that contradict the service.
 * @param since only those that came from then on, ISO 8601; undefined: nothing is loaded yet
 */
export function useContradictions(since: string | undefined, everyMs?: number) {
  const sees = useSeesDeliveries()
  const query = new URLSearchParams({ ...contradictedSince(since ?? ''), pageSize: String(LOADED_MAX) })
  return useLoaded<{ events: WebhookEvent[] }>(
    sees && since !== undefined ? `/webhook-events?${query}` : undefined,
    everyMs,
  )
}

const contradictedSince = (since: string) => ({ outcome: 'contradicted', since })

/** How many there are, and what the newest say; nothing where there are none. */
export function Contradictions({ since, everyMs }: { readonly since: string; readonly everyMs: number }) {
  const { data, next } = useContradictions(since, everyMs)
  const events = data?.events ?? []
  if (events.length === 0) return null
  return (
    <Panel title="Providers say otherwise">
      <p>
        <a
          href={listPath('/console/deliveries', new URLSearchParams(contradictedSince(since)), [
            'outcome',
            'since',
          ])}
        >
          {events.length === 1 ? '1 delivery' : `${events.length} deliveries`}
          {next === undefined ? '' : ' or more'}
        </a>{' '}
        of providers {events.length === 1 ? 'contradicts' : 'contradict'} what is recorded:
      </p>
      <ul class="plain">
        {events
          .slice(0, SHOWN)
          .map(({ webhookEventId, businessTransactionId, provider, detail = '', receivedAt }) => (
            <li key={webhookEventId}>
              <a
                href={
                  businessTransactionId === undefined
                    ? `/console/deliveries/${webhookEventId}`
                    : `/console/executions/${businessTransactionId}`
                }
              >
                <Said text={provider} />
              </a>{' '}
              <Time at={receivedAt} />
              <div class="quiet">
                <Said text={detail} />
              </div>
            </li>
          ))}
      </ul>
    </Panel>
  )
}

const SHOWN = 5
