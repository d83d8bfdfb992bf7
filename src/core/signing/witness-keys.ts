// The keys of this service as a witness of other logs, in the folder `witness` beside the signing keys. They only cosign checkpoints:
// a cosignature states that a log is consistent, and must never be read as a log's own signature.
import { join } from 'node:path'
import { signersOf, treeOf, type Checkpoint } from '../../formats/log/checkpoint.ts'
import {
  cosignedMessage,
  ed25519CosignedMessage,
  timestampedSignature,
} from '../../formats/log/cosignature.ts'
import {
  formatNote,
  formatVkey,
  parseNote,
  signatureLine,
  verifierKey,
  type VerifierKey,
} from '../../formats/log/note.ts'
import { generateMissingKeys } from './keys.ts'
import { noteAlgorithms, noteCrypto, readNoteKeys, type LogPublicKey, type LogKeys } from './log-keys.ts'
import { sha256 } from '../../store/sha256.ts'

/** Witnesses have keys of the same shape as the log's, and never the same keys. */
export type WitnessKeys = LogKeys

/** @param dir the folder of the signing keys, as in every function here */
export const witnessKeyDir = (dir: string): string => join(dir, 'witness')

/** `generateMissingKeys` for the witness's keys. */
export function generateMissingWitnessKeys({ dir, now }: { dir: string; now: Date }): LogPublicKey[] {
  return generateMissingKeys({ dir: witnessKeyDir(dir), now, algorithms: noteAlgorithms })
}

/**
 * @throws Error with the file's name when a key cannot be read, and with the command that makes the keys when an algorithm has none
 */
export function readWitnessKeys(dir: string): WitnessKeys {
  const folder = witnessKeyDir(dir)
  return readNoteKeys(
    folder,
    (algorithm) =>
      `No ${algorithm} key of the witness in ${folder}. To make it: countersign keys generate --witness --dir ${dir}. ` +
      'To witness no logs: leave WITNESS_LOGS out.',
  )
}

const SIGNATURE_TYPES = { ed25519: 'ed25519-cosignature', 'ml-dsa-44': 'ml-dsa-44-cosignature' } as const

/** @param name name of the witness: its keys sign under it */
function witnessVerifierKey(name: string, { algorithm, bytes }: LogPublicKey): VerifierKey {
  return verifierKey({ name, type: SIGNATURE_TYPES[algorithm], publicKey: bytes }, sha256)
}

/** Every public key of the witness as a C2SP vkey, including keys that no longer sign. */
export function witnessVkeys(name: string, { publicKeys }: WitnessKeys): string[] {
  return publicKeys.map((key) => formatVkey(witnessVerifierKey(name, key)))
}

/**
 * Cosigns a checkpoint.
 * @param cosigned.text text of the note, including extension lines
 * @param cosigned.name name of the witness
 * @param cosigned.timeSeconds seconds since 1970
 * @returns two signature lines, Ed25519 and ML-DSA-44
 * @throws Error when a new signature does not verify: a hardware fault must not be published
 */
export async function cosign(
  keys: WitnessKeys,
  {
    name,
    text,
    timeSeconds,
    ...checkpoint
  }: Checkpoint & { readonly name: string; readonly text: string; readonly timeSeconds: number },
): Promise<string> {
  const statement = cosignedMessage({ cosigner: name, timeSeconds, ...treeOf(checkpoint) })
  const signatures = await Promise.all([
    keys.ed25519.sign(Buffer.from(ed25519CosignedMessage(timeSeconds, text))),
    keys.mlDsa44.sign(Buffer.from(statement)),
  ])
  const signers = [keys.ed25519, keys.mlDsa44].map((key) => witnessVerifierKey(name, key.public))
  const lines = signers.map((key, i) => signatureLine(key, timestampedSignature(timeSeconds, signatures[i]!)))
  signersOf(parseNote(formatNote(text, lines)), checkpoint, signers, noteCrypto)
  return lines.join('')
}
