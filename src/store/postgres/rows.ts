// Statements over many rows, prepared by name in fixed sizes: multi-row VALUES, or the list of an IN.
import { byteaText } from './sql.ts'
import type { Returns, Statement } from './statement-batch.ts'
import type { Parameter } from './wire-messages.ts'

// A batch is cut into these sizes, greatest first, so that each statement is parsed and planned once per connection.
// Multi-row VALUES was measured against unnest(): 20k rows/s to 11–15k (docs/design-notes.md "Parts").
const SIZES = [128, 64, 32, 16, 8, 4, 2, 1] as const

/** A statement over any number of rows. */
interface RowsStatement<Row, Returned> {
  readonly name: string
  /** `$columns` stands for the names of the columns; `$rows` for the rows, each in brackets: after VALUES, or in IN (…) if they have one column; `$size` for their number. */
  readonly text: string
  readonly columns: Columns<Row>
  readonly returns?: Returns<Returned>
}

/**
 * The columns of a row by name, each with its type and its value. The value is cast to the type, because a parameter in VALUES has no type of its
 * own; the type may be followed by the rest of an expression.
 */
export interface Columns<Row> {
  readonly [name: string]: readonly [type: string, value: (row: Row) => Parameter]
}

/** The types of columns, each with the type of its value in a row. */
interface ColumnValues {
  readonly uuid: string
  readonly text: string
  /** ISO 8601. */
  readonly timestamptz: string
  readonly integer: number
  readonly smallint: number
  readonly bigint: number
  readonly bytea: Uint8Array
  readonly boolean: boolean
}
type ColumnType = keyof ColumnValues

/** The columns of a table by the members of a row: `createdAt` is the column `created_at`. A type with a question mark may be null. */
export interface ColumnTypes {
  readonly [member: string]: ColumnType | `${ColumnType}?`
}

/** A row that has these columns. */
export type RowOf<Types extends ColumnTypes> = {
  readonly [Member in keyof Types]: Types[Member] extends ColumnType
    ? ColumnValues[Types[Member]]
    : Types[Member] extends `${infer Type extends ColumnType}?`
      ? ColumnValues[Type] | null
      : never
}

/** The name of the column of a member. */
export function columnOf(member: string): string {
  return member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/**
 * An insert that states its columns once: they are its statement and the type of its rows.
 * @param options.suffix SQL that follows the rows
 * @returns the function that makes the statements
 */
export function rowsInto<const Types extends ColumnTypes, Returned = never>(
  table: string,
  types: Types,
  { suffix = '', returns }: { readonly suffix?: string; readonly returns?: Returns<Returned> } = {},
): (rows: readonly RowOf<Types>[]) => Statement<Returned>[] {
  return overRows({
    name: `${table}_insert`,
    text: `INSERT INTO ${table} ($columns) VALUES $rows${suffix}`,
    columns: columnsOf(types),
    ...(returns === undefined ? {} : { returns }),
  })
}

/** The columns that hold the members of these types. */
export function columnsOf<Types extends ColumnTypes>(types: Types): Columns<RowOf<Types>> {
  const columns = Object.entries(types).map(([member, type]) => {
    const value = (row: RowOf<Types>) => row[member] as Parameter
    const bytes = (row: RowOf<Types>) => (row[member] === null ? null : byteaText(row[member] as Uint8Array))
    return [columnOf(member), [type.replace('?', ''), type.startsWith('bytea') ? bytes : value]] as const
  })
  return Object.fromEntries(columns)
}

/** @returns the function that makes the statements over rows; no statement for no rows */
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
      .replace('$size', String(size))
    texts.set(key, sized)
  }
  return sized
}
