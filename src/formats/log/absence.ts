// The answer of GET /log/absence: the entries of an id in the log, up to an index. For each run of ids (ids.ts) it shows the leaves of the id,
// the leaf before them and the leaf after them. Browser-safe.
import { equalBytes } from '../bytes.ts'
import { leafHash, rootOfInclusion } from '../merkle/tree.ts'
import type { OpenedCheckpoint } from './checkpoint.ts'
import { parseEntry } from './entry.ts'
import { idKey, idKinds, idLeaf, isIdKind, runHash, type IdKind } from './ids.ts'
import type { NoteCrypto } from './note.ts'
import {
  assertLogged,
  hashOf,
  integerOf,
  listOf,
  membersOf,
  openedBy,
  pathOf,
  textOf,
  type OpenedBy,
} from './statement.ts'

/** All bytes are in base64, all paths from the leaf up. */
export interface AbsenceStatement {
  /** The origin of the log. */
  readonly log: string
  /** The signed note under which everything is proven. */
  readonly checkpoint: string
  readonly kind: IdKind
  /** UUIDs in lower case. */
  readonly id: string
  /** Cover the log from its first entry, without gaps. */
  readonly runs: readonly StatedRun[]
  /** The index up to which the runs reach. The statement says nothing about newer entries, which are in a run within the hour. */
  readonly coveredTo: number
}

export interface StatedRun {
  readonly level: number
  /** The entries that the run covers: from `first` up to, but excluding, `end`. */
  readonly first: number
  readonly end: number
  /** Number of leaves. */
  readonly size: number
  /** The text of the entry that states the run, its index, and its path to the root of the checkpoint. */
  readonly entry: string
  readonly index: number
  readonly path: readonly string[]
  /** The leaf below the id's hash, the leaves with it, and the leaf above; at an end of the run there is none below or above. */
  readonly leaves: readonly StatedLeaf[]
}

interface StatedLeaf {
  /** SHA-256(kind ‖ 0x00 ‖ id). */
  readonly hash: string
  /** The index of the entry with the id. */
  readonly index: number
  /** Position in the run, from 0. */
  readonly position: number
  /** Path to the root of the run. */
  readonly path: readonly string[]
}

export interface IdFindings {
  readonly checkpoint: OpenedCheckpoint
  /** The indexes of the entries with the id, below `coveredTo`; empty: there is no such entry. */
  readonly indexes: readonly number[]
  readonly coveredTo: number
}

/**
 * Checks a statement: its runs cover the log from the first entry to `coveredTo`, the log states each of them, and each shows all leaves of
 * the id. Only an audit of the whole log checks that runs are sorted and that leaves match their entries' ids (`countersign log audit`).
 *
 * @param statement the answer, parsed
 * @param request.kind kind of the requested id
 * @param request.id a UUID in lower case, except for approvals
 * @throws Error that names the run, from 0, and its mistake
 */
export function verifyAbsence(
  statement: unknown,
  {
    policy,
    ...asked
  }: {
    readonly policy: OpenedBy
    readonly kind: IdKind
    readonly id: string
  },
  crypto: NoteCrypto,
): IdFindings {
  const { log, checkpoint: note, kind, id, runs, coveredTo } = readStatement(statement)
  if (kind !== asked.kind || id !== asked.id) throw new Error(`the statement is about the ${kind} ${id}`)
  const checkpoint = openedBy(policy, note, crypto)
  if (checkpoint.origin !== log)
    throw new Error(`the checkpoint is of the log '${checkpoint.origin}', not of '${log}'`)
  const key = idKey({ kind: idKinds[kind], id }, crypto.sha256)
  const indexes: number[] = []
  let covered = 0
  for (const [i, run] of runs.entries()) {
    try {
      if (run.first !== covered)
        throw new Error(`it begins at ${run.first}, and the runs before it end at ${covered}`)
      assertStated(run, checkpoint, crypto)
      indexes.push(...indexesOf(key, run))
    } catch (error) {
      throw new Error(`run ${i}: ${(error as Error).message}`, { cause: error })
    }
    covered = run.end
  }
  if (covered !== coveredTo) throw new Error(`the runs end at ${covered}, and not at coveredTo, ${coveredTo}`)
  return { checkpoint, indexes, coveredTo }
}

interface ReadRun extends Omit<StatedRun, 'path' | 'leaves'> {
  readonly path: Uint8Array[]
  readonly leaves: readonly ReadLeaf[]
}

interface ReadLeaf extends Omit<StatedLeaf, 'hash' | 'path'> {
  readonly hash: Uint8Array
  readonly path: readonly Uint8Array[]
}

/** The leaves lead to one root, the entry is the hash of the run's stated members, and the entry is in the log. */
function assertStated(run: ReadRun, checkpoint: OpenedCheckpoint, crypto: NoteCrypto): void {
  const { sha256 } = crypto
  const { level, first, end, size, entry, index, leaves } = run
  if (end <= first) throw new Error(`it ends at ${end}, where it begins or before`)
  // A run can only be stated after its entries exist.
  if (index < end) throw new Error(`it covers entries up to ${end}, and its own entry is at ${index}`)
  const roots = leaves.map((leaf) => {
    const hash = leafHash(idLeaf(leaf.hash, leaf.index), sha256)
    return rootOfInclusion({ leafHash: hash, index: leaf.position, size, path: leaf.path }, sha256)
  })
  const [root] = roots
  if (root === undefined) throw new Error('it shows no leaves')
  if (!roots.every((other) => equalBytes(other, root))) throw new Error('its leaves lead to different roots')
  const { kind, hash, streams } = parseEntry(entry)
  if (kind !== 'ids' || streams.length > 0) throw new Error('its entry is not of kind ids')
  if (hash !== runHash({ level, first, end, size, root }, sha256))
    throw new Error('its entry is not the hash of its level, its range, its size and the root of its leaves')
  assertLogged(run, 'its entry', checkpoint, crypto)
}

/** The indexes of the leaves with the key; all leaves of the run that have it. */
function indexesOf(key: Uint8Array, { first, end, size, leaves }: ReadRun): number[] {
  for (const [i, { index, position }] of leaves.entries()) {
    if (index < first || index >= end)
      throw new Error(`leaf ${i} is of entry ${index}, which it does not cover`)
    const before = leaves[i - 1]
    if (before === undefined) continue
    if (position !== before.position + 1) throw new Error(`leaf ${i} is not the next one after leaf ${i - 1}`)
    const order = compare(before.hash, leaves[i]!.hash) || before.index - index
    if (order >= 0) throw new Error(`leaf ${i} is not greater than leaf ${i - 1}`)
  }
  const orders = leaves.map(({ hash }) => compare(hash, key))
  if (orders[0]! >= 0 && leaves[0]!.position !== 0)
    throw new Error('it shows no leaf below the id, and does not begin there')
  if (orders.at(-1)! <= 0 && leaves.at(-1)!.position !== size - 1)
    throw new Error('it shows no leaf above the id, and does not end there')
  if (orders.slice(1, -1).some((order) => order !== 0))
    throw new Error('it shows leaves that are no neighbours of the id')
  return leaves.filter((_, i) => orders[i] === 0).map(({ index }) => index)
}

function compare(one: Uint8Array, other: Uint8Array): number {
  for (let i = 0; i < one.length; i++) if (one[i] !== other[i]) return one[i]! - other[i]!
  return 0
}

/** A log of 2^53 entries has no more runs: 15 of each level, and a set of 16 that is being merged. */
const RUNS_MAX = 31 * 16

function readStatement(
  given: unknown,
): Omit<AbsenceStatement, 'runs'> & { readonly runs: readonly ReadRun[] } {
  const statement = membersOf(given, 'the statement')
  const kind = textOf(statement, 'kind')
  if (!isIdKind(kind)) throw new Error(`kind is not one of ${Object.keys(idKinds).join(', ')}`)
  const id = textOf(statement, 'id')
  // A log never contains a UUID in capitals.
  if (kind !== 'approval' && !UUID.test(id)) throw new Error('id is not a UUID in lower case')
  return {
    log: textOf(statement, 'log'),
    checkpoint: textOf(statement, 'checkpoint'),
    kind,
    id,
    runs: listOf(statement, 'runs', RUNS_MAX).map(readRun),
    coveredTo: integerOf(statement, 'coveredTo'),
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

function readRun(given: unknown, i: number): ReadRun {
  const run = membersOf(given, `runs[${i}]`)
  return {
    level: integerOf(run, 'level'),
    first: integerOf(run, 'first'),
    end: integerOf(run, 'end'),
    size: integerOf(run, 'size'),
    entry: textOf(run, 'entry'),
    index: integerOf(run, 'index'),
    path: pathOf(run),
    leaves: listOf(run, 'leaves').map((one, n) => {
      const leaf = membersOf(one, `runs[${i}].leaves[${n}]`)
      return {
        hash: hashOf(leaf['hash'], 'hash'),
        index: integerOf(leaf, 'index'),
        position: integerOf(leaf, 'position'),
        path: pathOf(leaf),
      }
    }),
  }
}
