// The inbox of the logged-in human: the first to expire is on top.
import { useEffect } from 'preact/hooks'
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import type { Change } from '../../formats/schemas/governance.ts'
import { Panel } from '../components/basic.tsx'
import { changeRows } from '../components/changes.tsx'
import { DeclineSeveral } from '../components/decline-several.tsx'
import { useIntentRows } from '../components/intents.tsx'
import { Listed } from '../components/list.tsx'
import { waitingRows } from '../components/requests.tsx'
import { useLater, useLoaded, useTitle } from '../hooks.ts'
import type { PageProps } from '../page.ts'
import { beginQueue, useWaitingCompared, waitingPath } from '../queue.ts'

/** For changes and executions in doubt; requests are reloaded sooner (`useWaitingCompared`). */
const REST_EVERY_MS = 120_000

/** The largest page that a reply may hold. */
const PAGE = 'pageSize=100'

export function Inbox({ me }: PageProps) {
  const requests = useWaitingCompared(me)
  useEffect(beginQueue, [])
  const count = requests.data?.length ?? 0
  useTitle(count === 0 ? 'Inbox' : `(${count}${requests.next === undefined ? '' : '+'}) Inbox`)
  const changes = useLoaded<{ changes: Change[] }>(
    useLater(`/changes?status=PENDING_APPROVAL&${PAGE}`),
    REST_EVERY_MS,
  )
  const inDoubt = useLoaded<{ intents: ExecutionIntent[] }>(
    useLater(`/execution-intents/unfinalized?${PAGE}`),
    REST_EVERY_MS,
  )
  const doubted = useIntentRows(REST_EVERY_MS)
  return (
    <>
      <h1>Inbox</h1>
      <Panel title={me.approverId === null ? 'Approval requests' : 'Approval requests that you can sign'}>
        <Listed
          loaded={requests}
          rowsOf={(waiting) => waiting}
          empty="Nobody waits for an approval. Requests appear here by themselves."
          restAt={`/console/requests?${waitingPath(me)}`}
          caption="Approval requests that wait"
          {...waitingRows}
        />
        {me.approverId !== null && <DeclineSeveral waiting={requests.data ?? []} />}
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
          {...doubted}
        />
      </Panel>
    </>
  )
}
