// The proofs of a bundle: each part of it is an entry of the log, all under one checkpoint, in the order in which authority is given.
import { equalBytes } from '../bytes.ts'
import { errorText } from '../text/error-text.ts'
import type { Json } from '../json/canonical.ts'
import { readCheckpoint, type Checkpoint } from '../log/checkpoint.ts'
import { isEntryOf, parseEntry, type ArtifactEntry } from '../log/entry.ts'
import { type NoteCrypto, type VerifierKey } from '../log/note.ts'
import { readOrigin } from '../log/origin.ts'
import { parseProof, type LogProof } from '../log/proof.ts'
import { leafHash, rootOfInclusion } from '../merkle/tree.ts'
import { check, list, string, type Check } from '../artifacts/evidence.ts'
import { isMembers } from '../json/members.ts'
import { LogKeyNotGiven, openTrusted, type LogTrust } from './log-trust.ts'

/** A part of a bundle with an entry in the log, by the kind and the id of GET /log/proofs/{kind}/{id}. */
export interface LoggedPart {
  readonly kind: 'authorization' | 'receipt' | 'approval-request' | 'approval' | 'change' | 'confirmation'
  readonly id: string
  readonly entry: ArtifactEntry
}

/** The entries that the proofs of a bundle must show. */
export interface DueProofs {
  readonly parts: readonly LoggedPart[]
  /** The first of each pair must have been logged before the second. */
  readonly order: readonly (readonly [LoggedPart, LoggedPart])[]
  /** The log that was promised to contain a part. */
  readonly promises: ReadonlyMap<LoggedPart, string>
}

interface ProofsWith {
  readonly trust: LogTrust | undefined
  readonly crypto: NoteCrypto
  /** Called with each key that signed the checkpoint. */
  readonly onUsed: (key: VerifierKey) => void
}

/** The place of a part in the log. */
interface Place {
  readonly origin: string
  readonly index: number
  /** Whether it was logged late: then its place does not show when it was made. */
  readonly late: boolean
}

/**
 * @param carried the member `proofs` of a bundle, of any shape
 * @param due throws when the rest of the bundle cannot be read
 */
export function checkProofs(
  carried: Json | undefined,
  due: () => DueProofs,
  { trust, crypto, onUsed }: ProofsWith,
): { checks: Check[]; notes: string[] } {
  const places = new Map<LoggedPart, Place>()
  const notes: string[] = []
  const proofs = Array.isArray(carried) ? readProofs(carried as readonly Json[]) : undefined
  const checkpoint = checkOpen('log checkpoint', 'The checkpoint of its proofs is not one of its log', () => {
    for (const note of checkpointsOf(proofs ?? [])) {
      const { origin, size, signedBy, cosignedBy, witnesses } = openTrusted(note, trust, crypto)
      for (const { key } of [...signedBy, ...cosignedBy]) onUsed(key)
      const seconds = signedBy.find(({ timeSeconds = 0 }) => timeSeconds > 0)?.timeSeconds
      notes.push(noteOn({ origin, size, seconds, witnesses }))
    }
  })
  const inclusion = check('log proofs', 'Its proofs do not show that it is in the log', () => {
    list(carried)
    const { parts, promises } = due()
    for (const part of parts) places.set(part, placeOf(part, proofs ?? [], crypto))
    for (const [part, log] of promises) requirePromised(part, log, places.get(part)!)
    if ((proofs ?? []).length > parts.length) throw new Error('a proof is of nothing that it holds')
    return true
  })
  const order = check('log order', 'The log does not show the order of its parts', () => {
    const { parts, order: pairs } = due()
    if (places.size < parts.length) throw new Error('not every part is shown to be in the log')
    for (const [first, second] of pairs) requireOrder(first, second, places)
    return true
  })
  for (const [part, { late }] of places)
    if (late)
      notes.push(`The log has ${nameOf(part)} as a late entry: its place does not show when it was made.`)
  return { checks: [checkpoint, ...[inclusion, order].map((one) => openAs(checkpoint, one))], notes }
}

/** As `check`, for checks that depend on keys of a log that may not be given. */
function checkOpen(name: string, problem: string, holds: () => void): Check {
  let notGiven: LogKeyNotGiven | undefined
  const made = check(name, problem, () => {
    try {
      holds()
    } catch (error) {
      if (!(error instanceof LogKeyNotGiven)) throw error
      notGiven = error
    }
    return true
  })
  if (notGiven === undefined) return made
  return { name, problem: `It cannot be checked: ${notGiven.message}.`, missingLog: notGiven.origin }
}

/** A check that depends on an unchecked checkpoint cannot be completed either; but a check that fails with any checkpoint fails. */
function openAs({ problem, missingLog }: Check, made: Check): Check {
  if (made.problem !== undefined || missingLog === undefined) return made
  return { name: made.name, problem, missingLog }
}

/** A proof in the form in which the bundle contains it. */
interface CarriedProof {
  readonly kind: Json | undefined
  readonly id: Json | undefined
  readonly read: { readonly proof: LogProof; readonly checkpoint: Checkpoint } | { readonly problem: string }
}

function readProofs(carried: readonly Json[]): CarriedProof[] {
  // Parsed once for all proofs that share it; all proofs should.
  const checkpoints = new Map<string, Checkpoint>()
  return carried.map((one) => {
    const { kind, id, proof: file } = isMembers(one) ? one : {}
    try {
      const proof = parseProof(string(file))
      const checkpoint = checkpoints.get(proof.checkpoint) ?? readCheckpoint(proof.checkpoint)
      checkpoints.set(proof.checkpoint, checkpoint)
      return { kind, id, read: { proof, checkpoint } }
    } catch (error) {
      return { kind, id, read: { problem: errorText(error) } }
    }
  })
}

/**
 * One checkpoint for each log. There are several logs if the first had to be closed and its successor, of the same name, holds the rest.
 * @throws Error when there are two checkpoints of one log, logs of different names, or none
 */
function checkpointsOf(proofs: readonly CarriedProof[]): string[] {
  const notes = new Map<string, string>()
  for (const { read } of proofs) {
    if (!('proof' in read)) continue
    const { origin } = read.checkpoint
    const note = read.proof.checkpoint
    if ((notes.get(origin) ?? note) !== note)
      throw new Error(`the proofs are under different checkpoints of the log ${JSON.stringify(origin)}`)
    notes.set(origin, note)
  }
  const [first, ...others] = notes.keys()
  if (first === undefined) throw new Error('there is no proof that can be read')
  const other = others.find((origin) => !areOfOneName(first, origin))
  if (other !== undefined)
    throw new Error(`the logs ${JSON.stringify(first)} and ${JSON.stringify(other)} are not of one name`)
  return [...notes.values()]
}

/** @throws Error when there is not exactly one proof of the part, or the proof does not lead from its entry to the root of its checkpoint */
function placeOf(part: LoggedPart, proofs: readonly CarriedProof[], { sha256 }: NoteCrypto): Place {
  const [own, another] = proofs.filter(({ kind, id }) => kind === part.kind && id === part.id)
  if (own === undefined) throw new Error(`there is no proof of ${nameOf(part)}`)
  if (another !== undefined) throw new Error(`there are two proofs of ${nameOf(part)}`)
  if ('problem' in own.read)
    throw new Error(`the proof of ${nameOf(part)} cannot be read: ${own.read.problem}`)
  const { proof, checkpoint } = own.read
  const { index, path, extra } = proof
  if (extra === undefined) throw new Error(`the proof of ${nameOf(part)} holds no entry`)
  const logged = isEntryOf(parseEntry(new TextDecoder().decode(extra)), part.entry)
  if (logged === undefined) throw new Error(`the proof of ${nameOf(part)} is of another artifact`)
  const { origin, size, root } = checkpoint
  const found = rootOfInclusion({ leafHash: leafHash(extra, sha256), index, size, path }, sha256)
  if (!equalBytes(found, root))
    throw new Error(`the proof of ${nameOf(part)} does not lead to the root of its checkpoint`)
  return { origin, index, late: logged.late }
}

/** @throws Error when it is in another log than was promised; a later log of the same name holds the entries that the first one lost */
function requirePromised(part: LoggedPart, log: string, { origin }: Place): void {
  const isLater = areOfOneName(log, origin) && numberOf(log) < numberOf(origin)
  if (origin !== log && !isLater)
    throw new Error(
      `${nameOf(part)} is promised to the log ${JSON.stringify(log)} and proven to be in ${JSON.stringify(origin)}`,
    )
}

function requireOrder(first: LoggedPart, second: LoggedPart, places: ReadonlyMap<LoggedPart, Place>): void {
  const [before, after] = [places.get(first)!, places.get(second)!]
  if (before.late || after.late) return
  const logs = numberOf(before.origin) - numberOf(after.origin)
  const isBefore = before.origin === after.origin ? before.index < after.index : logs < 0
  if (!isBefore) throw new Error(`${nameOf(second)} does not stand behind ${nameOf(first)}`)
}

function areOfOneName(one: string, other: string): boolean {
  const name = readOrigin(one)?.name
  return name !== undefined && name === readOrigin(other)?.name
}

const numberOf = (origin: string) => readOrigin(origin)?.number ?? Number.NaN

const NAMES: Readonly<Record<LoggedPart['kind'], string>> = {
  authorization: 'authorization',
  receipt: 'receipt',
  'approval-request': 'approval request',
  approval: 'approval',
  change: 'governance change',
  confirmation: 'provider confirmation',
}

const nameOf = ({ kind, id }: LoggedPart) =>
  kind === 'authorization' || kind === 'receipt'
    ? `the ${NAMES[kind]}`
    : `the ${NAMES[kind]} ${JSON.stringify(id)}`

/** 31 December 9999: a later time has no year of four digits. */
const LAST_SECOND = 253_402_300_799

function noteOn(log: {
  origin: string
  size: number
  seconds: number | undefined
  witnesses: readonly string[]
}): string {
  const { origin, size, seconds, witnesses } = log
  const at =
    seconds === undefined || seconds > LAST_SECOND
      ? ''
      : ` of ${new Date(seconds * 1000).toISOString().replace('.000Z', 'Z')}`
  const cosigned =
    witnesses.length === 0
      ? ''
      : `, cosigned by the witnesses ${witnesses.map((name) => JSON.stringify(name)).join(', ')}`
  return `The log ${JSON.stringify(origin)} had ${size} entries at its checkpoint${at}${cosigned}.`
}
