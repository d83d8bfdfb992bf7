// A client of others reads our checkpoints and proofs: `@sigstore/verify`, which checks the inclusion proofs of Sigstore's log.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildTree, leafHash } from '../../src/formats/merkle/tree.ts'
import { generateKeys } from '../../src/core/signing/keys.ts'
import {
  generateMissingLogKeys,
  logKeyDir,
  readLogKeys,
  signCheckpoint,
  type LogKeys,
} from '../../src/core/signing/log-keys.ts'
import { sha256 } from '../../src/store/sha256.ts'
import { verifyBySigstore } from './sigstore.ts'

const origin = 'countersign.example/log/1'
const entries = Array.from({ length: 40 }, (_, i) =>
  Buffer.from(`countersign/1 receipt ${sha256(Buffer.of(i)).toString('hex')}`),
)
const hashes = entries.map((entry) => leafHash(entry, sha256))

let dir: string
let keys: LogKeys
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'countersign-sigstore-'))
  generateMissingLogKeys({ dir, now: new Date() })
  keys = readLogKeys(dir)
})
afterAll(() => rmSync(dir, { recursive: true }))

type Proof = Parameters<typeof verifyBySigstore>[0]

async function proofOf(index: number, size: number): Promise<Proof> {
  const tree = buildTree(hashes.slice(0, size), sha256)
  const checkpoint = await signCheckpoint(keys, { origin, size, root: tree.root, timeSeconds: 1_795_000_000 })
  return { entry: entries[index]!, index, path: tree.path(index), checkpoint }
}

/** Throws where Sigstore's client refuses it. */
function verify(proof: Proof, by = keys): void {
  verifyBySigstore(proof, { origin, key: by.ed25519.public })
}

test('it accepts every proof of trees of any size, beside the ML-DSA-44 line', async () => {
  for (const size of [1, 2, 3, 4, 5, 8, 13, 40])
    for (let index = 0; index < size; index++) {
      const proof = await proofOf(index, size)
      expect(() => verify(proof), `${index} of ${size}`).not.toThrow()
    }
})

test('it refuses each change', async () => {
  const proof = await proofOf(5, 13)
  const refused = (changed: Partial<Proof>) => expect(() => verify({ ...proof, ...changed }))
  refused({ entry: entries[6]! }).toThrow('calculated root hash does not match')
  for (let index = 0; index < 15; index++) if (index !== 5) refused({ index }).toThrow()
  refused({ path: proof.path.slice(1) }).toThrow('invalid hash count')
  refused({ path: [...proof.path, proof.path[0]!] }).toThrow('invalid hash count')
  for (let i = 0; i < proof.path.length; i++)
    refused({ path: proof.path.with(i, Buffer.alloc(32)) }).toThrow('calculated root hash does not match')
  const text = proof.checkpoint
  refused({ checkpoint: text.replace('\n13\n', '\n14\n') }).toThrow('invalid checkpoint signature')
  refused({ checkpoint: text.replace('log/1', 'log/2') }).toThrow('invalid checkpoint signature')
  refused({ checkpoint: text.replace(/\n[^\n]+\n\n/, `\n${'A'.repeat(43)}=\n\n`) }).toThrow(
    'invalid checkpoint signature',
  )
  const lines = text.split('\n')
  refused({ checkpoint: lines.toSpliced(4, 1).join('\n') }).toThrow('invalid checkpoint signature')
  refused({ checkpoint: (await proofOf(5, 12)).checkpoint }).toThrow()
})

test('it refuses the checkpoint of another key', async () => {
  const proof = await proofOf(5, 13)
  generateKeys({ dir: logKeyDir(dir), now: new Date(), algorithms: ['ed25519'] })
  expect(() => verify(proof, readLogKeys(dir))).toThrow('invalid checkpoint signature')
})
