// authority_epoch: one number that grows with every change of authority in effect, so that instances know when to read again.
import type { Sql } from '../postgres/sql.ts'

/** In the transaction of the change itself: a reader that sees the new number sees the change. */
export async function advanceEpoch(sql: Sql): Promise<void> {
  await sql.query(`UPDATE authority_epoch SET epoch = epoch + 1`)
}

/** A 64-bit count, as text. */
export async function readEpoch(sql: Sql): Promise<string> {
  const result = await sql.query<{ epoch: string }>({
    name: 'authority_epoch_read',
    text: `SELECT epoch::text AS epoch FROM authority_epoch`,
  })
  const [row] = result.rows
  if (row === undefined) throw new Error('authority_epoch has lost its row')
  return row.epoch
}
