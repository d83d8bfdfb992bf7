// Keys that sign notes for tests, of every type, made by node:crypto alone: what they sign does not come from the code that signs checkpoints.
import { generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkpointText, treeOf, type Checkpoint } from '../../src/formats/log/checkpoint.ts'
import {
  cosignedMessage,
  ed25519CosignedMessage,
  timestampedSignature,
} from '../../src/formats/log/cosignature.ts'
import {
  formatNote,
  parseVkey,
  signatureLine,
  verifierKey,
  type SignatureType,
  type VerifierKey,
} from '../../src/formats/log/note.ts'
import { noteCrypto as native } from '../../src/core/signing/log-keys.ts'
import { noteCrypto as noble } from '../../src/formats/verifier/note-crypto.ts'

export const sha256 = native.sha256

/** Both implementations; a test that takes a signature runs with each. */
export const cryptos = [
  ['libsodium and OpenSSL', native],
  ['noble', noble],
] as const

export interface TestSigner {
  readonly key: VerifierKey
  /** The line that this key signs the checkpoint with. */
  readonly line: (checkpoint: Checkpoint, timeSeconds?: number) => string
  /** The line of an Ed25519 signature over any text. */
  readonly textLine: (text: string) => string
  /** The same key under another name. */
  readonly renamed: (name: string) => TestSigner
}

const aKeyPair = (type: SignatureType) =>
  type === 'ml-dsa-44-cosignature' ? generateKeyPairSync('ml-dsa-44') : generateKeyPairSync('ed25519')

export function aSigner(name: string, type: SignatureType, pair = aKeyPair(type)): TestSigner {
  const { publicKey, privateKey } = pair
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  const bytes = spki.subarray(type === 'ml-dsa-44-cosignature' ? -1312 : -32)
  const key = verifierKey({ name, type, publicKey: new Uint8Array(bytes) }, sha256)
  const textLine = (text: string) => signatureLine(key, sign(null, Buffer.from(text), privateKey))
  const line = (checkpoint: Checkpoint, timeSeconds = 1_795_000_000) => {
    const text = checkpointText(checkpoint)
    if (type === 'ed25519') return textLine(text)
    const message =
      type === 'ed25519-cosignature'
        ? ed25519CosignedMessage(timeSeconds, text)
        : cosignedMessage({ cosigner: name, timeSeconds, ...treeOf(checkpoint) })
    return signatureLine(key, timestampedSignature(timeSeconds, sign(null, message, privateKey)))
  }
  return { key, line, textLine, renamed: (other) => aSigner(other, type, pair) }
}

export function signed(checkpoint: Checkpoint, signers: readonly TestSigner[]): string {
  return formatNote(
    checkpointText(checkpoint),
    signers.map(({ line }) => line(checkpoint)),
  )
}

/** A note of others and the keys of its signatures (test/vectors/README.md). */
export function publishedNote(name: string): { note: string; keys: VerifierKey[]; vkeys: string[] } {
  const file = (suffix: string) =>
    readFileSync(join(import.meta.dirname, '..', 'vectors', 'notes', `${name}.${suffix}`), 'utf8')
  const vkeys = file('vkeys').trimEnd().split('\n')
  return { note: file('note'), keys: vkeys.map((vkey) => parseVkey(vkey, sha256)), vkeys }
}

/** Repeatable numbers below `limit`: mulberry32. */
export function random(seed: number): (limit: number) => number {
  let state = seed
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % limit
  }
}
