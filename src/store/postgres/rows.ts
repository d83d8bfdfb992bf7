// Statements over many rows, prepared by name in fixed sizes: multi-row VALUES, or the list of an IN.
import type { Returns, Statement } from './statement-batch.ts'
import type { Parameter } from './wire-messages.ts'

// A batch is cut into these sizes, greatest first, so that each statement is parsed and planned once per connection.
// Multi-row VALUES was measured against unnest(): 20k rows/s to 11–15k (docs/design-notes.md "Parts").
const SIZES = [128, 64, 32, 16, 8, 4, 2, 1] as const

/** A statement over any number of rows. */
interface RowsStatement<Row, Returned> {
  readonly name: string
  /** `$columns` stands for the names of the columns; `$rows` for the rows, each in brackets: after VALUES, or in IN (…) if they have one column. */
  readonly text: string
  readonly columns: Columns<Row>
  readonly returns?: Returns<Returned>
}

/**
 * The columns of a row by name, each with its type and its value. The value is cast to the type, because a parameter in VALUES has none of
 * its own; the type may be followed by the rest of an expression.
 */
export interface Columns<Row> {
  readonly [name: string]: readonly [type: string, value: (row: Row) => Parameter]
}

/** @returns the function that makes the statement over rows; none for none */
export function overRows<Row, Returned = never>(
  statement: RowsStatement<Row, Returned>,
): (rows: readonly Row[]) => Statement<Returned>[] {
  const values = Object.values(statement.columns).map(([, value]) => value)
  const valuesOf = (row: Row) => values.map((value) => value(row))
  return (rows) => {
    const statements: Statement<Returned>[] = []
    let start = 0
    for (const size of SIZES) {
      for (; rows.length - start >= size; start += size) {
        statements.push({
          name: `${statement.name}_${size}`,
          text: textFor(statement, size),
          rows: rows.slice(start, start + size).map(valuesOf),
          returns: statement.returns,
        })
      }
    }
    return statements
  }
}

const texts = new Map<string, string>()

function textFor<Row>({ name, text, columns }: RowsStatement<Row, unknown>, size: number): string {
  const key = `${name}_${size}`
  let sized = texts.get(key)
  if (sized === undefined) {
    const types = Object.values(columns).map(([type]) => type)
    const row = (r: number) =>
      `(${types.map((type, c) => `$${r * types.length + c + 1}::${type}`).join(', ')})`
    sized = text
      .replace('$columns', Object.keys(columns).join(', '))
      .replace('$rows', Array.from({ length: size }, (_, r) => row(r)).join(', '))
    texts.set(key, sized)
  }
  return sized
}
