// refusal_records (decisions §4 "Refusal Record"), each with the transaction that it refuses.
import { canonicalText, members, mustHold } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { checkRefusalRecord } from '../../formats/artifacts/refusal-record.ts'
import { sealedText } from '../../store/tables/sealed.ts'
import { lazyMembers, sameTime, tableCheck } from './check.ts'

interface Row {
  readonly id: string
  readonly callerId: string
  readonly createdAt: Date
  readonly body: string
  readonly seal: string
  readonly transaction: string | null
}

interface Item extends Row {
  readonly key: string
  readonly signed: () => Members
}

export const refusals = tableCheck<Row, Item>({
  table: 'refusal_records',
  text: `
    SELECT f.business_transaction_id AS id, f.caller_id AS "callerId", f.created_at AS "createdAt", f.body, f.seal,
      t.body AS transaction
    FROM $table AS f LEFT JOIN business_transactions AS t USING (business_transaction_id)`,
  read: (row) => ({ ...row, key: row.id, signed: lazyMembers(row.body, 'refusal_records') }),
  rules: [
    [
      'does not verify',
      ({ body, seal, signed }, { crypto }) => {
        signed()
        lazyMembers(seal, 'refusal_records', 'seal')()
        return mustHold(checkRefusalRecord(JSON.parse(sealedText({ body, seal })) as Members, crypto))
      },
    ],
    ['names another transaction', ({ id, signed }) => signed()['businessTransactionId'] === id],
    [
      'caller differs from submittedBy in the body',
      ({ callerId, signed }) => signed()['submittedBy'] === callerId,
    ],
    ['time differs from the body', ({ createdAt, signed }) => sameTime(createdAt, signed()['createdAt'])],
    [
      'does not refuse what the transaction asks for',
      ({ transaction, signed }) => {
        if (transaction === null) return true
        const { intent, policy, signals } = lazyMembers(transaction, 'business_transactions')()
        const { evaluatedIntent, decision } = signed()
        const decided = members(decision)
        return (
          same(evaluatedIntent, intent) &&
          same(decided['policy'], policy) &&
          same(decided['signals'], signals)
        )
      },
    ],
  ],
})

function same(one: Members[string] | undefined, other: Members[string] | undefined): boolean {
  return one !== undefined && other !== undefined && canonicalText(one) === canonicalText(other)
}
