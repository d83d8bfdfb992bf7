// Every check of `countersign fsck` is made of one statement over a table, and of rules that each of its rows must hold.
import { lazy } from '../../formats/lazy.ts'
import { errorText } from '../../formats/text/error-text.ts'
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import type { Members } from '../../formats/json/members.ts'
import { columnOf } from '../../store/postgres/rows.ts'
import type { Tools } from './tools.ts'

/** One row that is not as it must be. */
export interface Finding {
  readonly table: string
  readonly key: string
  /** A sentence without its full stop: `receipt is missing`. */
  readonly problem: string
}

/** The sentence says that a row breaks the rule. `holds` may throw: the row then breaks the rule, and the error's message says why. */
export type Rule<Item> = readonly [problem: string, holds: (item: Item, tools: Tools) => boolean]

/** The rules of a table whose rows the statement joins. */
interface Joined<Item> {
  readonly table: string
  /** Whether the joined row is there at all. */
  readonly when: (item: Item) => boolean
  readonly rules: readonly Rule<Item>[]
}

export interface Check {
  /** The table whose rows the statement walks through. */
  readonly table: string
  /** One statement without parameters, read through a cursor: its rows come in no order. `$table` in it stands for the table, or a part. */
  readonly text: string
  /** Examines a page. Resolves to the number of rows of each table and the findings. */
  readonly examine: (rows: readonly unknown[], tools: Tools) => Promise<Examined>
}

interface Examined {
  readonly counted: Readonly<Record<string, number>>
  readonly findings: readonly Finding[]
}

/** The type that a column is read as. */
interface ColumnValues {
  readonly uuid: string
  readonly text: string
  readonly timestamptz: Date
  readonly integer: number
  readonly boolean: boolean
  readonly 'text[]': readonly string[]
  readonly json: Members
}
type ColumnType = keyof ColumnValues | `${keyof ColumnValues}?`

/**
 * The columns that a check selects, by the members of its row: `createdAt` is `c.created_at`, unless the type comes with SQL. A type with a
 * question mark may be null.
 */
interface Selected {
  readonly [member: string]: ColumnType | readonly [type: ColumnType, sql: string]
}

/** A row that has these columns. */
export type SelectedRow<Columns extends Selected> = {
  readonly [Member in keyof Columns]: ValueOf<
    Columns[Member] extends readonly [infer Type, string] ? Type : Columns[Member]
  >
}
type ValueOf<Type> = Type extends keyof ColumnValues
  ? ColumnValues[Type]
  : Type extends `${infer Some extends keyof ColumnValues}?`
    ? ColumnValues[Some] | null
    : never

function selection(columns: Selected): string {
  return Object.entries(columns)
    .map(
      ([member, column]) =>
        `${typeof column === 'string' ? `c.${columnOf(member)}` : column[1]} AS "${member}"`,
    )
    .join(', ')
}

/**
 * A check of a table: one statement over its rows, and the rules that each of them must hold.
 *
 * @param table whose rows `c` the statement walks through
 * @param columns of these rows, and of the tables that `joins` adds; on Citus a distributed table cannot be joined with one of the
 *   coordinator
 * @param complete adds columns to the rows of a page, from tables that the statement cannot join
 * @param read makes a row ready for the rules: values that several rules read are parsed once (`lazy`)
 * @param rules of the table
 * @param beside tables whose rows the statement joins, and which have no check of their own
 * @param page looks up the findings on many rows at once
 */
export function checkOf<
  const Columns extends Selected,
  Row = SelectedRow<Columns>,
  Item extends { readonly key: string } = Row & { readonly key: string },
>({
  table,
  columns,
  joins = '',
  complete = (rows) => Promise.resolve(rows as unknown as readonly Row[]),
  read = (row) => row as unknown as Item,
  rules,
  beside = [],
  page = () => Promise.resolve([]),
}: {
  readonly table: string
  readonly columns: Columns
  readonly joins?: string
  readonly complete?: (rows: readonly SelectedRow<Columns>[], tools: Tools) => Promise<readonly Row[]>
  readonly read?: (row: Row, tools: Tools) => Item
  readonly rules: readonly Rule<NoInfer<Item>>[]
  readonly beside?: readonly Joined<NoInfer<Item>>[]
  readonly page?: (items: readonly NoInfer<Item>[], tools: Tools) => Promise<readonly Finding[]>
}): Check {
  const groups = [{ table, rules, when: () => true }, ...beside]
  return {
    table,
    text: `SELECT ${selection(columns)} FROM $table AS c ${joins}`,
    async examine(rows, tools) {
      const items = (await complete(rows as readonly SelectedRow<Columns>[], tools)).map((row) =>
        read(row, tools),
      )
      const counted: Record<string, number> = {}
      const findings: Finding[] = []
      for (const item of items) {
        const present = groups.filter(({ when }) => when(item))
        for (const one of present) counted[one.table] = (counted[one.table] ?? 0) + 1
        findings.push(...broken(item, present, tools))
      }
      return { counted, findings: [...findings, ...(await page(items, tools))] }
    },
  }
}

/** Each finding once: an unreadable value fails every rule that reads it. */
function broken<Item extends { readonly key: string }>(
  item: Item,
  groups: readonly Pick<Joined<Item>, 'table' | 'rules'>[],
  tools: Tools,
): Finding[] {
  const found = new Map<string, Finding>()
  const add = (table: string, problem: string) =>
    found.set(`${table} ${problem}`, { table, key: item.key, problem })
  for (const { table, rules } of groups) {
    for (const [problem, holds] of rules) {
      try {
        if (!holds(item, tools)) add(table, problem)
      } catch (error) {
        if (error instanceof Unreadable) add(error.table, error.message)
        else add(table, `${problem} (${errorText(error)})`)
      }
    }
  }
  return [...found.values()]
}

/** Stored text that is not the canonical JSON that it must be. */
class Unreadable extends Error {
  readonly table: string
  constructor(table: string, problem: string) {
    super(problem)
    this.name = 'Unreadable'
    this.table = table
  }
}

/**
 * The members of canonical text as it is stored, parsed at most once. Text that is its own canonical form has exactly one reading:
 * a repeated key would not come back.
 */
export function lazyMembers(text: string | null, table: string, column = 'body'): () => Members {
  return lazy(() => {
    const refusal = new Unreadable(table, `${column} is not canonical JSON`)
    try {
      const value = JSON.parse(text ?? 'null') as Json
      if (typeof value === 'object' && value !== null && canonicalize(value) === text) return value as Members
    } catch {
      throw refusal
    }
    throw refusal
  })
}

/** A row whose seal is its signature alone, as its rules read it. */
export interface Signed {
  readonly signed: () => Members
  readonly signature: () => Members
}

/** Whether a stored time is the one that was signed: RFC 3339 with milliseconds. PostgreSQL's `infinity` comes as a number. */
export function sameTime(stored: Date | number, signed: Json | undefined): boolean {
  return stored instanceof Date && stored.toISOString() === signed
}
