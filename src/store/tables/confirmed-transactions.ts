// Finds the transaction that a provider's delivery names by either of its ids.
import { transactionsOf } from '../../formats/authorization-id.ts'
import { asText } from '../postgres/statement-batch.ts'
import type { Transaction } from '../postgres/transaction.ts'

/** The most transactions that are looked at: a caller could make many whose ids begin alike. */
const ALIKE_MAX = 1_000

/**
 * Finds transactions by a businessTransactionId or an authorizationId each. One statement for each id, because each is a range of one
 * index; they are sent together.
 *
 * @param ids in lower case
 * @returns for each id the businessTransactionIds that it may mean: none, one, or several, which are ambiguous
 */
export async function findNamed(
  transaction: Transaction,
  ids: readonly string[],
): Promise<Map<string, readonly string[]>> {
  const unique = [...new Set(ids)]
  const found = await transaction.run(
    unique.map((id) => {
      const { least, greatest } = transactionsOf(id)
      return {
        name: 'business_transactions_named',
        text: `
          SELECT alike.id FROM (
            SELECT id, execution_authorization, count(*) OVER () AS found FROM (
              SELECT business_transaction_id AS id, execution_authorization FROM business_transactions
              WHERE business_transaction_id >= $2::uuid AND business_transaction_id <= $3::uuid LIMIT ${ALIKE_MAX}
            ) AS first_ones
          ) AS alike
          WHERE alike.id = $1::text::uuid OR alike.found >= ${ALIKE_MAX}
            OR strpos(alike.execution_authorization, $4::text) > 0`,
        rows: [[id, least, greatest, `"authorizationId":"${id}"`]],
        returns: { id: asText },
      }
    }),
  )
  return new Map(unique.map((id, nth) => [id, found[nth]!.map((one) => one.id)]))
}
