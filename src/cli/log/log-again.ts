// Queues stored artifacts that are not in the log, oldest first, a few rows at a time: each transaction ends before anybody has to wait for it.
// The next run continues an interrupted one, because queued artifacts are not found again.
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { errorText } from '../../formats/text/error-text.ts'
import type { LoggedKind } from '../../formats/log/ids.ts'
import { forgetLost } from '../../store/tables/log-batches.ts'
import { startLogEntries, unlogged } from '../../store/tables/log-queue.ts'
import { readLogStatus } from '../../store/tables/log-state.ts'
import { inTransaction } from '../../store/postgres/transaction.ts'
import {
  unloggedTables,
  type ArtifactKey,
  type UnloggedTable,
  type Unlogged,
} from '../../store/tables/unlogged.ts'

/** A row of an execution can have half a megabyte. */
const ROWS_AT_ONCE = 100
/** Fewer than the sequencer takes at once, because rows that services write meanwhile wait behind these and are promised within a minute. */
const QUEUED_MAX = 100
/** After this time no service takes anything out of the queue: it is longer than the longest tick of one that does. */
const PATIENCE_MS = 60_000
/** Rows that somebody has locked are left for another pass. */
const PASSES_MAX = 3

export interface LoggedAgain {
  /** Entries that were queued, by the kind of their artifact. */
  readonly entries: ReadonlyMap<LoggedKind, number>
  /** Rows that somebody else uses. */
  readonly busy: number
}

interface Found extends ArtifactKey {
  readonly of: UnloggedTable
}

/**
 * @param options.paced waits for the sequencer, so that the queue stays short
 * @param options.onUnreadable gets a sentence about each row that cannot be logged
 * @throws Error where another such command runs, and where the queue is not taken for a minute
 */
export async function logAgain(
  pool: Pool,
  {
    which,
    paced,
    onUnreadable,
  }: {
    readonly which: Unlogged
    readonly paced: boolean
    readonly onUnreadable: (sentence: string) => void
  },
): Promise<LoggedAgain> {
  const client = await pool.connect()
  const entries = new Map<LoggedKind, number>()
  try {
    await claim(client)
    for (let pass = 1; ; pass++) {
      let busy = 0
      for await (const found of oldestFirst(client, which)) {
        if (paced) await queueIsShort(pool)
        const queued = await queueSome(pool, found, onUnreadable)
        for (const kind of queued.kinds) entries.set(kind, (entries.get(kind) ?? 0) + 1)
        busy += queued.busy
      }
      if (busy === 0) await forgetLost(pool)
      if (busy === 0 || pass === PASSES_MAX) return { entries, busy }
    }
  } finally {
    // Closes the connection, with its cursors and its lock.
    client.release(true)
  }
}

/** Any constant that nothing else locks: the ASCII of "csgnlate". */
const LOCK = '7166460030352946277'

/** One run at a time: two could miss each other's rows. */
async function claim(client: PoolClient): Promise<void> {
  const { rows } = await client.query<{ free: boolean }>('SELECT pg_try_advisory_lock($1::bigint) AS free', [
    LOCK,
  ])
  if (rows[0]?.free !== true)
    throw new Error('Another `countersign log backfill` or `log reopen` runs on this database.')
}

/** Keys of all tables in the order of time. Cursors WITH HOLD keep their rows without keeping a snapshot open. */
async function* oldestFirst(client: PoolClient, which: Unlogged): AsyncGenerator<Found[]> {
  await client.query('SET statement_timeout = 0')
  const heads: Head[] = []
  for (const of of unloggedTables) {
    const name = `unlogged_${heads.length}`
    await client.query(`DECLARE ${name} NO SCROLL CURSOR WITH HOLD FOR ${of.keys(which)}`)
    const next = async () => {
      const { rows } = await client.query<ArtifactKey>(`FETCH ${ROWS_AT_ONCE} FROM ${name}`)
      return rows.map((row): Found => ({ ...row, of }))
    }
    heads.push({ next, found: await next() })
  }
  for (let some = await take(heads); some.length > 0; some = await take(heads)) yield some
  await client.query('CLOSE ALL')
}

interface Head {
  found: Found[]
  readonly next: () => Promise<Found[]>
}

/** Takes the oldest rows of all tables together, in the order of time. */
async function take(heads: readonly Head[]): Promise<Found[]> {
  const some: Found[] = []
  while (some.length < ROWS_AT_ONCE) {
    let oldest: Head | undefined
    for (const head of heads) {
      const [first] = head.found
      if (first !== undefined && (oldest === undefined || first.at < oldest.found[0]!.at)) oldest = head
    }
    if (oldest === undefined) break
    some.push(oldest.found.shift()!)
    if (oldest.found.length === 0) oldest.found = await oldest.next()
  }
  return some
}

interface Queued {
  readonly kinds: readonly LoggedKind[]
  /** How many rows somebody else has locked, or has changed since they were found. */
  readonly busy: number
}

/** Queues the artifacts of rows as one commit. */
async function queueSome(
  pool: Pool,
  found: readonly Found[],
  onUnreadable: (sentence: string) => void,
): Promise<Queued> {
  return inTransaction(pool, async (sql) => {
    const entries = startLogEntries()
    const kinds: LoggedKind[] = []
    const rows = await Promise.all(
      found.map(async (key) => {
        const locked = await sql.run(key.of.lock(key))
        return locked.every(({ length }) => length > 0) ? locked.at(-1)?.[0] : undefined
      }),
    )
    const places = found.flatMap((key, i) => {
      const row = rows[i]
      const artifacts = row === undefined ? [] : artifactsOf(key, row, onUnreadable)
      kinds.push(...artifacts.map(({ kind }) => kind))
      const positions = artifacts.map((artifact) =>
        entries.add(() => ({ ...artifact, kind: `late-${artifact.kind}` })),
      )
      const { logBatch: batch, logOrdinal: ordinal } = positions.at(-1) ?? unlogged
      return batch === null || ordinal === null ? [] : [key.of.place(key, { batch, ordinal })]
    })
    const placed = await sql.run(places)
    if (placed.flat().length !== places.length) throw new Error('a locked row was changed by somebody else')
    sql.runLast(entries.statements())
    return { kinds, busy: rows.filter((row) => row === undefined).length }
  })
}

function artifactsOf(
  { of, key }: Found,
  row: Parameters<UnloggedTable['artifacts']>[0],
  tell: (sentence: string) => void,
) {
  try {
    return of.artifacts(row)
  } catch (error) {
    tell(`${of.table} ${key} is not logged, because it cannot be read: ${errorText(error)}.`)
    return []
  }
}

async function queueIsShort(pool: Pool): Promise<void> {
  const startedMs = performance.now()
  for (;;) {
    const { queuedAbout = 0, frozen = null } = (await readLogStatus(pool)) ?? {}
    if (frozen !== null) throw new Error(`The log is frozen: ${frozen}`)
    if (queuedAbout <= QUEUED_MAX) return
    if (performance.now() - startedMs > PATIENCE_MS)
      throw new Error(
        'The queue of the log did not shrink for a minute: is a service running, without LOG=off? The queue is kept; run this command again.',
      )
    await delay(100)
  }
}
