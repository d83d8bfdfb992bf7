// refusal_records (decisions §4 "Refusal Record"), each with the transaction that it refuses.
import { canonicalText, members, mustHold } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { checkRefusalRecord } from '../../formats/artifacts/refusal-record.ts'
import { sealedText } from '../../store/tables/sealed.ts'
import { lazyMembers, sameTime, checkOf } from './check.ts'

export const refusals = checkOf({
  table: 'refusal_records',
  columns: {
    key: ['text', 'c.business_transaction_id'],
    callerId: 'text',
    createdAt: 'timestamptz',
    body: 'text',
    seal: 'text',
    transaction: ['text?', 't.body'],
  },
  joins: 'LEFT JOIN business_transactions AS t USING (business_transaction_id)',
  read: (row) => ({ ...row, signed: lazyMembers(row.body, 'refusal_records') }),
  rules: [
    [
      'does not verify',
      ({ body, seal, signed }, { crypto }) => {
        signed()
        lazyMembers(seal, 'refusal_records', 'seal')()
        return mustHold(checkRefusalRecord(JSON.parse(sealedText({ body, seal })) as Members, crypto))
      },
    ],
    ['names another transaction', ({ key, signed }) => signed()['businessTransactionId'] === key],
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
