// This service as a witness of other logs (C2SP tlog-witness): it cosigns a checkpoint that continues the last one that it cosigned of the
// same log, so that a log which shows two histories needs its witnesses to show both.
import type { Pool } from 'pg'
import { errorText } from '../../src/formats/text/error-text.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { failureOf } from '../../src/core/errors/failure-of.ts'
import { parseAddCheckpoint, type AddCheckpoint } from '../../src/formats/log/add-checkpoint.ts'
import { parseCheckpoint, signersOf, type Checkpoint, type Signer } from '../../src/formats/log/checkpoint.ts'
import {
  formatNote,
  parseNote,
  signatureLine,
  type Note,
  type VerifierKey,
} from '../../src/formats/log/note.ts'
import { assertConsistent } from '../../src/formats/merkle/consistency.ts'
import { noteCrypto } from '../../src/core/signing/log-keys.ts'
import { sha256 } from '../../src/store/sha256.ts'
import { cosign, type WitnessKeys } from '../../src/core/signing/witness-keys.ts'
import { readWitnessed, replaceWitnessed } from '../../src/store/tables/witnessed-logs.ts'
import { Finished, type InFlight } from '../in-flight.ts'

export interface Witness {
  /** The key name of its cosignatures. */
  readonly name: string
  readonly keys: WitnessKeys
  /** The keys of the logs that it witnesses; the name of each is its log's origin. */
  readonly logs: readonly VerifierKey[]
  readonly pool: Pool
  /** Milliseconds since 1970. */
  readonly nowMs: () => number
}

/** The signature lines of the witness, or the size of the newest tree that it has where that is not the request's old size. */
type Witnessed = { readonly cosignatures: string } | { readonly hasSize: number }

/** @param witness undefined without WITNESS_LOGS: then no request comes */
export async function addCheckpoints(
  batch: readonly InFlight[],
  witness: Witness | undefined,
): Promise<Finished[]> {
  const finished: Finished[] = []
  // One after the other: each computes for a millisecond, and those for one log wait for its row.
  for (const { request } of batch) {
    const startedMs = performance.now()
    const answer =
      witness === undefined
        ? failures.pathNotFound()
        : await addCheckpoint(request.body, witness).catch((error: unknown) => failureOf(error))
    request.costMs += performance.now() - startedMs
    finished.push(new Finished(request, answer instanceof Failure ? answer : replyOf(answer)))
  }
  return finished
}

function replyOf(answer: Witnessed) {
  if ('cosignatures' in answer)
    return { body: answer.cosignatures, headers: { 'Content-Type': 'text/plain; charset=utf-8' } }
  return { status: 409, body: `${answer.hasSize}\n`, headers: { 'Content-Type': 'text/x.tlog.size' } }
}

/** The checks are in the order of the specification: the signer is known before anything else is answered. */
async function addCheckpoint(body: Uint8Array, witness: Witness): Promise<Witnessed | Failure> {
  const { name, keys, logs, pool, nowMs } = witness
  const request = parsed(body)
  if (request instanceof Failure) return request
  const { note, checkpoint, oldSize } = request
  const { origin, size } = checkpoint
  const signers = trustedSigners(request, logs)
  if (signers instanceof Failure) return signers
  if (oldSize > size) return failures.invalidField('the old size is above the size of the checkpoint.')

  const before = await readWitnessed(pool, origin)
  if (oldSize !== (before?.size ?? 0)) return { hasSize: before?.size ?? 0 }
  const inconsistent = whyInconsistent(request, before?.root)
  if (inconsistent !== undefined) return failures.checkpointInconsistent(inconsistent)

  const timeSeconds = Math.floor(nowMs() / 1000)
  const cosignatures = await cosign(keys, { ...checkpoint, name, text: note.text, timeSeconds })
  const row = { ...checkpoint, note: formatNote(note.text, [...linesOf(note, signers), cosignatures]) }
  // A cosignature is never shown before it is stored in the database.
  if (await replaceWitnessed(pool, row, before?.size)) return { cosignatures }
  return { hasSize: (await readWitnessed(pool, origin))?.size ?? 0 }
}

interface Read extends Pick<AddCheckpoint, 'oldSize' | 'proof'> {
  readonly note: Note
  readonly checkpoint: Checkpoint
}

function parsed(body: Uint8Array): Read | Failure {
  try {
    const { oldSize, proof, checkpoint: text } = parseAddCheckpoint(body)
    const note = parseNote(text)
    return { oldSize, proof, note, checkpoint: parseCheckpoint(note.text) }
  } catch (error) {
    return failures.invalidField(`${errorText(error)}.`)
  }
}

function trustedSigners({ note, checkpoint }: Read, logs: readonly VerifierKey[]): Signer[] | Failure {
  const ofLog = logs.filter((key) => key.name === checkpoint.origin)
  if (ofLog.length === 0) return failures.logNotWitnessed()
  try {
    const signers = signersOf(note, checkpoint, ofLog, noteCrypto)
    return signers.length > 0
      ? signers
      : failures.checkpointNotSigned('no signature is by a key of the log that this witness trusts')
  } catch (error) {
    return failures.checkpointNotSigned(errorText(error))
  }
}

/** @param root of the tree that was cosigned before; undefined where none was */
function whyInconsistent(
  { oldSize, proof, checkpoint }: Read,
  root: Uint8Array | undefined,
): string | undefined {
  const { size } = checkpoint
  if (size === 0 && Buffer.compare(checkpoint.root, sha256(new Uint8Array(0))) !== 0)
    return 'the root is not that of an empty tree'
  if (oldSize === 0) return proof.length === 0 ? undefined : 'from an empty tree there is no proof'
  try {
    const range = { start: 0, end: oldSize, size }
    assertConsistent({ ...range, partRoot: root!, root: checkpoint.root, path: proof }, sha256)
    return undefined
  } catch (error) {
    return errorText(error)
  }
}

/** The lines that were verified; other lines under the note are not passed on. */
function linesOf({ lines }: Note, signers: readonly Signer[]): string[] {
  return signers.map(({ key }) => {
    const line = lines.find(({ name, keyId }) => name === key.name && keyId === key.keyId)!
    return signatureLine(key, line.signature)
  })
}
