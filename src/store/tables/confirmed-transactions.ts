// A provider's delivery names the transaction by either of its ids, and its intent, locked so that no other transaction closes it meanwhile.
import { transactionsOf } from '../../formats/authorization-id.ts'
import type { IntentState, Resolution } from '../../formats/schemas/intent-states.ts'
import { isInDoubt } from './execution-intents.ts'
import { asText } from '../postgres/statement-batch.ts'
import type { Transaction } from '../postgres/transaction.ts'

/** A caller could make many transactions whose ids begin alike: so many are looked at. */
const ALIKE_MAX = 1_000

/**
 * Finds transactions by a businessTransactionId or an authorizationId each. One statement for each id, because each is a range of one
 * index; they travel together.
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

/** A transaction, with its intent where it was released. */
export interface NamedTransaction {
  readonly businessTransactionId: string
  readonly callerId: string
  /** Canonical text. */
  readonly body: string
  /** Whether an authorization is stored. */
  readonly isReleased: boolean
  /** Null: nothing was released. */
  readonly intent: NamedIntent | null
}

interface NamedIntent {
  readonly state: IntentState
  readonly inDoubt: boolean
  readonly resolution: Resolution | null
  readonly nonce: string
}

/**
 * Locks the intents of transactions, and so waits for a transaction that is closing one. One statement for each id, because Citus locks rows of one
 * shard at a time; they travel together.
 *
 * @param ids sorted: everybody locks in one order
 * @returns by businessTransactionId, as they are after that wait
 */
export async function lockNamed(
  transaction: Transaction,
  ids: readonly string[],
): Promise<Map<string, NamedTransaction>> {
  if (ids.length === 0) return new Map()
  const locked = await transaction.run<NamedIntent & { id: string }>(
    ids.map((id) => ({
      name: 'execution_intents_lock_named',
      text: `
        SELECT i.business_transaction_id, i.state, (${isInDoubt})::text, i.resolution, i.nonce
        FROM execution_intents AS i WHERE i.business_transaction_id = $1::uuid FOR NO KEY UPDATE`,
      rows: [[id]],
      returns: {
        id: asText,
        state: (field) => asText(field) as IntentState,
        inDoubt: (field) => field === 'true',
        resolution: (field) => field as Resolution | null,
        nonce: asText,
      },
    })),
  )
  const intents = new Map(locked.flat().map(({ id, ...intent }) => [id, intent]))
  const { rows } = await transaction.query<Omit<NamedTransaction, 'intent'>>({
    name: 'business_transactions_read_named',
    text: `
      SELECT business_transaction_id AS "businessTransactionId", caller_id AS "callerId", body,
        execution_authorization IS NOT NULL AS "isReleased"
      FROM business_transactions WHERE business_transaction_id = ANY($1::uuid[])`,
    values: [ids],
  })
  return new Map(
    rows.map((row) => [
      row.businessTransactionId,
      { ...row, intent: intents.get(row.businessTransactionId) ?? null },
    ]),
  )
}
