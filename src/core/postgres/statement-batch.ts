// Several statements in one message to PostgreSQL and with one Sync, so that they need one round trip and succeed or fail as one: the
// server skips what follows a failed statement (PostgreSQL's documentation, "Frontend/Backend Protocol", "Pipelining").
import { Query, type ClientBase, type Connection } from 'pg'
import { WireMessages, type Parameter } from './wire-messages.ts'

/** One statement with its parameters. */
export interface Statement {
  /** Prepared under it, once per connection. */
  readonly name: string
  readonly text: string
  /** The parameters in order, in rows of any length. */
  readonly rows: readonly (readonly Parameter[])[]
}

/** A row as PostgreSQL wrote it. */
export type Texts = readonly (string | null)[]

export interface StatementResult {
  readonly rows: readonly Texts[]
  /** The server says what was done: 'INSERT 0 5', 'COMMIT'. */
  readonly tag: string
}

/**
 * Sends statements as one pipeline.
 * @returns a result for each statement
 * @throws as any statement does. Then none of them took effect, or all did but the answer was lost. Close the connection: which of the
 *   statements it has prepared is not known
 */
export function sendStatements(
  client: Pick<ClientBase, 'query'>,
  statements: readonly Statement[],
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

/** Its names are ours alone: pg keeps its own list of those that it has prepared. */
const prepared = new WeakMap<Connection, Set<string>>()

/**
 * A `Query`, because pg refuses any other class on a connection that pipelines; pg calls what it overrides. It drops its statements and
 * results as soon as it can: pg's time-out keeps the object until V8's next full collection (docs/design-notes.md "Performance").
 */
class StatementBatch extends Query {
  /** pg puts its own around it, for the time-out. */
  callback: (error: Error | null, results: StatementResult[]) => void
  private statements: readonly Statement[]
  private results: StatementResult[] = []
  /** The rows of the statement that is being answered. `rows` is an option of pg's. */
  private arrived: Texts[] = []

  constructor(statements: readonly Statement[], callback: StatementBatch['callback']) {
    super('')
    this.statements = statements
    this.callback = callback
  }

  override submit = (connection: Connection): void => {
    if (!connection.stream.writable) return // its end fails all that wait
    const names = prepared.get(connection) ?? new Set()
    prepared.set(connection, names)
    const messages = new WireMessages()
    for (const { name, text, rows } of this.statements) {
      if (!names.has(name)) messages.parse(name, text)
      names.add(name)
      messages.bind(name, rows)
      messages.execute()
    }
    messages.sync()
    messages.send(connection.stream)
    this.statements = []
  }

  handleDataRow({ fields }: { fields: Texts }): void {
    this.arrived.push(fields)
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.results.push({ rows: this.arrived, tag: text })
    this.arrived = []
  }

  handleError(error: Error): void {
    this.callback(error, [])
  }

  handleReadyForQuery(): void {
    const { results } = this
    this.results = []
    this.callback(null, results)
  }
}
