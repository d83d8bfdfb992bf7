// What is appended to a record gets the next ordinal, however often one record stands in a batch.
import type { AppendedRow } from '../../src/tables/trust-records.ts'

/** in  last  what each record has now; its rows are locked */
export function numbered(
  items: readonly { readonly id: string; readonly text: string }[],
  last: ReadonlyMap<string, AppendedRow>,
): AppendedRow[] {
  const ordinals = new Map(Array.from(last, ([id, { ordinal }]) => [id, ordinal]))
  return items.map(({ id, text }) => {
    const ordinal = (ordinals.get(id) ?? 0) + 1
    ordinals.set(id, ordinal)
    return { businessTransactionId: id, ordinal, body: text }
  })
}
