// Reads of the log for routes and commands: the position of an artifact, and proofs from the stored tiles. Checkpoints are read by
// log-checkpoints.ts, bundles and entries by log-bundles.ts, tiles by log-tiles.ts. Entries after the newest checkpoint are not signed: give
// the size of a checkpoint.
import { DamagedLog } from '../../formats/log/damaged.ts'
import { consistencyProof, inclusionProofs } from '../../formats/log/tiles.ts'
import { sha256 } from '../sha256.ts'
import { readEntries } from './log-bundles.ts'
import type { LoggedKind } from '../../formats/log/ids.ts'
import { artifactTables, type ArtifactTable } from './artifacts.ts'
import type { LogPosition } from './log-queue.ts'
import { tileReader } from './log-tiles.ts'
import type { Sql } from '../postgres/sql.ts'

/**
 * Reads the place in the log that the row of an artifact keeps.
 * @param id by which the artifact is read elsewhere: the transaction's for the artifacts of an execution, whose newest receipt is meant
 * @param owner the caller that must own it; null: any caller. Only null finds artifacts that belong to no caller
 * @returns undefined where there is none
 */
export async function findLogPosition(
  sql: Sql,
  { kind, id, owner }: { readonly kind: LoggedKind; readonly id: string; readonly owner: string | null },
): Promise<LogPosition | undefined> {
  const { rows } = await sql.query<{ batch: string | null; ordinal: number | null }>({
    name: `log_tree_find_${kind}`,
    text: FIND.get(kind)!,
    values: [id, owner],
  })
  return rows.map(({ batch, ordinal }) => ({ logBatch: batch, logOrdinal: ordinal }))[0]
}

function finding({ table, key: [key, cast], owner, numbered, where = 'true' }: ArtifactTable): string {
  const { column, of, by } = owner ?? {}
  const joined = of === undefined ? '' : ` JOIN ${of} AS t USING (${by})`
  // The entry of some kinds belongs to no caller.
  const caller = column === undefined ? 'NULL' : `${of === undefined ? 'c' : 't'}.${column}`
  return `
    SELECT c.log_batch AS batch, c.log_ordinal AS ordinal FROM ${table} AS c${joined}
    WHERE c.${key} = $1::${cast} AND ($2::text IS NULL OR ${caller} = $2::text) AND ${where}
    ${numbered === true ? 'ORDER BY c.ordinal DESC LIMIT 1' : ''}`
}

const FIND = new Map(
  Array.from(
    Map.groupBy(artifactTables, ({ kind }) => kind),
    ([kind, tables]) => [kind, tables.map(finding).join('UNION ALL')],
  ),
)

/** An entry and its path, from the leaf up. */
export interface EntryWithPath {
  readonly index: number
  readonly entry: Uint8Array
  readonly path: readonly Uint8Array[]
}

/**
 * Entries with their paths in the tree of `size` entries, by two statements however many there are.
 * @throws DamagedLog where an entry below `size`, or a tile above it, is missing
 */
export async function readEntriesWithPaths(
  sql: Sql,
  {
    log,
    indexes,
    size,
  }: {
    readonly log: number
    readonly indexes: readonly number[]
    readonly size: number
  },
): Promise<EntryWithPath[]> {
  const [entries, paths] = await Promise.all([
    readEntries(sql, { log, indexes }),
    inclusionProofs({ indexes, size }, tileReader(sql, log), sha256),
  ])
  return indexes.map((index, i) => {
    const entry = entries[i]
    if (entry === undefined) throw new DamagedLog(`Entry ${index} of log ${log} is missing.`)
    return { index, entry, path: paths[i]! }
  })
}

/** The proof that the tree of `to` entries begins with that of `from`, 1 or more. */
export function readConsistency(
  sql: Sql,
  { log, from, to }: { readonly log: number; readonly from: number; readonly to: number },
): Promise<Uint8Array[]> {
  return consistencyProof({ from, to }, tileReader(sql, log), sha256)
}
