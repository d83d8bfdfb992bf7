// Executions whose outcome nobody knows yet.
import { Badge, Countdown, Said, Time } from './basic.tsx'
import { Table } from './list.tsx'

/** An execution intent as its routes answer it. */
export interface IntentRow {
  readonly businessTransactionId: string
  readonly state: string
  readonly inDoubt: boolean
  readonly callerId: string
  readonly action: string
  readonly target: string
  readonly releasedAt: string
  readonly deadline: string
  readonly authorization: { readonly payload: { readonly authorizationId: string } }
  readonly closedAt?: string
  readonly resolution?: string
  /** What the first of two humans said. */
  readonly firstWord?: {
    readonly resolution: string
    readonly note: string
    readonly by: string
    readonly at: string
  }
  readonly transitions: readonly {
    readonly transition: {
      readonly transitionId: string
      readonly from: string
      readonly to: string
      readonly resolution?: string
      readonly note?: string
      readonly by: string
      readonly agreedWith?: string
      readonly at: string
    }
  }[]
}

export function IntentTable({
  caption,
  intents,
}: {
  readonly caption: string
  readonly intents: readonly IntentRow[]
}) {
  return (
    <Table
      caption={caption}
      rows={intents}
      keyOf={({ businessTransactionId }) => businessTransactionId}
      hrefOf={({ businessTransactionId }) => `/console/executions/${businessTransactionId}`}
      columns={[
        { title: 'Action', cell: ({ action, target }) => <Said text={`${action} → ${target}`} /> },
        { title: 'Caller', cell: ({ callerId }) => <Said text={callerId} /> },
        { title: 'State', cell: ({ state, inDoubt }) => <Badge status={inDoubt ? 'IN_DOUBT' : state} /> },
        { title: 'Released', cell: ({ releasedAt }) => <Time at={releasedAt} /> },
        { title: 'Answer due', minor: true, cell: ({ deadline }) => <Countdown to={deadline} /> },
      ]}
    />
  )
}
