// Signed audit events: what was refused, and what humans did.
import type { AuditEventWithSignature } from '../../formats/schemas/audit-event.ts'
import { Badge, Members, Said, Time } from '../components/basic.tsx'
import { Listed, listPath, TextFilter } from '../components/list.tsx'
import { useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'

function who({ callerId, detail, route }: AuditEventWithSignature['event']): string {
  // A login comes before there is a caller: its detail names one.
  const named = callerId ?? (detail as { callerId?: unknown } | undefined)?.callerId
  if (typeof named === 'string') return named
  return route === 'service' ? 'the service' : 'without a key'
}

export function Audit({ query }: PageProps) {
  const loaded = useLoaded<{ events: AuditEventWithSignature[] }>(
    listPath('/audit/events', query, ['type', 'since', 'until', 'cursor']),
    5_000,
  )
  return (
    <>
      <h1>Audit</h1>
      <div class="filters">
        <TextFilter label="Type" name="type" placeholder="governance.approved" />
        <TextFilter label="Since" name="since" placeholder="2026-11-24T00:00:00Z" />
        <TextFilter label="Until" name="until" placeholder="2026-11-25T00:00:00Z" />
      </div>
      <Listed
        loaded={loaded}
        rowsOf={({ events }) => events}
        empty="No such event. What is refused, and what humans do, is written here."
        caption="Audit events, newest first"
        keyOf={({ event }) => event.eventId}
        columns={[
          { title: 'Type', cell: ({ event }) => <code>{event.type}</code> },
          { title: 'Who', cell: ({ event }) => <Said text={who(event)} /> },
          {
            title: 'What',
            cell: ({ event }) => (
              <>
                <Said text={event.reason ?? event.route} />
                {event.detail !== undefined && (
                  <details>
                    <summary data-row>detail</summary>
                    <Members of={event.detail} />
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
