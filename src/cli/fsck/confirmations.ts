// provider_confirmations: what providers say of executions, each by one delivery that is kept.
import type { Sealed } from '../../store/tables/sealed.ts'
import { checkProviderConfirmation } from '../../formats/artifacts/provider-confirmation.ts'
import { mustHold } from '../../formats/artifacts/evidence.ts'
import { sameTime, signedOf, tableCheck, type Signed } from './check.ts'
import type { Tools } from './tools.ts'

interface Selected extends Sealed {
  readonly key: string
  readonly transactionId: string
  readonly provider: string
  readonly eventKey: string
  readonly rulesHash: string
  /** Null where the delivery is missing. */
  readonly eventProvider: string | null
  readonly eventId: string
  readonly bodySha256: string
  readonly receivedAt: Date
}

interface Row extends Selected {
  readonly hasTransaction: boolean
}

/** Asked apart from the rows: on Citus they cannot be joined. */
async function withTransactions(rows: readonly Selected[], { sql }: Tools): Promise<readonly Row[]> {
  const found = await sql.query<{ id: string }>({
    text: `
      SELECT business_transaction_id AS id FROM business_transactions
      WHERE business_transaction_id = ANY($1::uuid[])`,
    values: [rows.map(({ transactionId }) => transactionId)],
  })
  const ids = new Set(found.rows.map(({ id }) => id))
  return rows.map((row) => ({ ...row, hasTransaction: ids.has(row.transactionId) }))
}

export const providerConfirmations = tableCheck<Selected, Row & Signed, Row>({
  table: 'provider_confirmations',
  text: `
    SELECT c.confirmation_id AS key, c.business_transaction_id AS "transactionId", c.provider, c.event_key AS "eventKey",
      c.rules_hash AS "rulesHash", c.body, c.seal, w.provider AS "eventProvider", w.event_id AS "eventId",
      w.body_sha256 AS "bodySha256", w.received_at AS "receivedAt"
    FROM $table AS c LEFT JOIN webhook_events AS w USING (event_key)`,
  complete: withTransactions,
  read: signedOf('provider_confirmations'),
  rules: [
    [
      'does not verify',
      ({ signed, signature }, { crypto }) =>
        mustHold(checkProviderConfirmation({ confirmation: signed(), signature: signature() }, crypto)),
    ],
    [
      'columns differ from the body',
      ({ key, transactionId, provider, rulesHash, signed }) => {
        const of = signed()
        return (
          of['confirmationId'] === key &&
          of['businessTransactionId'] === transactionId &&
          of['provider'] === provider &&
          of['rulesHash'] === rulesHash
        )
      },
    ],
    ['transaction is missing', ({ hasTransaction }) => hasTransaction],
    ['delivery is missing', ({ eventProvider }) => eventProvider !== null],
    [
      'differs from its delivery',
      ({ eventProvider, eventId, bodySha256, receivedAt, signed }) => {
        if (eventProvider === null) return true
        const of = signed()
        return (
          of['provider'] === eventProvider &&
          of['eventId'] === eventId &&
          of['deliveryHash'] === bodySha256 &&
          sameTime(receivedAt, of['receivedAt'])
        )
      },
    ],
  ],
})
