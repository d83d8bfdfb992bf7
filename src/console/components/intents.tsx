// Executions whose outcome is not known yet.
import type { Static } from 'typebox'
import type { CataloguePage } from '../../formats/schemas/catalogue.ts'
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import { useLater, useLoaded } from '../hooks.ts'
import { shownMoney, shownSummary } from '../text.ts'
import { Badge, Overdue, Said, Time } from './basic.tsx'
import type { Rows } from './list.tsx'
import { CallerLink } from './names.tsx'

type Page = Static<typeof CataloguePage>

/**
 * The columns of executions in doubt. Sentence and amount come from the catalogue; where it is off, or behind, a row names only its action.
 * @param everyMs how often the catalogue is asked
 */
export function useIntentRows(everyMs: number): Rows<ExecutionIntent> {
  const { data } = useLoaded<Page>(useLater('/executions?status=in_doubt&pageSize=100'), everyMs)
  const known = new Map((data?.executions ?? []).map((entry) => [entry.businessTransactionId, entry]))
  return {
    keyOf: ({ businessTransactionId }) => businessTransactionId,
    hrefOf: ({ businessTransactionId }) => `/console/executions/${businessTransactionId}`,
    columns: [
      {
        title: 'Action',
        cell({ businessTransactionId: id, action, target }) {
          const { summary, amount } = known.get(id) ?? {}
          return (
            <Said text={summary === undefined ? `${action} → ${target}` : shownSummary(summary, amount)} />
          )
        },
        below: ({ firstWord }) =>
          firstWord === undefined ? null : (
            <>
              <Said text={firstWord.by} /> says: {firstWord.resolution.replace('_', ' ').toLowerCase()}
            </>
          ),
      },
      {
        title: 'Amount',
        number: true,
        cell({ businessTransactionId: id }) {
          const { amount, currency } = known.get(id) ?? {}
          return amount === undefined ? '' : shownMoney(amount, currency)
        },
      },
      { title: 'Caller', cell: ({ callerId }) => <CallerLink id={callerId} /> },
      { title: 'State', cell: ({ state, inDoubt }) => <Badge status={inDoubt ? 'IN_DOUBT' : state} /> },
      { title: 'Released', minor: true, cell: ({ releasedAt }) => <Time at={releasedAt} /> },
      { title: 'Answer', cell: ({ deadline }) => <Overdue since={deadline} /> },
    ],
  }
}
