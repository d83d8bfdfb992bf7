// Signed audit events: refusals, and acts of humans.
import type { AuditEventWithSignature } from '../../formats/schemas/audit-event.ts'
import { auditTypes } from '../../formats/schemas/audit-types.ts'
import { callerOf, grouped, type Event } from '../audit-groups.ts'
import { Badge, Members, Said, Time } from '../components/basic.tsx'
import { changePaths } from '../components/changes.tsx'
import { Filters, timeFilters, type Filter } from '../components/filters.tsx'
import { Listed, listPath } from '../components/list.tsx'
import { CallerLink } from '../components/names.tsx'
import { withQuery } from '../router.ts'
import { useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'

function Who({ of }: { readonly of: Event }) {
  const caller = callerOf(of)
  if (caller !== undefined) return <CallerLink id={caller} />
  return of.route === 'service' ? 'the service' : 'without a key'
}

const filters: readonly Filter[] = [{ name: 'type', label: 'Type', values: auditTypes }, ...timeFilters]

/** Links to the objects that an event is about, by the members of its detail that are ids. */
function placesOf({ detail }: Event): readonly (readonly [what: string, href: string])[] {
  const { businessTransactionId, requestId, webhookEventId, changeId, endpointId, kind: of } = detail ?? {}
  const kind = Object.keys(changePaths).find((one) => one === of)
  return [
    ...(isText(businessTransactionId)
      ? [['execution', `/console/executions/${encodeURIComponent(businessTransactionId)}`] as const]
      : []),
    ...(isText(requestId)
      ? [['request', `/console/requests/${encodeURIComponent(requestId)}`] as const]
      : []),
    ...(isText(webhookEventId)
      ? [['delivery', `/console/deliveries/${encodeURIComponent(webhookEventId)}`] as const]
      : []),
    ...(isText(endpointId)
      ? [['event endpoint', `/console/endpoints/${encodeURIComponent(endpointId)}`] as const]
      : []),
    ...(isText(changeId)
      ? [
          [
            'change',
            kind === undefined
              ? `/console/search?${new URLSearchParams({ q: changeId }).toString()}`
              : `/console/changes/${kind}/${encodeURIComponent(changeId)}`,
          ] as const,
        ]
      : []),
  ]
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

export function Audit({ query }: PageProps) {
  const loaded = useLoaded<{ events: AuditEventWithSignature[] }>(
    listPath('/audit/events', query, [...filters.map(({ name }) => name), 'cursor']),
    5_000,
  )
  return (
    <>
      <h1>Audit</h1>
      <Filters filters={filters} />
      <Listed
        loaded={loaded}
        rowsOf={({ events }) => grouped(events)}
        empty="No such event. What is refused, and what humans do, is written here."
        caption="Audit events, newest first"
        keyOf={({ event }) => event.eventId}
        columns={[
          {
            title: 'Type',
            cell: ({ event }) => (
              <a href={withQuery({ type: event.type, cursor: undefined })}>
                <code>{event.type}</code>
              </a>
            ),
          },
          { title: 'Who', cell: ({ event }) => <Who of={event} /> },
          {
            title: 'What',
            cell: ({ event, others }) => (
              <>
                <Said text={event.reason ?? event.route} />
                <Places of={event} />
                {(event.detail !== undefined || others.length > 0) && (
                  <details>
                    <summary data-row>
                      {others.length === 0 ? 'detail' : `${others.length + 1} alike`}
                    </summary>
                    {[event, ...others].map((one) => (
                      <div key={one.eventId} class="alike">
                        {others.length > 0 && (
                          <p>
                            <Time at={one.occurredAt} /> <Places of={one} />
                          </p>
                        )}
                        {one.detail !== undefined && <Members of={one.detail} />}
                      </div>
                    ))}
                  </details>
                )}
              </>
            ),
          },
          { title: 'Severity', minor: true, cell: ({ event }) => <Badge status={event.severity} /> },
          { title: 'When', cell: ({ event }) => <Time at={event.occurredAt} /> },
        ]}
      />
    </>
  )
}

function Places({ of }: { readonly of: Event }) {
  return placesOf(of).map(([what, href]) => (
    <a key={href} class="place" href={href}>
      {what}
    </a>
  ))
}
