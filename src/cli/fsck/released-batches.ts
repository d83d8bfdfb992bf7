// released_batches: open intents. That each belongs there is checked with its transaction.
import { checkOf } from './check.ts'

export const releasedBatches = checkOf({
  table: 'released_batches',
  columns: { key: ['text', 'c.batch'], ids: 'text[]', hasDeadline: ['boolean', 'isfinite(c.deadline)'] },
  async complete(rows, { sql }) {
    const found = await sql.query<{ id: string }>({
      text: `SELECT business_transaction_id AS id FROM business_transactions WHERE business_transaction_id = ANY ($1::uuid[])`,
      values: [rows.flatMap(({ ids }) => ids)],
    })
    const stored = new Set(found.rows.map(({ id }) => id))
    return rows.map((row) => ({ ...row, missing: row.ids.filter((id) => !stored.has(id)) }))
  },
  rules: [
    ['names no execution', ({ ids }) => ids.length > 0],
    ['names an execution whose transaction is missing', ({ missing }) => missing.length === 0],
    ['deadline is not a timestamp', ({ hasDeadline }) => hasDeadline],
  ],
})
