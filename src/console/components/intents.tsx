// Executions whose outcome is not known yet.
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import { Badge, Said, Time } from './basic.tsx'
import type { Rows } from './list.tsx'

export const intentRows: Rows<ExecutionIntent> = {
  keyOf: ({ businessTransactionId }) => businessTransactionId,
  hrefOf: ({ businessTransactionId }) => `/console/executions/${businessTransactionId}`,
  columns: [
    { title: 'Action', cell: ({ action, target }) => <Said text={`${action} → ${target}`} /> },
    { title: 'Caller', cell: ({ callerId }) => <Said text={callerId} /> },
    { title: 'State', cell: ({ state, inDoubt }) => <Badge status={inDoubt ? 'IN_DOUBT' : state} /> },
    { title: 'Released', cell: ({ releasedAt }) => <Time at={releasedAt} /> },
    { title: 'Answer due', minor: true, cell: ({ deadline }) => <Time at={deadline} /> },
  ],
}
