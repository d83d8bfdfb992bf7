// The keys of the evidence log, in the folder `log` beside the signing keys. They sign its checkpoints, and COSE receipts of the checkpoints'
// roots, whose signed bytes are no text. They sign nothing else, because the signed bytes of a note name no type as those of a DSSE
// signature do.
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

/** The algorithms that sign checkpoints: the signature types of notes include no others. */
export const noteAlgorithms = ['ed25519', 'ml-dsa-44'] as const
type LogAlgorithm = (typeof noteAlgorithms)[number]
export type LogPublicKey = PublicKey<LogAlgorithm>

export interface LogKeys {
  /** The two keys that sign: the greatest keyId of each algorithm. */
  readonly ed25519: SigningKey<LogAlgorithm>
  readonly mlDsa44: SigningKey<LogAlgorithm>
  /** The previous key of each algorithm while its private key exists: for readers who saved the log's description before the rotation. */
  readonly before: readonly SigningKey<LogAlgorithm>[]
  /** All public keys, including keys that no longer sign, by keyId in ascending order. */
  readonly publicKeys: readonly LogPublicKey[]
}

/** @param dir the folder of the signing keys, as in every function here */
export const logKeyDir = (dir: string): string => join(dir, 'log')

/** `generateMissingKeys` for the log's keys. */
export function generateMissingLogKeys({ dir, now }: { dir: string; now: Date }): LogPublicKey[] {
  return generateMissingKeys({ dir: logKeyDir(dir), now, algorithms: noteAlgorithms })
}

/** `generateKeys` for the log's keys. */
export function generateLogKeys({ dir, now }: { dir: string; now: Date }): LogPublicKey[] {
  return generateKeys({ dir: logKeyDir(dir), now, algorithms: noteAlgorithms })
}

/**
 * @throws Error with the file's name when a key cannot be read, and with the command that makes the keys when an algorithm has none
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
 * @param missing makes the message when an algorithm has no key
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

/** The origin of a service without LOG_ORIGIN. It follows from the oldest Ed25519 key of the log, so a new key does not change it. */
export function defaultLogOrigin({ publicKeys }: LogKeys): string {
  const oldest = publicKeys.find(({ algorithm }) => algorithm === 'ed25519')!
  return `countersign-${sha256Hex(oldest.bytes).slice(0, 8)}`
}

const SIGNATURE_TYPES = { ed25519: 'ed25519', 'ml-dsa-44': 'ml-dsa-44-cosignature' } as const

/** @param origin origin of the log: its keys sign under this name */
export function logVerifierKey(origin: string, { algorithm, bytes }: LogPublicKey): VerifierKey {
  return verifierKey({ name: origin, type: SIGNATURE_TYPES[algorithm], publicKey: bytes }, sha256)
}

/** Every public key of a log as a C2SP vkey, including keys that no longer sign. */
export function logVkeys(origin: string, { publicKeys }: Pick<LogKeys, 'publicKeys'>): string[] {
  return publicKeys.map((key) => formatVkey(logVerifierKey(origin, key)))
}

/** The public keys of the log now, by keyId in ascending order. */
export type PublishedLogKeys = () => readonly LogPublicKey[]

/** Another instance may add a key at any time, so each call lists the folder again. Read keys are cached, because a keyId's key never changes. */
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
 * Signs a checkpoint: an Ed25519 line over its text, then an ML-DSA-44 line, which also states the time; then the same by the previous keys.
 * @param timeSeconds seconds since 1970; it must not decrease from one checkpoint of a log to the next
 * @returns the signed note
 * @throws Error when the origin or size cannot be signed, or when a new signature does not verify: a hardware fault must not be
 *   published
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
