// A row that is appended to a record gets the next ordinal, however often one record is in a batch; a record takes a bounded number.
import { failures, type Failure } from '../../src/core/errors/errors.ts'
import { APPENDED_MAX, type AppendedRow, type AppendedTable } from '../../src/store/tables/trust-records.ts'

/**
 * The stage that numbers appended rows.
 *
 * @param last the last row of each record now; the records are locked
 * @returns a function to call once for each item, in order: it returns the item with its row to store, or the 409 of a full record
 */
export function numbering(table: AppendedTable, last: ReadonlyMap<string, AppendedRow>) {
  const ordinals = new Map(Array.from(last, ([id, { ordinal }]) => [id, ordinal]))
  const max = APPENDED_MAX[table]
  return <Item extends { readonly id: string; readonly text: string }>(
    item: Item,
  ): (Item & { readonly row: AppendedRow }) | Failure => {
    const ordinal = (ordinals.get(item.id) ?? 0) + 1
    if (ordinal > max)
      return failures.conflict(`The Execution Trust Record has ${max} ${table}; no more can be appended.`)
    ordinals.set(item.id, ordinal)
    return { ...item, row: { businessTransactionId: item.id, ordinal, body: item.text } }
  }
}
