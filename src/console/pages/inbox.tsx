// The inbox of the logged-in human: the first to expire is on top.
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import type { Change } from '../../formats/schemas/governance.ts'
import { Panel } from '../components/basic.tsx'
import { changeRows } from '../components/changes.tsx'
import { intentRows } from '../components/intents.tsx'
import { Listed } from '../components/list.tsx'
import { requestRows } from '../components/requests.tsx'
import { useLoaded } from '../hooks.ts'
import type { PageProps } from '../page.ts'

/**
 * Fifty open inboxes must cost next to nothing. A reader who returns to the page sees the current state, and a message
 * notifies approvers at once (docs/handbook/approving.md "Be told").
 */
const REQUESTS_EVERY_MS = 10_000
const REST_EVERY_MS = 120_000

/** As many as a reply may hold: lists are newest first, and what ends first is among the oldest. */
const PAGE = 'pageSize=100'

export function Inbox({ me }: PageProps) {
  const mine = me.approverId === null ? 'status=PENDING' : 'status=PENDING&waitingFor=me'
  const requests = useLoaded<{ requests: ApprovalRequest[] }>(
    `/approval-requests?${mine}&${PAGE}`,
    REQUESTS_EVERY_MS,
  )
  const changes = useLoaded<{ changes: Change[] }>(`/changes?status=PENDING_APPROVAL&${PAGE}`, REST_EVERY_MS)
  const inDoubt = useLoaded<{ intents: ExecutionIntent[] }>(
    `/execution-intents/unfinalized?${PAGE}`,
    REST_EVERY_MS,
  )
  return (
    <>
      <h1>Inbox</h1>
      <Panel title={me.approverId === null ? 'Approval requests' : 'Approval requests that you can sign'}>
        <Listed
          loaded={requests}
          rowsOf={(reply) =>
            reply.requests.toSorted((a, b) => Date.parse(a.expiresAt) - Date.parse(b.expiresAt))
          }
          empty="Nobody waits for an approval. Requests appear here by themselves."
          restAt={`/console/requests?${mine}`}
          caption="Approval requests that wait"
          {...requestRows}
        />
      </Panel>
      <Panel title="Changes that another human must resolve">
        <Listed
          loaded={changes}
          rowsOf={(reply) => reply.changes.filter(({ proposedBy }) => proposedBy !== me.callerId)}
          empty="No change waits for you. What you propose yourself, somebody else resolves."
          restAt="/console/changes?status=PENDING_APPROVAL"
          caption="Changes that wait"
          {...changeRows}
        />
      </Panel>
      <Panel title="Executions in doubt">
        <Listed
          loaded={inDoubt}
          rowsOf={(reply) => reply.intents.filter((intent) => intent.inDoubt)}
          empty="No execution is in doubt."
          restAt="/console/in-doubt"
          caption="Executions in doubt"
          {...intentRows}
        />
      </Panel>
    </>
  )
}
