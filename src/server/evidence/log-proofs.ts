// Proofs that artifacts are in the evidence log: their positions, and their `.tlog-proof` texts under one checkpoint.
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import type { Sql } from '../../store/postgres/sql.ts'
import { readCheckpoint } from '../../formats/log/checkpoint.ts'
import { DamagedLog } from '../../formats/log/damaged.ts'
import type { LogPolicy } from '../../formats/log/policy.ts'
import { formatProof } from '../../formats/log/proof.ts'
import { openLogTiles, type LogTiles } from '../../formats/log/tile-memo.ts'
import { inclusionProofs } from '../../formats/log/tiles.ts'
import { leafHash, rootOfInclusion } from '../../formats/merkle/tree.ts'
import { proofKinds } from '../../formats/log/ids.ts'
import { isUuid } from '../../formats/schemas/primitives.ts'
import { sha256 } from '../../store/sha256.ts'
import { servedCheckpoint } from '../../store/tables/log-checkpoints.ts'
import type { LogPosition } from '../../store/tables/log-queue.ts'
import { isLogged, openBundles, placeEntries, type PlacedEntry } from '../../store/tables/log-places.ts'
import { findLogPosition, type EntryWithPath } from '../../store/tables/log-tree.ts'
import { tileReader } from '../../store/tables/log-tiles.ts'

type ProofKind = keyof typeof proofKinds

export function isProofKind(kind: string): kind is ProofKind {
  return Object.hasOwn(proofKinds, kind)
}

export interface ArtifactName {
  readonly kind: ProofKind
  /** The id by which other routes read the artifact: the businessTransactionId for artifacts of an execution. */
  readonly id: string
}

/** The proof that an entry is in a log. */
export interface EntryProof extends EntryWithPath {
  readonly log: number
  /** The newest signed note of the log. */
  readonly checkpoint: string
  /** Number of entries in the tree under the checkpoint. */
  readonly size: number
  readonly root: Uint8Array
}

export type Proven =
  | { readonly state: 'proven'; readonly proof: EntryProof }
  /** Stored, but no checkpoint covers it yet. */
  | { readonly state: 'queued' }
  /** Stored while the log was off. */
  | { readonly state: 'not logged' }

export interface LogProofs {
  /**
   * Proves artifacts, all of one log under one checkpoint.
   *
   * @param given.owner the caller who must own the artifacts; null: any caller (`readableOwner`)
   * @param given.waitMs how long to wait for a checkpoint over all of them
   * @param given.sql the connections by which the client reads
   * @returns the results in the order of the artifacts; undefined for an artifact that is missing or not the owner's
   * @throws DamagedLog where the stored tree does not lead to the root of the checkpoint
   */
  readonly prove: (
    artifacts: readonly ArtifactName[],
    given: { readonly owner: string | null; readonly waitMs: number; readonly sql: Sql },
  ) => Promise<(Proven | undefined)[]>
}

/** Paths that are computed together: this many take a thread about 20 ms. */
const PROVEN_AT_ONCE = 32

/** 10 MB at most: the upper levels of a log of 16 million entries, its edge, and the leaves that are asked for most. */
const TILES_MAX = 256

/** How often a waiting request looks for a new checkpoint. */
const LOOK_EVERY_MS = 50

/** Requests that wait at the same time; a further one is answered without waiting. */
const WAITING_MAX = 256

/**
 * @param service.stopping true from the first stop signal on: then no request waits
 * @param service.required as for `servedCheckpoint`
 */
export function openLogProofs(
  pool: Pool,
  {
    stopping,
    required,
  }: {
    readonly stopping: () => boolean
    readonly required: LogPolicy | undefined
  },
): LogProofs {
  let waiting = 0
  let looking: Promise<string> | undefined
  const tiles = openLogTiles(TILES_MAX)

  /** Reads the newest checkpoint a moment later, once for all waiting requests. */
  function nextLook(): Promise<string> {
    looking ??= delay(LOOK_EVERY_MS)
      .then(() => servedCheckpoint(pool, { required }))
      .then((row) => `${row?.log} ${row?.size}`)
      .finally(() => (looking = undefined))
    return looking
  }

  async function placesOf(sql: Sql, positions: readonly (LogPosition | undefined)[], waitMs: number) {
    const isProvable = (places: readonly (PlacedEntry | undefined)[]) =>
      positions.every((position, i) => !isLogged(position) || isUnderCheckpoint(places[i]))
    let places = await placeEntries(sql, positions, required)
    if (waitMs === 0 || waiting >= WAITING_MAX) return places
    const untilMs = performance.now() + waitMs
    waiting++
    try {
      for (let seen = ''; !isProvable(places) && performance.now() < untilMs && !stopping();) {
        const look = await nextLook()
        if (look !== seen) places = await placeEntries(sql, positions, required)
        seen = look
      }
    } finally {
      waiting--
    }
    return places
  }

  return {
    async prove(artifacts, { owner, waitMs, sql }) {
      const positions = await Promise.all(
        artifacts.map(async ({ kind, id }) =>
          isId(kind, id) ? findLogPosition(sql, { kind: proofKinds[kind], id, owner }) : undefined,
        ),
      )
      const places = await placesOf(sql, positions, waitMs)
      const proofs = await proveAll(sql, places.filter(isUnderCheckpoint), tiles)
      return positions.map((position, i) => {
        if (position === undefined) return undefined
        if (!isLogged(position)) return { state: 'not logged' }
        const place = places[i]
        return isUnderCheckpoint(place)
          ? { state: 'proven', proof: proofs.get(`${place.log} ${place.index}`)! }
          : { state: 'queued' }
      })
    },
  }
}

/** The text of the `.tlog-proof` file (C2SP tlog-proof), whose `extra` is the entry. */
export function proofText({ index, path, entry, checkpoint }: EntryProof): string {
  return formatProof({ index, path, checkpoint, extra: entry })
}

/** An entry that a checkpoint covers. */
type CoveredEntry = PlacedEntry & { readonly checkpoint: NonNullable<PlacedEntry['checkpoint']> }

function isUnderCheckpoint(place: PlacedEntry | undefined): place is CoveredEntry {
  return place?.checkpoint !== undefined && place.index < place.checkpoint.size
}

/** @returns the proofs by log and index */
async function proveAll(
  sql: Sql,
  places: readonly CoveredEntry[],
  tiles: LogTiles,
): Promise<Map<string, EntryProof>> {
  const proofs = new Map<string, EntryProof>()
  for (const [log, ofLog] of Map.groupBy(places, (place) => place.log)) {
    const { note } = ofLog[0]!.checkpoint
    const { size, root } = readCheckpoint(note)
    for (let at = 0; at < ofLog.length; at += PROVEN_AT_ONCE) {
      const some = ofLog.slice(at, at + PROVEN_AT_ONCE)
      const bundles = openBundles(some)
      const indexes = some.map(({ index }) => index)
      const readTiles = bundles.tiles(tileReader(sql, log))
      const paths = await inclusionProofs({ indexes, size }, readTiles, sha256, tiles.of(log))
      for (const [i, index] of indexes.entries()) {
        const entry = bundles.entryAt(index)
        if (entry === undefined) throw new DamagedLog(`Entry ${index} of log ${log} is missing.`)
        const read = { index, entry, path: paths[i]! }
        if (!leadsTo(root, read, size)) {
          // The tiles are read again next time, when the damage may have been repaired.
          tiles.forget()
          throw new DamagedLog(
            `Entry ${index} of log ${log} does not lead to the root of the checkpoint of ${size}.`,
          )
        }
        proofs.set(`${log} ${index}`, { ...read, log, checkpoint: note, size, root })
      }
    }
  }
  return proofs
}

/** A damaged page of the database must become an error here, not a proof that fails wherever it is checked. */
function leadsTo(root: Uint8Array, { entry, index, path }: EntryWithPath, size: number): boolean {
  const found = rootOfInclusion({ leafHash: leafHash(entry, sha256), index, size, path }, sha256)
  return Buffer.compare(found, root) === 0
}

/** An approval's id is any text of one line. */
function isId(kind: ProofKind, id: string): boolean {
  return kind === 'approval' ? !id.includes('\0') : isUuid(id)
}
