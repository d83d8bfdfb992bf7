// The executions that a payment provider contradicts, and the newest deliveries that contradict them.
import type { WebhookEvent } from '../../formats/schemas/webhook.ts'
import { counted } from '../../formats/text/text.ts'
import { session } from '../api.ts'
import { useLater, useLoaded, useStore } from '../hooks.ts'
import { CONTRADICTED, countOf, executionsPath, statisticsPath, type Statistics } from '../statistics.ts'
import { Panel, Said, Time } from './basic.tsx'
import { useCatalogue } from './catalogue.tsx'

/** Deliveries are for humans and auditors. */
export function useSeesDeliveries(): boolean {
  const me = useStore(session)
  return me?.readAll === true || me?.credentialHolderType === 'USER'
}

const SHOWN = 5

/**
 * The number of contradicted executions, and the content of the newest deliveries; nothing where there are neither.
 * @param since counts executions decided from then on, and deliveries received from then on, even of older executions. ISO 8601
 */
export function Contradictions({ since, everyMs }: { readonly since: string; readonly everyMs: number }) {
  const filters = { ...CONTRADICTED, since }
  const executions = useCatalogue<Statistics>(useLater(statisticsPath(filters)), everyMs)
  const deliveries = new URLSearchParams({ outcome: 'contradicted', since })
  const sees = useSeesDeliveries()
  const newest = useLoaded<{ events: WebhookEvent[] }>(
    useLater(sees ? `/webhook-events?${deliveries}&pageSize=${SHOWN}` : undefined),
    everyMs,
  )
  const count = executions.data && countOf(executions.data)
  const events = newest.data?.events ?? []
  if (!count && events.length === 0) return null
  return (
    <Panel title="Providers say otherwise">
      <p>
        {count === undefined ? null : count === 0 ? (
          'The contradicted executions are older than the chosen time range.'
        ) : (
          <>
            Providers contradict <a href={executionsPath(filters)}>{counted(count, 'execution')}</a> of this
            time.
          </>
        )}
        {events.length > 0 && (
          <>
            {' '}
            The newest <a href={`/console/deliveries?${deliveries}`}>deliveries</a> that contradict what is
            recorded:
          </>
        )}
      </p>
      <ul class="plain">
        {events.map(({ webhookEventId, businessTransactionId, provider, detail = '', receivedAt }) => (
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
