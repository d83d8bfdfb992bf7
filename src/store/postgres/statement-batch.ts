// Several statements in one message to PostgreSQL and with one Sync, so that they need one round trip and succeed or fail as one: the
// server skips everything after a failed statement (PostgreSQL's documentation, "Frontend/Backend Protocol", "Pipelining").
import { Query, type ClientBase, type Connection } from 'pg'
import { WireMessages, type Parameter } from './wire-messages.ts'

/** One statement with its parameters. `Row` is the type of the rows that it returns; most statements return none. */
export interface Statement<Row = never> {
  /** The name under which it is prepared, once per connection. */
  readonly name: string
  readonly text: string
  /** The parameters in order, in rows of any length. */
  readonly rows: readonly (readonly Parameter[])[]
  readonly returns?: Returns<Row> | undefined
}

/** Names the columns of a RETURNING or SELECT, in its order, and how each is read: PostgreSQL sends only their texts. */
export type Returns<Row> = { readonly [Column in keyof Row]: (field: Field) => Row[Column] }

/** A value as PostgreSQL wrote it. */
type Field = string | null
type Fields = readonly Field[]

/** Reads a column that is never null. */
export function asText(field: Field): string {
  if (field === null) throw new Error('null in a column that is never null')
  return field
}

/** Reads a column that may be null. */
export function asTextOrNull(field: Field): string | null {
  return field
}

/** @returns the function that reads a row of the statement. It throws an Error where the row has not as many columns as the statement states */
export function rowReader<Row>({ name, returns }: Statement<Row>): (fields: Fields) => Row {
  const columns = Object.entries(returns ?? {}) as [string, (field: Field) => unknown][]
  return (fields) => {
    if (fields.length !== columns.length)
      throw new Error(`${name} states ${columns.length} columns, and its row has ${fields.length}`)
    const row: Record<string, unknown> = {}
    for (const [nth, [column, read]] of columns.entries()) row[column] = read(fields[nth]!)
    return row as Row
  }
}

export interface StatementResult {
  readonly rows: readonly Fields[]
  /** The server's report on the statement: 'INSERT 0 5', 'COMMIT'. */
  readonly tag: string
}

/**
 * Sends statements as one pipeline.
 * @returns a result for each statement
 * @throws the error of the failed statement. Then no statement took effect, or all did but the answer was lost. Close the connection, unless
 *   the failed statement is known to have been parsed: only for that one is it unknown here whether the server has prepared it
 */
export function sendStatements(
  client: Pick<ClientBase, 'query'>,
  statements: readonly Statement<unknown>[],
): Promise<StatementResult[]> {
  const { promise, resolve, reject } = Promise.withResolvers<StatementResult[]>()
  const batch = new StatementBatch(statements, (error, results) => {
    if (error === null) resolve(results)
    else reject(error)
  })
  try {
    client.query(batch)
  } catch (error) {
    // Parameters that cannot be sent. pg's time-out later fails the same batch again, without effect.
    reject(error)
  }
  return promise
}

/** The names of our own prepared statements; pg keeps its own list of those that it has prepared. */
const prepared = new WeakMap<Connection, Set<string>>()

/**
 * A `Query`, because pg refuses any other class on a connection that pipelines; pg calls the overridden methods. It drops its statements and
 * results as soon as it can: pg's time-out keeps the object until V8's next full collection (docs/design-notes.md "Performance").
 */
class StatementBatch extends Query {
  /** pg wraps it in a callback of its own, for the time-out. */
  callback: (error: Error | null, results: StatementResult[]) => void
  private statements: readonly Statement<unknown>[]
  private results: StatementResult[] = []
  /** The statements that this message prepares, by their places in it. Most messages prepare none. */
  private readonly preparing = new Map<number, string>()
  /** The rows of the statement that is being answered. Not named `rows`, which is an option of pg. */
  private arrived: Fields[] = []

  constructor(statements: readonly Statement<unknown>[], callback: StatementBatch['callback']) {
    super('')
    this.statements = statements
    this.callback = callback
  }

  override submit = (connection: Connection): void => {
    if (!connection.stream.writable) return // the stream's end fails all waiting queries
    const names = prepared.get(connection) ?? new Set()
    prepared.set(connection, names)
    const messages = new WireMessages()
    for (const [place, { name, text, rows }] of this.statements.entries()) {
      if (!names.has(name)) {
        messages.parse(name, text)
        names.add(name)
        this.preparing.set(place, name)
      }
      messages.bind(name, rows)
      messages.execute()
    }
    messages.sync()
    messages.send(connection.stream)
    this.statements = []
  }

  handleDataRow({ fields }: { fields: Fields }): void {
    this.arrived.push(fields)
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.results.push({ rows: this.arrived, tag: text })
    this.arrived = []
  }

  handleError(error: Error, connection: Connection): void {
    // The server has skipped the statements behind the failed one.
    const failed = this.results.length
    for (const [place, name] of this.preparing) if (place > failed) prepared.get(connection)?.delete(name)
    this.callback(error, [])
  }

  handleReadyForQuery(): void {
    const { results } = this
    this.results = []
    this.callback(null, results)
  }
}
