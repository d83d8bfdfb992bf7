// Evidence logs of the published vectors: small trees whose checkpoints are signed by keys that are always the same.
import { createHash } from 'node:crypto'
import { ml_dsa44 as mlDsa44 } from '@noble/post-quantum/ml-dsa.js'
import { checkpointText, treeOf, type Checkpoint } from '../../src/formats/log/checkpoint.ts'
import {
  cosignedMessage,
  ed25519CosignedMessage,
  timestampedSignature,
} from '../../src/formats/log/cosignature.ts'
import {
  formatNote,
  formatVkey,
  signatureLine,
  verifierKey,
  type SignatureType,
  type VerifierKey,
} from '../../src/formats/log/note.ts'
import { formatProof } from '../../src/formats/log/proof.ts'
import { buildTree, leafHash } from '../../src/formats/merkle/tree.ts'
import type { Members } from './edit.ts'
import { rawEd25519 } from './keys.ts'

export const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest()

/** A key under the name that it signs notes with. */
export interface NoteSigner {
  readonly key: VerifierKey
  readonly vkey: string
  /** The line that it signs a checkpoint with. */
  readonly line: (checkpoint: Checkpoint, seconds: number) => string
}

export function noteSigner(name: string, type: SignatureType, seedOf = name): NoteSigner {
  const seed = createHash('sha256').update(`countersign vectors ${seedOf} ${type}`).digest()
  const postQuantum = type === 'ml-dsa-44-cosignature' ? mlDsa44.keygen(seed) : undefined
  const ed25519 = rawEd25519(seed)
  const key = verifierKey({ name, type, publicKey: postQuantum?.publicKey ?? ed25519.publicKey }, sha256)
  const line: NoteSigner['line'] = (checkpoint, seconds) => {
    const text = checkpointText(checkpoint)
    if (type === 'ed25519') return signatureLine(key, ed25519.sign(Buffer.from(text)))
    const signature =
      postQuantum === undefined
        ? ed25519.sign(ed25519CosignedMessage(seconds, text))
        : mlDsa44.sign(
            cosignedMessage({ cosigner: name, timeSeconds: seconds, ...treeOf(checkpoint) }),
            postQuantum.secretKey,
            { extraEntropy: false },
          )
    return signatureLine(key, timestampedSignature(seconds, signature))
  }
  return { key, vkey: formatVkey(key), line }
}

/** The keys of a log, in the order in which they sign. */
export const signersOf = (origin: string): NoteSigner[] => [
  noteSigner(origin, 'ed25519'),
  noteSigner(origin, 'ml-dsa-44-cosignature'),
]

/** When the checkpoints are signed: a minute after the transaction was sent. */
const SECONDS = Date.parse('2026-11-21T01:01:00Z') / 1000

export interface SignedBy {
  readonly signers?: readonly NoteSigner[]
  readonly seconds?: number
  /** Changes the lines of the signatures. */
  readonly lines?: (lines: string[]) => string[]
  /** The root that is signed in place of the tree's. */
  readonly root?: Uint8Array
}

/** A log with its one checkpoint. */
export interface VectorLog {
  readonly entries: readonly string[]
  readonly checkpoint: string
  /** The `.tlog-proof` of the entry at an index. */
  readonly proof: (index: number, change?: { entry?: string; index?: number }) => string
}

export function aLog(
  origin: string,
  entries: readonly string[],
  { signers = signersOf(origin), seconds = SECONDS, lines = (same) => same, root }: SignedBy = {},
): VectorLog {
  const tree = buildTree(
    entries.map((entry) => leafHash(Buffer.from(entry), sha256)),
    sha256,
  )
  const head = { origin, size: entries.length, root: root ?? tree.root }
  const signed = signers.map(({ line }) => line(head, seconds))
  const checkpoint = formatNote(checkpointText(head), lines(signed))
  return {
    entries,
    checkpoint,
    proof: (index, { entry = entries[index] ?? '', index: claimed = index } = {}) =>
      formatProof({
        index: claimed,
        path: tree.path(index),
        checkpoint,
        ...(entry === '' ? {} : { extra: Buffer.from(entry) }),
      }),
  }
}

/** One log of GET /.well-known/countersign-log. */
export function describedLog(origin: string, vkeys = signersOf(origin).map(({ vkey }) => vkey)): Members {
  return { origin, vkeys, validFrom: '2026-11-01T00:00:00.000Z', maximumDelaySeconds: 60 }
}
