// POST /log/completeness: the entries of a stream, and the proof of how many it has under the newest checkpoint.
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import type { Pool } from 'pg'
import { toHex } from '../../src/formats/bytes.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { bodyOf } from '../../src/core/json/shape.ts'
import { DamagedLog } from '../../src/formats/log/damaged.ts'
import { formatEntry, streamNames, streamTag, type StreamName } from '../../src/formats/log/entry.ts'
import { Heads, type HeadPlace } from '../../src/formats/log/heads.ts'
import { CompletenessRequest } from '../../src/formats/schemas/log.ts'
import { sha256 } from '../../src/store/sha256.ts'
import type { LogPolicy } from '../../src/formats/log/policy.ts'
import { servedCheckpoint, type CheckpointRow } from '../../src/store/tables/log-checkpoints.ts'
import { readLog, type NamedLog } from '../../src/store/tables/log-state.ts'
import { readStreamIndexes, readHeads, readStream } from '../../src/store/tables/log-streams.ts'
import { readEntriesWithPaths, type EntryWithPath } from '../../src/store/tables/log-tree.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { inSnapshot } from '../../src/store/postgres/transaction.ts'
import type { ScopedCaller, WorkerRequest } from '../in-flight.ts'

const ENTRIES_MAX = 256
const REPLY_BYTES_MAX = 300_000
const ENTRY_BYTES = 300
const PATH_HASH_BYTES = 47

/** Paths that a thread computes at once: 20 ms. */
const PATHS_AT_ONCE = 32
/** The thread time of a path, measured where no two share a tile. */
const PATH_MS = 0.5

/** The heads are published some tens of milliseconds after they are appended. */
const LOOK_AGAIN_MS = 50
const LOOKS = 20

const requestOf = bodyOf(CompletenessRequest)

interface ProveWith {
  readonly pool: Pool
  readonly heads: StreamHeads
  /** The policy that a checkpoint must meet to be served; undefined: the newest is. */
  readonly required: LogPolicy | undefined
}

interface Asked {
  readonly stream: StreamName
  readonly value: string
  readonly from: number
  readonly to: number
}

export async function proveComplete(request: WorkerRequest, { pool, heads, required }: ProveWith) {
  const { caller, params } = request
  const asked = askedOf(request.body, caller)
  if (asked instanceof Failure) return asked
  const { log: number } = params
  if (number !== undefined && !/^[1-9][0-9]{0,8}$/.test(number)) return failures.noCheckpoint()
  const log = number === undefined ? null : Number(number)
  const found = await lookUntilPublished(() =>
    inSnapshot(pool, (sql) => find(sql, { ...asked, log, required }, heads)),
  )
  if (found instanceof Failure) return found
  const { of, checkpoint, head, tag, indexes } = found
  const wanted = [checkpoint.size - 1, ...indexes]
  request.costMs += wanted.length * PATH_MS
  const entries: EntryWithPath[] = []
  for (let i = 0; i < wanted.length; i += PATHS_AT_ONCE) {
    const some = { log: of.log, size: checkpoint.size, indexes: wanted.slice(i, i + PATHS_AT_ONCE) }
    entries.push(...(await readEntriesWithPaths(pool, some)))
  }
  const last = entries.shift()!
  if (Buffer.compare(last.entry, headsEntry(found.root)) !== 0) {
    heads.forget()
    throw new DamagedLog(
      `The streams of ${of.origin}, as they are stored, are not those of its checkpoint of ${checkpoint.size} entries.`,
    )
  }
  return {
    body: JSON.stringify({
      log: of.origin,
      checkpoint: checkpoint.note,
      stream: { [asked.stream]: asked.value },
      tag,
      ...(caller.reads === null && { salt: base64(of.salt) }),
      head: {
        n: head.head.n,
        lastIndex: head.head.lastIndex,
        position: head.position,
        count: head.count,
        path: head.path.map(base64),
      },
      heads: { index: last.index, path: last.path.map(base64) },
      entries: entries.map(({ index, entry, path }) => ({
        index,
        entry: Buffer.from(entry).toString('latin1'),
        path: path.map(base64),
      })),
    }),
  }
}

/** A caller may see lists of its own, and is not told whether others have any. */
function askedOf(body: Uint8Array, { reads }: ScopedCaller): Asked | Failure {
  const request = requestOf(body)
  if (request instanceof Failure) return request
  const named = streamNames.filter((name) => request.stream[name] !== undefined)
  const [stream] = named
  if (stream === undefined || named.length > 1)
    return failures.invalidField('stream must have exactly one of caller, capability, policy and approver.')
  const value = request.stream[stream]!
  const { from = 1, to = Number.MAX_SAFE_INTEGER } = request
  if (to < from) return failures.invalidField('to must not be less than from.')
  if (reads !== null && (stream !== 'caller' || value !== reads)) return failures.streamNotFound()
  return { stream, value, from, to }
}

interface Found {
  readonly of: NamedLog
  readonly checkpoint: CheckpointRow
  readonly tag: string
  readonly head: HeadPlace
  /** The root of the tree of heads. */
  readonly root: Uint8Array
  readonly indexes: readonly number[]
}

/**
 * @param sql of a snapshot: checkpoint, streams and their blocks are read as of one moment
 * @returns undefined where the stream is not under a checkpoint yet
 */
async function find(
  sql: Sql,
  {
    log,
    required,
    stream,
    value,
    from,
    to,
  }: Asked & { readonly log: number | null } & Pick<ProveWith, 'required'>,
  heads: StreamHeads,
): Promise<Found | Failure | undefined> {
  const of = await readLog(sql, log)
  if (of === undefined) return failures.noCheckpoint()
  const tag = streamTag({ salt: of.salt, stream, value }, sha256)
  const row = await readStream(sql, { log: of.log, tag })
  if (row === undefined) return failures.streamNotFound()
  const checkpoint = await servedCheckpoint(sql, { required, log: of.log })
  if (checkpoint === undefined) return undefined
  const { root, head } = await heads.find(sql, { log: of.log, size: checkpoint.size, tag })
  if (head === undefined) return undefined
  const last = Math.min(to, head.head.n, from + entriesMax(checkpoint.size) - 1)
  const indexes = await readStreamIndexes(sql, { ...row, log: of.log }, { from, to: last })
  const unknown = indexes.lastIndexOf(undefined)
  if (unknown !== -1)
    return failures.invalidField(
      `from must be at least ${from + unknown + 1}: entries of the stream before that were logged by a version that kept no index of them.`,
    )
  return { of, checkpoint, tag, head, root, indexes: indexes as number[] }
}

/** As many as fit in a reply, and not more than 256. */
function entriesMax(size: number): number {
  const entryBytes = ENTRY_BYTES + PATH_HASH_BYTES * Math.ceil(Math.log2(size))
  return Math.min(ENTRIES_MAX, Math.floor(REPLY_BYTES_MAX / entryBytes))
}

async function lookUntilPublished<T>(look: () => Promise<T | undefined>): Promise<T | Failure> {
  for (let looks = 1; ; looks++) {
    const found = await look()
    if (found !== undefined) return found
    if (looks === LOOKS) return failures.overloaded('log-heads')
    await delay(LOOK_AGAIN_MS)
  }
}

function headsEntry(root: Uint8Array): Uint8Array {
  return Buffer.from(formatEntry({ kind: 'heads', hash: toHex(root), streams: [] }), 'latin1')
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

/** The tree of heads as of a checkpoint. */
export interface StreamHeads {
  /**
   * @param stream.size of the tree under a checkpoint
   * @returns the root of the tree, and where the head of a stream is; undefined where it has none
   */
  readonly find: (
    sql: Sql,
    stream: { readonly log: number; readonly size: number; readonly tag: string },
  ) => Promise<{ readonly root: Uint8Array; readonly head: HeadPlace | undefined }>
  readonly forget: () => void
}

/** Keeps the tree of the newest checkpoint in memory: the next one costs only the changes since. */
export function openStreamHeads(): StreamHeads {
  let kept: { readonly log: number; readonly size: number; readonly heads: Heads } | undefined
  const oneAtATime = pLimit(1)
  return {
    find: (sql, { log, size, tag }) =>
      oneAtATime(async () => {
        // A snapshot may be older than the one before it.
        const before =
          kept?.log === log && kept.size <= size ? kept : { size: 0, heads: new Heads([], sha256) }
        const { heads } = before
        if (before.size < size)
          for (const head of await readHeads(sql, { log, size, since: before.size })) heads.set(head)
        kept = { log, size, heads }
        return { root: heads.root(), head: heads.place(tag) }
      }),
    forget() {
      kept = undefined
    },
  }
}
