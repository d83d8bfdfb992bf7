// Proofs that artifacts are in the evidence log: where they are, and their `.tlog-proof` texts under one checkpoint.
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { parseCheckpoint } from '../core/log/checkpoint.ts'
import { DamagedLog } from '../core/log/damaged.ts'
import { parseNote } from '../core/log/note.ts'
import { formatProof } from '../core/log/proof.ts'
import { openLogTiles, type LogTiles } from '../core/log/tile-memo.ts'
import { leafHash, rootOfInclusion } from '../core/merkle/tree.ts'
import { idKinds } from '../core/log/ids.ts'
import { isUuid } from '../core/schemas/primitives.ts'
import { sha256 } from '../core/signing/sha256.ts'
import { placeBatches, type PlacedBatch } from '../core/tables/log-batches.ts'
import type { CheckpointRow } from '../core/tables/log-checkpoints.ts'
import type { LoggedKind, LogPosition } from '../core/tables/log-queue.ts'
import { findLogPosition, readEntriesWithPaths, type EntryWithPath } from '../core/tables/log-tree.ts'

/** The kinds of GET /log/proofs/{kind}/{id}, and what stands in the log for each: for a record its receipt, which states its hash. */
export const proofKinds = { ...idKinds, record: 'receipt' } as const satisfies Readonly<
  Record<string, LoggedKind>
>
type ProofKind = keyof typeof proofKinds

export function isProofKind(kind: string): kind is ProofKind {
  return Object.hasOwn(proofKinds, kind)
}

export interface Artifact {
  readonly kind: ProofKind
  /** As the artifact is read by elsewhere: the businessTransactionId for what an execution makes. */
  readonly id: string
}

/** What proves that an entry is in a log. */
export interface ProvenEntry extends EntryWithPath {
  readonly log: number
  /** The signed note, the newest of its log. */
  readonly checkpoint: string
  /** Of the tree under the checkpoint. */
  readonly size: number
  readonly root: Uint8Array
}

export type Proven =
  | { readonly state: 'proven'; readonly proof: ProvenEntry }
  /** Stored, and not yet under a checkpoint. */
  | { readonly state: 'queued' }
  /** Stored while the log was off. */
  | { readonly state: 'not logged' }

export interface LogProofs {
  /**
   * Proves artifacts, all of one log under one checkpoint.
   *
   * @param given.owner the caller whose they must be; null: anyone's (`readableOwner`)
   * @param given.waitMs how long to wait for a checkpoint over all of them
   * @returns in their order; undefined for one that is not there, or is not the owner's
   * @throws DamagedLog where what is stored does not lead to the root of the checkpoint
   */
  readonly prove: (
    artifacts: readonly Artifact[],
    given: { readonly owner: string | null; readonly waitMs: number },
  ) => Promise<(Proven | undefined)[]>
}

/** Several paths are computed at once; so many take a thread about 20 ms. */
const PROVEN_AT_ONCE = 32

/** 10 MB at most: the upper levels of a log of 16 million entries, its edge, and the leaves that are asked for most. */
const TILES_MAX = 256

/** How often a waiting request looks for a new checkpoint. */
const LOOK_EVERY_MS = 50

/** Requests that wait at once; one more is answered as if it did not ask to. */
const WAITING_MAX = 256

/**
 * @param service.stopping true from the first stop signal on: nobody waits then
 * @param service.servedCheckpoint of a log, or of the newest one
 */
export function openLogProofs(
  pool: Pool,
  {
    stopping,
    servedCheckpoint,
  }: {
    readonly stopping: () => boolean
    readonly servedCheckpoint: (log?: number) => Promise<CheckpointRow | undefined>
  },
): LogProofs {
  let waiting = 0
  let looking: Promise<string> | undefined
  const tiles = openLogTiles(TILES_MAX)

  /** The newest checkpoint a moment later, read once for all who wait. */
  function nextLook(): Promise<string> {
    looking ??= delay(LOOK_EVERY_MS)
      .then(() => servedCheckpoint())
      .then((row) => `${row?.log} ${row?.size}`)
      .finally(() => (looking = undefined))
    return looking
  }

  async function placesOf(
    positions: readonly (LogPosition | undefined)[],
    { waitMs, newest }: { readonly waitMs: number; readonly newest: Promise<CheckpointRow | undefined> },
  ) {
    const batches = [...new Set(positions.flatMap((position) => position?.logBatch ?? []))]
    const isProvable = (places: ReadonlyMap<string, PlacedBatch>) =>
      positions.every((position) => isUnlogged(position) || underCheckpoint(position, places) !== undefined)
    const first = async (log: number) => {
      const row = await newest
      return row?.log === log ? row : servedCheckpoint(log)
    }
    let places = await placeBatches(pool, batches, first)
    if (waitMs === 0 || waiting >= WAITING_MAX) return places
    const untilMs = performance.now() + waitMs
    waiting++
    try {
      for (let seen = ''; !isProvable(places) && performance.now() < untilMs && !stopping();) {
        const look = await nextLook()
        if (look !== seen) places = await placeBatches(pool, batches, servedCheckpoint)
        seen = look
      }
    } finally {
      waiting--
    }
    return places
  }

  return {
    async prove(artifacts, { owner, waitMs }) {
      // Read beside the positions, because most are of the newest log: a statement less to wait for.
      const newest = servedCheckpoint()
      newest.catch(() => undefined)
      const positions = await Promise.all(
        artifacts.map(async ({ kind, id }) =>
          isId(kind, id) ? findLogPosition(pool, { kind: proofKinds[kind], id, owner }) : undefined,
        ),
      )
      const places = await placesOf(positions, { waitMs, newest })
      const proofs = await proveAll(pool, { positions, places, tiles })
      return positions.map((position) => {
        if (position === undefined) return undefined
        if (isUnlogged(position)) return { state: 'not logged' }
        const found = underCheckpoint(position, places)
        return found === undefined
          ? { state: 'queued' }
          : { state: 'proven', proof: proofs.get(`${found.log} ${found.index}`)! }
      })
    },
  }
}

/** The text of the `.tlog-proof` file (C2SP tlog-proof), whose `extra` is the entry. */
export function proofText({ index, path, entry, checkpoint }: ProvenEntry): string {
  return formatProof({ index, path, checkpoint, extra: entry })
}

interface Place {
  readonly log: number
  readonly index: number
  readonly checkpoint: { readonly size: number; readonly note: string }
}

function isUnlogged(position: LogPosition | undefined): boolean {
  return position === undefined || position.logBatch === null || position.logOrdinal === null
}

/** Undefined for what is not under a checkpoint, or not logged at all. */
function underCheckpoint(
  position: LogPosition | undefined,
  places: ReadonlyMap<string, PlacedBatch>,
): Place | undefined {
  const place = places.get(position?.logBatch ?? '')
  if (place?.checkpoint === undefined) return undefined
  const { log, start, checkpoint } = place
  const index = start + (position?.logOrdinal ?? 0)
  return index < checkpoint.size ? { log, index, checkpoint } : undefined
}

/** By log and index. */
async function proveAll(
  pool: Pool,
  {
    positions,
    places,
    tiles,
  }: {
    readonly positions: readonly (LogPosition | undefined)[]
    readonly places: ReadonlyMap<string, PlacedBatch>
    readonly tiles: LogTiles
  },
): Promise<Map<string, ProvenEntry>> {
  const found = positions.flatMap((position) => underCheckpoint(position, places) ?? [])
  const proofs = new Map<string, ProvenEntry>()
  for (const [log, ofLog] of Map.groupBy(found, (place) => place.log)) {
    const { note } = ofLog[0]!.checkpoint
    const { size, root } = parseCheckpoint(parseNote(note).text)
    const indexes = [...new Set(ofLog.map(({ index }) => index))]
    for (let at = 0; at < indexes.length; at += PROVEN_AT_ONCE) {
      const some = indexes.slice(at, at + PROVEN_AT_ONCE)
      const memo = tiles.of(log)
      for (const read of await readEntriesWithPaths(pool, { log, indexes: some, size, memo })) {
        if (!leadsTo(root, read, size)) {
          // What was damaged may have been repaired by the next time.
          tiles.forget()
          throw new DamagedLog(
            `Entry ${read.index} of log ${log} does not lead to the root of the checkpoint of ${size}.`,
          )
        }
        proofs.set(`${log} ${read.index}`, { ...read, log, checkpoint: note, size, root })
      }
    }
  }
  return proofs
}

/** A page of the database that is damaged must not become a proof that convinces nobody. */
function leadsTo(root: Uint8Array, { entry, index, path }: EntryWithPath, size: number): boolean {
  const found = rootOfInclusion({ leafHash: leafHash(entry, sha256), index, size, path }, sha256)
  return Buffer.compare(found, root) === 0
}

/** An approval's id is any text of one line. */
function isId(kind: ProofKind, id: string): boolean {
  return kind === 'approval' ? !id.includes('\0') : isUuid(id)
}
