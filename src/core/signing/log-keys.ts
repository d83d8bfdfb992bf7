// The keys of the evidence log, in the folder `log` beside the signing keys: they sign its checkpoints and nothing else, since a note's
// signature has no type in its signed bytes as a DSSE signature has.
import { createPublicKey } from 'node:crypto'
import { join } from 'node:path'
import { checkpointText, openCheckpoint, treeOf, type Checkpoint } from '../log/checkpoint.ts'
import { cosignedMessage, timestampedSignature } from '../log/cosignature.ts'
import {
  formatNote,
  formatVkey,
  signatureLine,
  verifierKey,
  type NoteCrypto,
  type VerifierKey,
} from '../log/note.ts'
import * as ed25519 from './ed25519.ts'
import {
  generateMissingKeys,
  keyIds,
  readGreatestKeys,
  readPublicKey,
  type PublicKey,
  type SigningKey,
} from './keys.ts'
import * as mlDsa44 from './ml-dsa-44.ts'
import { sha256, sha256Hex } from './sha256.ts'

const algorithms = ['ed25519', 'ml-dsa-44'] as const
type LogAlgorithm = (typeof algorithms)[number]
export type LogPublicKey = PublicKey<LogAlgorithm>

export interface LogKeys {
  /** The two that sign, the greatest keyId of each algorithm. */
  readonly ed25519: SigningKey<LogAlgorithm>
  readonly mlDsa44: SigningKey<LogAlgorithm>
  /** Those that no longer sign included, by keyId in ascending order. */
  readonly publicKeys: readonly LogPublicKey[]
}

/** @param dir the folder of the signing keys; so in every function here */
export const logKeyDir = (dir: string): string => join(dir, 'log')

/** As `generateMissingKeys`, of the log's keys. */
export function generateMissingLogKeys({ dir, now }: { dir: string; now: Date }): LogPublicKey[] {
  return generateMissingKeys({ dir: logKeyDir(dir), now, algorithms })
}

/**
 * @throws Error with the file's name when a key cannot be read, and with the command that makes the keys when there are none of an algorithm
 */
export function readLogKeys(dir: string): LogKeys {
  const folder = logKeyDir(dir)
  const greatest = readGreatestKeys(folder, algorithms)
  const signerOf = (algorithm: LogAlgorithm) => {
    const key = greatest.get(algorithm)
    if (key !== undefined) return key
    throw new Error(
      `No ${algorithm} key of the evidence log in ${folder}. To make it: countersign keys generate --log --dir ${dir}. ` +
        'To run without the log: LOG=off.',
    )
  }
  const publicKeys = keyIds(folder, 'public').map((keyId) => readPublicKey(folder, keyId, algorithms))
  return { ed25519: signerOf('ed25519'), mlDsa44: signerOf('ml-dsa-44'), publicKeys }
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
export function logVkeys(origin: string, { publicKeys }: LogKeys): string[] {
  return publicKeys.map((key) => formatVkey(logVerifierKey(origin, key)))
}

/**
 * Signs a checkpoint: an Ed25519 line over its text, then an ML-DSA-44 line, which states the time too.
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
  const signatures = await Promise.all([
    keys.ed25519.sign(Buffer.from(text)),
    keys.mlDsa44.sign(Buffer.from(statement)),
  ])
  const signers = [keys.ed25519, keys.mlDsa44].map((key) => logVerifierKey(origin, key.public))
  const note = formatNote(text, [
    signatureLine(signers[0]!, signatures[0]),
    signatureLine(signers[1]!, timestampedSignature(timeSeconds, signatures[1])),
  ])
  openCheckpoint(note, { logs: signers, witnesses: [] }, noteCrypto)
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
