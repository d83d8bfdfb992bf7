// Fills the catalogue, a piece at a time: first with new events of the feed, then, while it is being built, with stored executions, then with
// entries that an earlier release wrote; then old entries are deleted. A background thread of each instance and `countersign catalogue rebuild`
// call it, and only one of them works at a time.
import { codesMask, type EventType } from '../../formats/schemas/event-types.ts'
import {
  listUnfilled,
  markFilled,
  putEntries,
  pruneEntries,
  type CatalogueRow,
} from '../../store/tables/catalogue-entries.ts'
import { anyDecidedBefore, listBelow } from '../../store/tables/catalogue-evidence.ts'
import {
  buildBelow,
  endBuilding,
  lockState,
  moveTo,
  notePruned,
  readStanding,
  type BuildingBelow,
  type CatalogueStanding,
  type CatalogueState,
} from '../../store/tables/catalogue-state.ts'
import { readArtifactDetails } from '../../store/tables/event-artifacts.ts'
import { readFeedRows } from '../../store/tables/log-events.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { endOf, VISIBLE_MS_MAX, wantedOf, type Wanted } from '../events/read.ts'
import { catalogueRows, type Documents } from './row.ts'

/** The events that add an execution to the catalogue or change its row. */
export const FOLLOWED = [
  'execution.completed',
  'execution.failed',
  'execution.refused',
  'execution.in_doubt',
  'execution.closed',
] as const satisfies readonly EventType[]
const codes = codesMask(FOLLOWED)

/** Events of these types name their own artifact, not the execution. */
const NAMED_BY_ARTIFACT: ReadonlySet<EventType> = new Set(['execution.in_doubt', 'execution.closed'])

/** Maximum number of executions in a piece: some tens of milliseconds. */
const PIECE_MAX = 500
const PRUNED_MAX = 1_000

const DAY_MS = 24 * 60 * 60 * 1000

export interface FillWith {
  readonly pool: Parameters<typeof inTransaction>[0] & Sql
  readonly documents: Documents
  readonly nowMs: () => number
  /** CATALOGUE_DAYS. */
  readonly days: number
}

/** @returns how far the catalogue reaches, and the pending work */
export function catalogueStanding(sql: Sql, before: string | null = null) {
  return readStanding(sql, { codes, before })
}

export interface Filled {
  /** Number of entries that were written. */
  readonly rows: number
  /** Whether more work is pending now. */
  readonly more: boolean
  /** Whether executions are in progress. */
  readonly busy: boolean
}

/** While executions are in progress, the pause after a piece is this many times its duration: at most 5 % of one core, database included. */
const RESTS = 19

/** Pause after a piece, in milliseconds. @param tookMs duration of the piece */
export function restMs({ busy }: Pick<Filled, 'busy'>, tookMs: number): number {
  return busy ? RESTS * tookMs : 0
}

/** Does one piece of work. */
export async function fillCatalogue(tools: FillWith): Promise<Filled> {
  const before = new Date(tools.nowMs() - tools.days * DAY_MS).toISOString()
  const standing = await catalogueStanding(tools.pool, before)
  if (
    standing === undefined ||
    !(standing.behind || standing.building || standing.unfilled || standing.overdue)
  )
    return { rows: 0, more: false, busy: standing?.busy === true }
  const rows = await inTransaction(tools.pool, async (sql) => {
    const state = await lockState(sql)
    return state === undefined ? undefined : nextPiece(sql, { state, standing, before, ...tools })
  })
  return { rows: rows ?? 0, more: rows !== undefined, busy: standing.busy }
}

interface Piece extends Pick<FillWith, 'documents' | 'nowMs'> {
  readonly state: CatalogueState
  readonly standing: CatalogueStanding
  readonly before: string
}

/** @returns how many entries were written; undefined when nothing can be done now */
async function nextPiece(sql: Transaction, piece: Piece): Promise<number | undefined> {
  const { state, standing, before } = piece
  if (standing.behind) {
    const followed = await follow(sql, piece)
    if (followed !== undefined || state.building === null) return followed
  }
  if (state.building !== null) return build(sql, state.building, piece)
  if (standing.unfilled) return fillIn(sql, piece)
  await notePruned(sql, before)
  await pruneEntries(sql, { before, limit: PRUNED_MAX })
  return 0
}

/** Takes the next events of the feed. */
async function follow(
  sql: Transaction,
  { state, before, documents, nowMs }: Piece,
): Promise<number | undefined> {
  const found = await readFeedRows(sql, state, { owner: undefined, codes })
  if (found === undefined) return undefined
  const all = wantedOf(found, { owner: undefined, codes })
  const events = all.slice(0, PIECE_MAX)
  const ids = await executionsOf(sql, events)
  const rows = await catalogueRows(sql, [...new Set(ids.filter((id) => id !== undefined))], documents)
  // A Citus node that crashed during a commit shows its rows later, so the rows of very recent events are waited for.
  const written = new Set(rows.map((row) => row.businessTransactionId))
  const waited = events.findIndex(
    ({ type, appendedAt }, i) =>
      !NAMED_BY_ARTIFACT.has(type) &&
      !written.has(ids[i]!) &&
      nowMs() - appendedAt.getTime() < VISIBLE_MS_MAX,
  )
  const end = waited === -1 ? events.length : waited
  if (waited === 0) return undefined
  const isCut = end < all.length
  const place = isCut ? { log: found.log, index: events[end - 1]!.index + 1 } : endOf(found)
  const taken = new Set(ids.slice(0, end))
  const kept = rows.filter((row) => taken.has(row.businessTransactionId) && row.decidedAt >= before)
  sql.runLast(putEntries(kept))
  await moveTo(sql, place, newestOf(kept))
  return kept.length
}

/** @returns in the order of the events; undefined when the artifact is gone */
async function executionsOf(sql: Sql, events: readonly Wanted[]): Promise<(string | undefined)[]> {
  const indirect = events.filter(({ type }) => NAMED_BY_ARTIFACT.has(type))
  const details = await readArtifactDetails(sql, indirect)
  const byArtifact = new Map(indirect.map(({ id }, i) => [id, details[i]?.['businessTransactionId']]))
  return events.map(({ type, id }) => (NAMED_BY_ARTIFACT.has(type) ? byArtifact.get(id) : id))
}

/** Makes the entries of an earlier release again. Entries without readable evidence are marked, so that they do not come back; fsck names them. */
async function fillIn(sql: Transaction, { documents }: Piece): Promise<number> {
  const ids = await listUnfilled(sql, PIECE_MAX)
  const rows = await catalogueRows(sql, ids, documents)
  const made = new Set(rows.map((row) => row.businessTransactionId))
  await markFilled(
    sql,
    ids.filter((id) => !made.has(id)),
  )
  sql.runLast(putEntries(rows))
  return rows.length
}

/** Evidence is logged in the order in which it was stored, so all evidence before this time is there. */
function newestOf(rows: readonly CatalogueRow[]): string | null {
  let newest: string | null = null
  for (const { completedAt, decidedAt } of rows) {
    const time = completedAt ?? decidedAt
    if (newest === null || time > newest) newest = time
  }
  return newest
}

/** Takes the next stored executions, newest first. Executions in progress come by the feed when they end. */
async function build(sql: Transaction, below: BuildingBelow, { before, documents }: Piece): Promise<number> {
  const found = await listBelow(sql, below, { since: before, limit: PIECE_MAX })
  const last = found.at(-1)
  if (last === undefined) {
    await endBuilding(sql, (await anyDecidedBefore(sql, before)) ? before : null)
    return 0
  }
  const rows = await catalogueRows(
    sql,
    found.map(({ id }) => id),
    documents,
  )
  sql.runLast(putEntries(rows))
  await buildBelow(sql, last)
  return rows.length
}
