// provider_confirmations: the statements of providers about executions, each from one delivery that is kept.
import { providerConfirmation } from '../../formats/artifacts/provider-confirmation.ts'
import { checkOf, sameTime } from './check.ts'
import { columnsOf, repeats, signedIn, verifies } from './sealed.ts'

export const providerConfirmations = checkOf({
  table: 'provider_confirmations',
  columns: {
    ...columnsOf(providerConfirmation),
    // Null where the delivery is missing.
    eventProvider: ['text?', 'w.provider'],
    eventId: ['text?', 'w.event_id'],
    bodySha256: ['text?', 'w.body_sha256'],
    receivedAt: ['timestamptz?', 'w.received_at'],
  },
  joins: 'LEFT JOIN webhook_events AS w USING (event_key)',
  // A separate query: on Citus these tables cannot be joined.
  async complete(rows, { sql }) {
    const found = await sql.query<{ id: string }>({
      text: `
        SELECT business_transaction_id AS id FROM business_transactions
        WHERE business_transaction_id = ANY($1::uuid[])`,
      values: [rows.map(({ businessTransactionId }) => businessTransactionId)],
    })
    const ids = new Set(found.rows.map(({ id }) => id))
    return rows.map((row) => ({ ...row, hasTransaction: ids.has(row.businessTransactionId) }))
  },
  read: (row) => signedIn(row, providerConfirmation),
  rules: [
    ['does not verify', (row, tools) => verifies(providerConfirmation, row, tools)],
    [
      'columns differ from the body',
      // The delivery has its key here, and the time is that of the confirmation.
      (row) => repeats(providerConfirmation, row, ['eventKey', 'at']),
    ],
    ['transaction is missing', ({ hasTransaction }) => hasTransaction],
    ['delivery is missing', ({ eventProvider }) => eventProvider !== null],
    [
      'differs from its delivery',
      ({ eventProvider, eventId, bodySha256, receivedAt, signed }) => {
        if (eventProvider === null || receivedAt === null) return true
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
