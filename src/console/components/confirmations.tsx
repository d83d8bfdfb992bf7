// The panel with the statements of payment providers about an execution, each in a signed confirmation.
import { withValues } from '../../formats/compared-values.ts'
import type { Json } from '../../formats/json/canonical.ts'
import type { BusinessTransaction } from '../../formats/schemas/business-transaction.ts'
import type { ProviderConfirmation } from '../../formats/schemas/provider-confirmation.ts'
import type { WebhookEvent, WebhookEventWithBody } from '../../formats/schemas/webhook.ts'
import { useLoaded } from '../hooks.ts'
import { oneLine } from '../text.ts'
import { Badge, Empty, Panel, Problem, Said, Time } from './basic.tsx'
import { useSeesDeliveries } from './contradicted.tsx'

const WORDS = { executed: 'it was executed', not_executed: 'it was not executed', pending: 'it is under way' }

/**
 * @param transaction the submitted transaction, which a provider's amounts are compared with
 * @param everyMs how often the confirmations are reloaded; undefined: never
 * @param awaited whether the reader expects confirmations: then the panel says so where there are none
 */
export function Confirmations({
  of: id,
  transaction,
  everyMs,
  awaited = false,
}: {
  readonly of: string
  readonly transaction: BusinessTransaction | undefined
  readonly everyMs?: number
  readonly awaited?: boolean
}) {
  const { data, problem } = useLoaded<{ confirmations: { confirmation: ProviderConfirmation }[] }>(
    `/confirmations/${encodeURIComponent(id)}?pageSize=100`,
    everyMs,
  )
  const said = data?.confirmations ?? []
  if (said.length === 0 && !awaited) return null
  return (
    <Panel title="What providers have said since">
      <Problem text={problem} />
      {data !== undefined && said.length === 0 && (
        <Empty>
          Nothing yet. Where <a href="/console/deliveries">its deliveries</a> have rules, a provider’s word
          appears here by itself, and a definite one closes the execution.
        </Empty>
      )}
      <ul class="plain">
        {said.map(({ confirmation }) => (
          <Word key={confirmation.confirmationId} of={confirmation} transaction={transaction} />
        ))}
      </ul>
    </Panel>
  )
}

function Word({
  of: confirmation,
  transaction,
}: {
  readonly of: ProviderConfirmation
  readonly transaction: BusinessTransaction | undefined
}) {
  const { provider, eventId, ruleId, says, comparisons, receivedAt } = confirmation
  const differing = comparisons.filter(({ holds }) => !holds)
  const deliveryId = useDelivery(confirmation)
  const whole = useLoaded<WebhookEventWithBody>(
    deliveryId === undefined || differing.length === 0 ? undefined : `/webhook-events/${deliveryId}`,
  )
  const roots = { payload: payloadIn(whole.data), transaction: transaction as Json | undefined }
  return (
    <li>
      <Said text={provider} /> says that <strong>{WORDS[says]}</strong> <Time at={receivedAt} />{' '}
      {differing.length > 0 && <Badge status="contradicted" />}
      <p class="quiet">
        Rule <code>{oneLine(ruleId)}</code>,{' '}
        {deliveryId === undefined ? 'delivery' : <a href={`/console/deliveries/${deliveryId}`}>delivery</a>}{' '}
        <code>{oneLine(eventId)}</code>
        {differing.length === 0 ? '.' : '. It closes nothing, because it does not speak of the same:'}
      </p>
      {differing.map(({ expression }) => (
        <pre key={expression} tabIndex={0}>
          {oneLine(withValues(expression, roots))}
        </pre>
      ))}
    </li>
  )
}

/** The id of the delivery that a confirmation was made from: the delivery with the provider's event id, received at the same time. */
function useDelivery({ provider, eventId, receivedAt }: ProviderConfirmation): string | undefined {
  const sees = useSeesDeliveries()
  const until = new Date(Date.parse(receivedAt) + 1).toISOString()
  const query = new URLSearchParams({ provider, since: receivedAt, until, pageSize: '100' })
  const { data } = useLoaded<{ events: WebhookEvent[] }>(sees ? `/webhook-events?${query}` : undefined)
  return data?.events.find((event) => event.eventId === eventId)?.webhookEventId
}

/** The body of a delivery as JSON; undefined where the body is not JSON. */
function payloadIn(delivery: WebhookEventWithBody | undefined): Json | undefined {
  if (delivery?.bodyEncoding !== 'text') return undefined
  try {
    return JSON.parse(delivery.body) as Json
  } catch {
    return undefined
  }
}
