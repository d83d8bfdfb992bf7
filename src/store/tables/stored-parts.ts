// The names trust_records, verifications and receipts are views (docs/design-notes.md "Stored once"). These are the tables that hold their
// rows, for code that locks rows, changes them or reads a table by its pages.

export interface StoredPart {
  readonly table: string
  /** SQL of the rows as `c`, from the table or a part of it, with the columns of the view. */
  readonly rows: (from: string) => string
  /** SQL of the ordinal of a row `c` of the table, where the view has ordinals. */
  readonly ordinal: string
}

const itself = (table: string): StoredPart => ({ table, rows: (from) => from, ordinal: 'c.ordinal' })

/** The first verification or receipt of each record, which is in the record's row. */
const first = (column: 'verification' | 'receipt', others = ''): StoredPart => ({
  table: 'execution_evidence',
  rows: (from) =>
    `(SELECT business_transaction_id, 1 AS ordinal, ${column} AS body${others} FROM ${from} AS e WHERE ${column} IS NOT NULL)`,
  ordinal: '1',
})

const VIEWS: { readonly [name: string]: readonly StoredPart[] } = {
  // All columns but the body, which is stored without its copies.
  trust_records: [itself('execution_evidence')],
  verifications: [first('verification'), itself('appended_verifications')],
  receipts: [first('receipt', ', log_batch, log_ordinal'), itself('appended_receipts')],
}

/** @param name of a table or a view */
export function partsOf(name: string): readonly StoredPart[] {
  return VIEWS[name] ?? [itself(name)]
}
