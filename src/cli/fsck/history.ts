// Limits count each execution that was released, in the groups that it belongs to.
import { members } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { lazyMembers, sameTime, checkOf, type SelectedRow, type Rule } from './check.ts'

const counted = { releasedAt: 'timestamptz', authorization: ['text?', 't.execution_authorization'] } as const
const JOIN_TRANSACTION = 'LEFT JOIN business_transactions AS t USING (business_transaction_id)'

/** A velocity limit counts the execution by this time. */
const releasedWhenAuthorized: Rule<SelectedRow<typeof counted>> = [
  'time differs from the execution authorization',
  ({ releasedAt, authorization }) =>
    authorization === null || sameTime(releasedAt, authorizedAt(authorization)),
]

export const historyEntries = checkOf({
  table: 'history_entries',
  columns: {
    key: ['text', 'c.business_transaction_id'],
    callerId: 'text',
    policy: 'text',
    transactionCallerId: ['text?', 't.caller_id'],
    body: ['text?', 't.body'],
    ...counted,
  },
  joins: JOIN_TRANSACTION,
  rules: [
    [
      "caller or policy differs from the transaction's",
      ({ callerId, policy, transactionCallerId, body }) =>
        body === null ||
        (callerId === transactionCallerId &&
          members(lazyMembers(body, 'business_transactions')()['policy'])['name'] === policy),
    ],
    releasedWhenAuthorized,
  ],
})

export const historyGroups = checkOf({
  table: 'history_groups',
  columns: { key: ['text', `c.business_transaction_id || ' ' || left(c.group_hash, 16)`], ...counted },
  joins: JOIN_TRANSACTION,
  rules: [releasedWhenAuthorized],
})

function authorizedAt(authorization: string): Members[string] | undefined {
  const signed = lazyMembers(authorization, 'business_transactions', 'execution_authorization')()
  return members(signed['payload'])['authorizedAt']
}
