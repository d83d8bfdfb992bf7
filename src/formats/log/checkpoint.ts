// C2SP tlog-checkpoint: the head of a log's tree as a signed note. Browser-safe.
import { headText } from '../merkle/batch-head.ts'
import { base64, toBase64 } from '../base64.ts'
import { cosignedMessage, ed25519CosignedMessage, readTimestampedSignature } from './cosignature.ts'
import { parseNote, verifiedLines, type Note, type NoteCrypto, type VerifierKey } from './note.ts'

export interface Checkpoint {
  /** Identifies the log. */
  readonly origin: string
  /** The number of entries. */
  readonly size: number
  /** The root of the Merkle tree over them, 32 bytes. */
  readonly root: Uint8Array
}

/** The text of the note, including its last newline. */
export function checkpointText({ origin, size, root }: Checkpoint): string {
  return headText({ origin, size, root: toBase64(root) })
}

/**
 * @param text text of a note, including its last newline
 * @returns the first three lines. Extension lines are left out: not every signature covers them, and no log of this project has any
 * @throws Error that names the wrong line
 */
export function parseCheckpoint(text: string): Checkpoint {
  if (!text.endsWith('\n')) throw new Error('the checkpoint does not end with a newline')
  const lines = text.slice(0, -1).split('\n')
  const [origin = '', size = '', encoded = ''] = lines
  if (lines.length < 3 || lines.includes(''))
    throw new Error('the checkpoint has no three lines, or an empty one')
  const root = parseHash(encoded, 'the root hash of the checkpoint')
  return { origin, size: parseInteger(size, 'the tree size of the checkpoint'), root }
}

/**
 * Reads a signed note's statement on the tree; does not check its signatures.
 * @throws Error when it is no checkpoint
 */
export function readCheckpoint(note: string | Uint8Array): Checkpoint {
  return parseCheckpoint(parseNote(note).text)
}

/**
 * @returns an integer that is written in decimal without leading zeros
 * @throws Error that names it as `what`, also for integers above 2^53 - 1, which a number cannot hold exactly
 */
export function parseInteger(text: string, what: string): number {
  if (!/^(0|[1-9][0-9]*)$/.test(text))
    throw new Error(`${what} is not a decimal number without leading zeros`)
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error(`${what} is above 2^53 - 1`)
  return value
}

/**
 * A SHA-256 in padded base64.
 * @throws Error that names it as `what`
 */
export function parseHash(text: string, what: string): Uint8Array {
  const hash = base64(text)
  if (hash?.length !== 32) throw new Error(`${what} is not 32 bytes of base64`)
  return hash
}

/** Maximum path from a leaf to its root: a tree with more levels has more leaves than a number here can count. */
export const PATH_MAX = 53

/** Keys that may sign. Keys of the log have its origin as their name, whatever keys of other logs are also trusted. */
interface TrustedKeys {
  readonly logs: readonly VerifierKey[]
  readonly witnesses: readonly VerifierKey[]
}

export interface Signer {
  readonly key: VerifierKey
  /** Seconds since 1970, as the signature states; undefined for a type of signature without a time. */
  readonly timeSeconds?: number
}

export interface OpenedCheckpoint extends Checkpoint {
  /** The log's keys that signed, one or more. */
  readonly signedBy: readonly Signer[]
  /** The trusted witnesses that cosigned. */
  readonly cosignedBy: readonly Signer[]
}

/**
 * Reads a checkpoint and checks its signatures.
 * @throws Error when it is no checkpoint, when no trusted key of its log signed it, or when a signature of any trusted key is invalid.
 *   Lines of other keys are ignored
 */
export function openCheckpoint(
  note: string | Uint8Array,
  { logs, witnesses }: TrustedKeys,
  crypto: NoteCrypto,
): OpenedCheckpoint {
  const parsed = parseNote(note)
  const checkpoint = parseCheckpoint(parsed.text)
  const ofLog = logs.filter(({ name }) => name === checkpoint.origin)
  const signedBy = signersOf(parsed, checkpoint, ofLog, crypto)
  if (signedBy.length === 0)
    throw new Error(`the checkpoint is not signed by a trusted key of the log '${checkpoint.origin}'`)
  return { ...checkpoint, signedBy, cosignedBy: signersOf(parsed, checkpoint, witnesses, crypto) }
}

/**
 * The trusted keys that signed a checkpoint, in the order of its lines.
 * @param checkpoint content of the note's text
 * @throws Error when the signature of one of the keys is invalid
 */
export function signersOf(
  note: Note,
  checkpoint: Checkpoint,
  keys: readonly VerifierKey[],
  crypto: NoteCrypto,
): Signer[] {
  const messageOf = (key: VerifierKey, { signature }: { signature: Uint8Array }) => {
    if (key.type === 'ed25519') return { message: new TextEncoder().encode(note.text), signature }
    const { timeSeconds, signature: timed } = readTimestampedSignature(signature)
    const message =
      key.type === 'ed25519-cosignature'
        ? ed25519CosignedMessage(timeSeconds, note.text)
        : cosignedMessage({ cosigner: key.name, timeSeconds, ...treeOf(checkpoint) })
    return { message, signature: timed }
  }
  return verifiedLines(note, keys, messageOf, crypto).map(({ key, line }) =>
    key.type === 'ed25519'
      ? { key }
      : { key, timeSeconds: readTimestampedSignature(line.signature).timeSeconds },
  )
}

/** The whole tree of a checkpoint, in the form that a cosigner states. */
export function treeOf({ origin, size, root }: Checkpoint) {
  return { origin, start: 0, end: size, hash: root }
}
