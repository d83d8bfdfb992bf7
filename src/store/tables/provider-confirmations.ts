// provider_confirmations: signed statements of payment providers about executions (docs/handbook/operating.md "What a provider says").
import { providerConfirmation } from '../../formats/artifacts/provider-confirmation.ts'
import { artifactColumns, signedText, type Sealed, type WholeRecord } from './sealed.ts'
import { readPageOf, type Page, type PageRange } from './page.ts'
import { rowsInto } from '../postgres/rows.ts'
import type { Sql } from '../postgres/sql.ts'
import { readTrustRecord } from './trust-records.ts'

/** @returns statements that fail with a unique violation where a delivery has confirmed by the same rules before */
export const insertConfirmations = rowsInto(
  providerConfirmation.stored.table,
  artifactColumns(providerConfirmation),
)

/**
 * The confirmations that deliveries have made before: somebody may have had a delivery processed again.
 * @returns confirmationIds by `<eventKey> <rulesHash>`
 */
export async function findConfirmations(
  sql: Sql,
  eventKeys: readonly string[],
): Promise<Map<string, string>> {
  if (eventKeys.length === 0) return new Map()
  const { rows } = await sql.query<{ made: string; id: string }>({
    name: 'provider_confirmations_find',
    text: `
      SELECT event_key || ' ' || rules_hash AS made, confirmation_id AS id FROM provider_confirmations
      WHERE event_key = ANY($1::uuid[])`,
    values: [eventKeys],
  })
  return new Map(rows.map(({ made, id }) => [made, id]))
}

/** A page of the confirmations of a transaction by providers, newest first. */
export function listConfirmations(sql: Sql, id: string, range: PageRange): Promise<Page<Sealed>> {
  return readPageOf(
    sql,
    {
      name: 'provider_confirmations_list',
      table: 'provider_confirmations',
      time: 'at',
      id: 'confirmation_id',
      bytes: 'octet_length(item.body) + octet_length(item.seal)',
      columns: 'item.body, item.seal',
      where: 'item.business_transaction_id = $5::uuid',
    },
    range,
    { values: [id] },
  )
}

/** How many confirmations the reply with a record holds. */
const SHOWN_MAX = 100

/**
 * A record with its appended lists and the confirmations of providers.
 * @returns null when there is none or `callerId` (null: anyone) does not own it
 */
export async function readWholeRecord(
  sql: Sql,
  id: string,
  callerId: string | null,
): Promise<WholeRecord | null> {
  const [record, { shown, count }] = await Promise.all([
    readTrustRecord(sql, id, callerId),
    readConfirmations(sql, id),
  ])
  if (record === null || count === 0) return record
  return {
    ...record,
    confirmations: shown.map((one) => signedText('confirmation', one)).join(','),
    ...(count > SHOWN_MAX ? { confirmationCount: count } : {}),
  }
}

/** The newest confirmations of a transaction, oldest first, and the number of all. */
async function readConfirmations(
  sql: Sql,
  id: string,
): Promise<{ readonly shown: readonly Sealed[]; readonly count: number }> {
  const { rows } = await sql.query<Sealed & { count: number }>({
    name: 'provider_confirmations_read',
    text: `
      SELECT body, seal, count(*) OVER ()::integer AS count FROM provider_confirmations
      WHERE business_transaction_id = $1::uuid ORDER BY at DESC, confirmation_id DESC LIMIT ${SHOWN_MAX}`,
    values: [id],
  })
  return { shown: rows.toReversed(), count: rows[0]?.count ?? 0 }
}
