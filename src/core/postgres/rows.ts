// Statements over many rows, prepared by name in fixed sizes: multi-row VALUES, or the list of an IN.
import type { Statement, Texts } from './statement-batch.ts'
import type { Parameter } from './wire-messages.ts'

// A batch is cut into these sizes, greatest first, so that each statement is parsed and planned once per connection.
// Multi-row VALUES was measured against unnest(): 20k rows/s to 11–15k (docs/design-notes.md "Parts").
const SIZES = [128, 64, 32, 16, 8, 4, 2, 1] as const

/** A statement over any number of rows. `$rows` in its text is where they go, each in brackets: after VALUES, or in IN (…) if they have one column. */
interface RowsStatement<Row> {
  readonly name: string
  readonly text: string
  /** Casts of the columns in order, or expressions that begin with one: in VALUES a parameter has no type of its own. */
  readonly types: readonly string[]
  readonly values: (row: Row) => readonly Parameter[]
}

/** @returns the function that makes the statement over rows; none for none */
export function overRows<Row>(statement: RowsStatement<Row>): (rows: readonly Row[]) => Statement[] {
  return (rows) => {
    const statements: Statement[] = []
    let start = 0
    for (const size of SIZES) {
      for (; rows.length - start >= size; start += size) {
        statements.push({
          name: `${statement.name}_${size}`,
          text: textFor(statement, size),
          rows: rows.slice(start, start + size).map(statement.values),
        })
      }
    }
    return statements
  }
}

/** Reads the ids that a `RETURNING` brings. */
export function idsIn(rows: readonly Texts[]): Set<string> {
  const ids = new Set<string>()
  for (const [id] of rows) if (typeof id === 'string') ids.add(id)
  return ids
}

const texts = new Map<string, string>()

function textFor({ name, text, types }: Omit<RowsStatement<never>, 'values'>, size: number): string {
  const key = `${name}_${size}`
  let sized = texts.get(key)
  if (sized === undefined) {
    const row = (r: number) =>
      `(${types.map((type, c) => `$${r * types.length + c + 1}::${type}`).join(', ')})`
    sized = text.replace('$rows', Array.from({ length: size }, (_, r) => row(r)).join(', '))
    texts.set(key, sized)
  }
  return sized
}
