// Limits count each execution that was released, in the groups that it belongs to.
import { members } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { lazyMembers, sameTime, tableCheck, type Rule } from './check.ts'

interface HistoryRow {
  readonly key: string
  readonly callerId: string
  readonly policy: string
  readonly releasedAt: Date
  readonly transactionCallerId: string | null
  readonly body: string | null
  readonly authorization: string | null
}

/** By its time a velocity limit counts it. */
const releasedWhenAuthorized: Rule<Pick<HistoryRow, 'releasedAt' | 'authorization'>> = [
  'time differs from the execution authorization',
  ({ releasedAt, authorization }) =>
    authorization === null || sameTime(releasedAt, authorizedAt(authorization)),
]

export const historyEntries = tableCheck<HistoryRow>({
  table: 'history_entries',
  text: `
    SELECT h.business_transaction_id AS key, h.caller_id AS "callerId", h.policy, h.released_at AS "releasedAt",
      t.caller_id AS "transactionCallerId", t.body, t.execution_authorization AS "authorization"
    FROM $table AS h LEFT JOIN business_transactions AS t USING (business_transaction_id)`,
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

type HistoryGroupRow = Pick<HistoryRow, 'key' | 'releasedAt' | 'authorization'>

export const historyGroups = tableCheck<HistoryGroupRow>({
  table: 'history_groups',
  text: `
    SELECT g.business_transaction_id || ' ' || left(g.group_hash, 16) AS key, g.released_at AS "releasedAt",
      t.execution_authorization AS "authorization"
    FROM $table AS g LEFT JOIN business_transactions AS t USING (business_transaction_id)`,
  rules: [releasedWhenAuthorized],
})

function authorizedAt(authorization: string): Members[string] | undefined {
  const signed = lazyMembers(authorization, 'business_transactions', 'execution_authorization')()
  return members(signed['payload'])['authorizedAt']
}
