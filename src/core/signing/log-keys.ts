// The keys of the evidence log, in the folder `log` beside the signing keys: they sign its checkpoints, and COSE receipts of the roots of
// these, whose signed bytes are no text. They sign nothing else, since a note's signature has no type in its signed bytes as a DSSE
// signature has.
import { createPublicKey } from 'node:crypto'
import { join } from 'node:path'
import { checkpointText, openCheckpoint, treeOf, type Checkpoint } from '../../formats/log/checkpoint.ts'
import { cosignedMessage, timestampedSignature } from '../../formats/log/cosignature.ts'
import {
  formatNote,
  formatVkey,
  signatureLine,
  verifierKey,
  type NoteCrypto,
  type VerifierKey,
} from '../../formats/log/note.ts'
import * as ed25519 from './ed25519.ts'
import {
  generateKeys,
  generateMissingKeys,
  keyIds,
  readPrivateKeys,
  readPublicKey,
  type PublicKey,
  type SigningKey,
} from './keys.ts'
import { mlDsa44 } from './ml-dsa.ts'
import { sha256, sha256Hex } from '../../store/sha256.ts'

/** The algorithms that sign checkpoints: a note's types of signatures have no others. */
export const noteAlgorithms = ['ed25519', 'ml-dsa-44'] as const
type LogAlgorithm = (typeof noteAlgorithms)[number]
export type LogPublicKey = PublicKey<LogAlgorithm>

export interface LogKeys {
  /** The two that sign, the greatest keyId of each algorithm. */
  readonly ed25519: SigningKey<LogAlgorithm>
  readonly mlDsa44: SigningKey<LogAlgorithm>
  /** The one before of each algorithm, as long as its private key is there: for readers who saved the description before the rotation. */
  readonly before: readonly SigningKey<LogAlgorithm>[]
  /** Those that no longer sign included, by keyId in ascending order. */
  readonly publicKeys: readonly LogPublicKey[]
}

/** @param dir the folder of the signing keys; so in every function here */
export const logKeyDir = (dir: string): string => join(dir, 'log')

/** As `generateMissingKeys`, of the log's keys. */
export function generateMissingLogKeys({ dir, now }: { dir: string; now: Date }): LogPublicKey[] {
  return generateMissingKeys({ dir: logKeyDir(dir), now, algorithms: noteAlgorithms })
}

/** As `generateKeys`, of the log's keys. */
export function generateLogKeys({ dir, now }: { dir: string; now: Date }): LogPublicKey[] {
  return generateKeys({ dir: logKeyDir(dir), now, algorithms: noteAlgorithms })
}

/**
 * @throws Error with the file's name when a key cannot be read, and with the command that makes the keys when there are none of an algorithm
 */
export function readLogKeys(dir: string): LogKeys {
  const folder = logKeyDir(dir)
  return readNoteKeys(
    folder,
    (algorithm) =>
      `No ${algorithm} key of the evidence log in ${folder}. To make it: countersign keys generate --log --dir ${dir}. ` +
      'To run without the log: LOG=off.',
  )
}

/**
 * The keys of a folder that sign notes.
 * @param missing what to say where there is none of an algorithm
 * @throws Error with the file's name when a key cannot be read, or with `missing`
 */
export function readNoteKeys(folder: string, missing: (algorithm: LogAlgorithm) => string): LogKeys {
  const ofAlgorithm = Map.groupBy(readPrivateKeys(folder, noteAlgorithms), (key) => key.public.algorithm)
  const newestOf = (algorithm: LogAlgorithm) => {
    const [key, before] = ofAlgorithm.get(algorithm)?.toReversed() ?? []
    if (key === undefined) throw new Error(missing(algorithm))
    return { key, before: before === undefined ? [] : [before] }
  }
  const [ed25519Keys, mlDsa44Keys] = [newestOf('ed25519'), newestOf('ml-dsa-44')]
  return {
    ed25519: ed25519Keys.key,
    mlDsa44: mlDsa44Keys.key,
    before: [...ed25519Keys.before, ...mlDsa44Keys.before],
    publicKeys: keyIds(folder, 'public').map((keyId) => readPublicKey(folder, keyId, noteAlgorithms)),
  }
}

/** The name that a service has where LOG_ORIGIN gives none. It follows from the oldest Ed25519 key of the log, so a new key does not change it. */
export function defaultLogOrigin({ publicKeys }: LogKeys): string {
  const oldest = publicKeys.find(({ algorithm }) => algorithm === 'ed25519')!
  return `countersign-${sha256Hex(oldest.bytes).slice(0, 8)}`
}

const SIGNATURE_TYPES = { ed25519: 'ed25519', 'ml-dsa-44': 'ml-dsa-44-cosignature' } as const

/** @param origin of the log: its keys sign under this name */
export function logVerifierKey(origin: string, { algorithm, bytes }: LogPublicKey): VerifierKey {
  return verifierKey({ name: origin, type: SIGNATURE_TYPES[algorithm], publicKey: bytes }, sha256)
}

/** Every public key of a log as a C2SP vkey, those that no longer sign included. */
export function logVkeys(origin: string, { publicKeys }: Pick<LogKeys, 'publicKeys'>): string[] {
  return publicKeys.map((key) => formatVkey(logVerifierKey(origin, key)))
}

/** The public keys of the log now, by keyId in ascending order. */
export type PublishedLogKeys = () => readonly LogPublicKey[]

/** Another instance may add a key at any time, so each read lists the folder again. A key that was read is kept: that of an id never changes. */
export function publishedLogKeys(dir: string): PublishedLogKeys {
  const folder = logKeyDir(dir)
  const known = new Map<string, LogPublicKey>()
  return () =>
    keyIds(folder, 'public').map((keyId) => {
      const key = known.get(keyId) ?? readPublicKey(folder, keyId, noteAlgorithms)
      known.set(keyId, key)
      return key
    })
}

/**
 * Signs a checkpoint: an Ed25519 line over its text, then an ML-DSA-44 line, which states the time too; then the same by the keys before.
 * @param timeSeconds since 1970; it must not go back from one checkpoint of a log to the next
 * @returns the signed note
 * @throws Error where the origin or size is none that can be signed, and where a signature just made does not hold: a fault of the machine
 *   must not be published
 */
export async function signCheckpoint(
  keys: LogKeys,
  { timeSeconds, ...checkpoint }: Checkpoint & { readonly timeSeconds: number },
): Promise<string> {
  const { origin } = checkpoint
  const text = checkpointText(checkpoint)
  const statement = cosignedMessage({ cosigner: origin, timeSeconds, ...treeOf(checkpoint) })
  const signed = await Promise.all(
    [keys.ed25519, keys.mlDsa44, ...keys.before].map(async ({ sign, public: publicKey }) => {
      const key = logVerifierKey(origin, publicKey)
      if (key.type === 'ed25519') return { key, signature: await sign(Buffer.from(text)) }
      return { key, signature: timestampedSignature(timeSeconds, await sign(Buffer.from(statement))) }
    }),
  )
  const note = formatNote(
    text,
    signed.map(({ key, signature }) => signatureLine(key, signature)),
  )
  openCheckpoint(note, { logs: signed.map(({ key }) => key), witnesses: [] }, noteCrypto)
  return note
}

/** The cryptography of notes by libsodium and OpenSSL. */
export const noteCrypto: NoteCrypto = {
  sha256,
  verifies: {
    ed25519: ({ message, signature, publicKey }) =>
      ed25519.verify({
        message: Buffer.from(message),
        signature: Buffer.from(signature),
        publicKey: Buffer.from(publicKey),
      }),
    'ml-dsa-44': ({ message, signature, publicKey }) =>
      mlDsa44.verify({
        message: Buffer.from(message),
        signature: Buffer.from(signature),
        publicKey: createPublicKey({ key: mlDsa44.jwk(Buffer.from(publicKey)), format: 'jwk' }),
      }),
  },
}
