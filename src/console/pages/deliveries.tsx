// The page of deliveries that providers have sent, and of endpoints that events are pushed to.
import { printableJson } from '../../formats/text/printable.ts'
import type { EventEndpoint } from '../../formats/schemas/event-endpoint.ts'
import type { WebhookEvent, WebhookEventWithBody } from '../../formats/schemas/webhook.ts'
import { deliveryOutcomes } from '../../formats/schemas/webhook-outcomes.ts'
import { Badge, Detail, Hash, Members, NotLoaded, Panel, Said, Time } from '../components/basic.tsx'
import { Filters, timeFilters, type Filter } from '../components/filters.tsx'
import { Listed, listPath } from '../components/list.tsx'
import { useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'

const filters: readonly Filter[] = [
  { name: 'provider', label: 'Provider' },
  { name: 'outcome', label: 'Outcome', values: deliveryOutcomes },
  ...timeFilters,
]

export function Deliveries({ query }: PageProps) {
  const names = filters.map(({ name }) => name)
  const deliveries = useLoaded<{ events: WebhookEvent[] }>(
    listPath('/webhook-events', query, [...names, 'cursor']),
    5_000,
  )
  const endpoints = useLoaded<{ eventEndpoints: EventEndpoint[] }>('/event-endpoints', 10_000)
  return (
    <>
      <h1>Deliveries</h1>
      <Panel title="From providers">
        <Filters filters={filters} />
        <Listed
          loaded={deliveries}
          rowsOf={({ events }) => events}
          empty={
            names.some((name) => query.has(name))
              ? 'No delivery fits all of these filters.'
              : "No provider has delivered anything yet. The handbook's chapter Connecting a payment provider takes the first."
          }
          caption="Deliveries of providers, newest first"
          keyOf={({ webhookEventId }) => webhookEventId}
          hrefOf={({ webhookEventId }) => `/console/deliveries/${webhookEventId}`}
          columns={[
            {
              title: 'Delivery',
              cell: ({ provider, eventId }) => <Said text={`${provider} ${eventId}`} />,
            },
            { title: 'Outcome', cell: ({ outcome = 'waiting' }) => <Badge status={outcome} /> },
            {
              title: 'About',
              minor: true,
              cell: ({ businessTransactionId }) => <Execution id={businessTransactionId} />,
            },
            { title: 'Why', minor: true, cell: ({ detail = '' }) => <Said text={detail} /> },
            { title: 'Received', cell: ({ receivedAt }) => <Time at={receivedAt} /> },
          ]}
        />
      </Panel>
      <Panel title="Events that are pushed">
        <Listed
          loaded={endpoints}
          rowsOf={({ eventEndpoints }) => eventEndpoints}
          empty="Events are pushed nowhere. The handbook's chapter Events pushed to you registers an endpoint."
          caption="Event endpoints"
          keyOf={({ endpointId }) => endpointId}
          hrefOf={({ endpointId }) => `/console/endpoints/${endpointId}`}
          columns={[
            { title: 'Endpoint', cell: ({ url }) => <Said text={url} /> },
            { title: 'State', cell: ({ state }) => <Badge status={state} /> },
            {
              title: 'Last failure',
              minor: true,
              cell: ({ lastFailure = '' }) => <Said text={lastFailure} />,
            },
            {
              title: 'Last success',
              cell: ({ lastSuccessAt }) =>
                lastSuccessAt === undefined ? 'never' : <Time at={lastSuccessAt} />,
            },
          ]}
        />
      </Panel>
    </>
  )
}

function Execution({ id }: { readonly id: string | undefined }) {
  return id === undefined ? null : <a href={`/console/executions/${id}`}>{id.slice(0, 8)}…</a>
}

export function Delivery({ params }: PageProps) {
  const { data, problem } = useLoaded<WebhookEventWithBody>(
    `/webhook-events/${encodeURIComponent(params['id'] ?? '')}`,
  )
  if (data === undefined) return <NotLoaded title="Delivery" problem={problem} />
  const { headers, body, bodySha256, detail, ...row } = data
  return (
    <Detail
      heading={<Said text={`${data.provider} ${data.eventId}`} />}
      status={data.outcome ?? 'waiting'}
      when={<Time at={data.receivedAt} />}
      left={
        <Panel title="What became of it">
          {detail !== undefined && (
            <p class="sentence">
              <Said text={detail} />
            </p>
          )}
          <Members of={row} />
          {data.businessTransactionId !== undefined && (
            <p>
              <a href={`/console/executions/${data.businessTransactionId}`}>The execution that it is about</a>
            </p>
          )}
        </Panel>
      }
      right={
        <Panel title="As it came">
          <Members of={headers} />
          <pre class="bytes" tabIndex={0}>
            {printableJson(body)}
          </pre>
          <p>
            SHA-256 <Hash value={bodySha256} />
          </p>
        </Panel>
      }
    />
  )
}
