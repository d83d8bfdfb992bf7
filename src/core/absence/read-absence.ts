// Answers GET /log/absence from the stored runs of ids.
import type { AbsenceStatement, StatedRun } from '../../formats/log/absence.ts'
import { readCheckpoint } from '../../formats/log/checkpoint.ts'
import { DamagedLog } from '../../formats/log/damaged.ts'
import { formatEntry } from '../../formats/log/entry.ts'
import { rootOf } from '../../formats/log/frontier.ts'
import {
  idKey,
  idKinds,
  indexOfLeaf,
  KEY_BYTES,
  LEAF_BYTES,
  runHash,
  type IdKind,
} from '../../formats/log/ids.ts'
import { inclusionProofs, subtreeRoots, TILE_WIDTH } from '../../formats/log/tiles.ts'
import { consistencyRanges } from '../../formats/merkle/consistency.ts'
import { buildTree, leafHash, rootOfInclusion } from '../../formats/merkle/tree.ts'
import { sha256 } from '../../store/sha256.ts'
import type { CheckpointRow } from '../../store/tables/log-checkpoints.ts'
import {
  findChunk,
  firstNotBelow,
  hashesOfLeaves,
  readChunks,
  runTileReader,
  splitLeaves,
  type LeafChunk,
} from './run-tiles.ts'
import { readRuns, type RunRow } from './runs.ts'
import { tileReader } from '../../store/tables/log-tiles.ts'
import type { Sql } from '../../store/postgres/sql.ts'

/**
 * Finds the entries of an id in the runs that a checkpoint covers. Call it in a snapshot: runs are merged meanwhile.
 * @param id UUIDs in lower case
 * @param checkpoint the checkpoint that is served now
 * @throws DamagedLog when the stored parts of a run do not lead to its root
 */
export async function readAbsence(
  sql: Sql,
  {
    kind,
    id,
    checkpoint,
  }: {
    readonly kind: IdKind
    readonly id: string
    readonly checkpoint: Pick<CheckpointRow, 'log' | 'size' | 'note'>
  },
): Promise<AbsenceStatement> {
  const { log, size, note } = checkpoint
  const runs = tiling(await readRuns(sql, log), size)
  const key = idKey({ kind: idKinds[kind], id }, sha256)
  const [paths, leaves] = await Promise.all([
    inclusionProofs(
      { indexes: runs.map(({ entryIndex }) => entryIndex), size },
      tileReader(sql, log),
      sha256,
    ),
    Promise.all(runs.map((run) => leavesAround(sql, run, key))),
  ])
  return {
    log: readCheckpoint(note).origin,
    checkpoint: note,
    kind,
    id,
    runs: runs.map((run, i) => ({ ...statedRun(run), path: paths[i]!.map(toBase64), leaves: leaves[i]! })),
    coveredTo: runs.at(-1)?.end ?? 0,
  }
}

type StoredRun = RunRow & { readonly entryIndex: number }

/**
 * The runs that a checkpoint covers; of runs over the same entries, the greatest.
 * @param runs as `readRuns` sorts them
 */
function tiling(runs: readonly RunRow[], size: number): StoredRun[] {
  const chosen: StoredRun[] = []
  for (const run of runs) {
    const { entryIndex, first } = run
    if (entryIndex !== null && entryIndex < size && first === (chosen.at(-1)?.end ?? 0))
      chosen.push({ ...run, entryIndex })
  }
  return chosen
}

function statedRun(run: StoredRun): Omit<StatedRun, 'path' | 'leaves'> {
  const { level, first, end, size, entryIndex: index } = run
  const hash = runHash({ ...run, root: rootOf(run.chunks, sha256) }, sha256)
  return { level, first, end, size, entry: formatEntry({ kind: 'ids', hash, streams: [] }), index }
}

/** The leaves with a key, and the leaf before and the leaf after them. */
async function leavesAround(sql: Sql, run: RunRow, key: Uint8Array): Promise<StatedRun['leaves']> {
  const { size } = run
  const root = rootOf(run.chunks, sha256)
  const found: StatedRun['leaves'][number][] = []
  for (let n = await findChunk(sql, run, key); n * TILE_WIDTH < size; n++) {
    const [chunk] = await readChunks(sql, run, { n, count: 1 })
    if (chunk?.leaves.length !== Math.min(TILE_WIDTH, size - n * TILE_WIDTH) * LEAF_BYTES)
      throw new DamagedLog(`Chunk ${n} of the ids of the entries from ${run.first} on is missing or cut off.`)
    const leaves = splitLeaves(chunk.leaves)
    const start = Math.max(0, firstNotBelow(chunk.leaves, key) / LEAF_BYTES - (found.length === 0 ? 1 : 0))
    const isAbove = (leaf: Uint8Array) => Buffer.compare(leaf.subarray(0, KEY_BYTES), key) > 0
    const above = leaves.findIndex((leaf, i) => i >= start && isAbove(leaf))
    const end = above === -1 ? leaves.length : above + 1
    const pathOf = await chunkPaths(sql, run, chunk)
    for (let i = start; i < end; i++) {
      const leaf = leaves[i]!
      const [position, path] = [n * TILE_WIDTH + i, pathOf(i)]
      assertLeads({ leafHash: leafHash(leaf, sha256), index: position, size, path }, { root, run })
      found.push({
        hash: toBase64(leaf.subarray(0, KEY_BYTES)),
        index: indexOfLeaf(leaf),
        position,
        path: path.map(toBase64),
      })
    }
    if (above !== -1) break
  }
  return found
}

/** The paths of the leaves of a chunk. The part within it is computed once; the rest is the path of the whole chunk. */
async function chunkPaths(
  sql: Sql,
  run: RunRow,
  { n, leaves: chunk }: Pick<LeafChunk, 'n' | 'leaves'>,
): Promise<(i: number) => Uint8Array[]> {
  const { size } = run
  const start = n * TILE_WIDTH
  const ranges = consistencyRanges({ start, end: start + chunk.length / LEAF_BYTES, size })
  const above = await subtreeRoots(ranges, size, runTileReader(sql, run), sha256)
  const tree = buildTree(hashesOfLeaves(chunk), sha256)
  return (i) => [...tree.path(i), ...above]
}

/** A damaged page of the database must become an error here, not a proof that fails wherever it is checked. */
function assertLeads(
  leaf: Parameters<typeof rootOfInclusion>[0],
  { root, run }: { root: Uint8Array; run: RunRow },
): void {
  if (Buffer.compare(rootOfInclusion(leaf, sha256), root) === 0) return
  throw new DamagedLog(
    `Leaf ${leaf.index} of the ids of the entries from ${run.first} on does not lead to the root of its run.`,
  )
}

const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64')
