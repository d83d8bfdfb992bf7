// The handbook's check of a batch signature, by Python's standard library and openssl, on records that are signed by batch here.
import { spawnSync } from 'node:child_process'
import { createPrivateKey, sign } from 'node:crypto'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonicalize, type Json } from '../src/formats/json/canonical.ts'
import { buildTree, leafHash } from '../src/formats/merkle/tree.ts'
import { preAuthEncoding } from '../src/core/signing/dsse.ts'
import { sha256Hex } from '../src/store/sha256.ts'
import { blocks } from './handbook.ts'
import { sha256 } from './merkle/trees.ts'
import { openSteps } from './pipeline/thread.ts'
import { bundledEnvironment } from './run/environment.ts'
import { aRecord, type Tampered } from './verifier/saved.ts'
import { aTransaction } from './transactions.ts'
import { noPython } from './vectors/answers.ts'

const CLI = join(import.meta.dirname, '..', 'src', 'cli', 'index.ts')
const ORIGIN = 'countersign/batch/0d6a3a4e-7f5b-4c0e-9a51-2f4f8c1f6b7d'
const SHOWN = blocks('evidence.md', 'sh').filter((script) => script.includes('batch'))
const VERIFIED = 'Signature Verified Successfully'

let folder: string
let keyId: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  mkdirSync(join(folder, 'mine'))
  const made = spawnSync(process.execPath, [CLI, 'keys', 'generate', '--dir', join(folder, 'keys')])
  expect(made.status).toBe(0)
  const publicKeys = readdirSync(join(folder, 'keys')).filter((name) => name.endsWith('.public.pem'))
  const keys = publicKeys.map((name) => ({
    keyId: name.replace('.public.pem', ''),
    pem: readFileSync(join(folder, 'keys', name), 'utf8'),
  }))
  keyId = keys.find((key) => key.keyId.endsWith('-ed25519'))?.keyId ?? ''
  writeFileSync(join(folder, 'mine', 'keys.json'), JSON.stringify({ keys }))
})

afterAll(() => rmSync(folder, { recursive: true }))

const SIGNED = [
  'trustRecordId',
  'businessTransactionId',
  'transaction',
  'authorization',
  'executions',
  'overrides',
  'createdAt',
]

const toBase64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')

/** Signs a record as one of a batch, whose other leaves are made up. */
function byBatch(record: Tampered, { size, index }: { size: number; index: number }): Tampered {
  const text = canonicalize(Object.fromEntries(SIGNED.map((name) => [name, record[name] as Json])))
  const leaves: Uint8Array[] = Array.from({ length: size }, (_, i) => Buffer.from(`another record ${i}`))
  leaves[index] = preAuthEncoding('trust-record', text)
  const tree = buildTree(
    leaves.map((leaf) => leafHash(leaf, sha256)),
    sha256,
  )
  const head = Buffer.from(`${ORIGIN}\n${size}\n${toBase64(tree.root)}\n`)
  const key = createPrivateKey(readFileSync(join(folder, 'keys', `${keyId}.private.pem`)))
  const batch = { origin: ORIGIN, size, index, path: tree.path(index).map(toBase64) }
  const value = toBase64(sign(null, head, key))
  return {
    ...record,
    trustRecordHash: sha256Hex(text),
    signature: { algorithm: 'ed25519-batch', keyId, value, signedAt: record.createdAt, batch },
  }
}

/** Reads what the script prints as it is shown: the verdict of openssl, or the last line of what Python says. */
function checked(record: Tampered): string {
  writeFileSync(join(folder, 'mine', 'record.json'), JSON.stringify(record))
  const { stdout, stderr } = spawnSync('sh', ['-e', '-c', SHOWN.join('\n')], {
    cwd: folder,
    encoding: 'utf8',
    env: bundledEnvironment,
  })
  return stdout.trim() || (stderr.trim().split('\n').at(-1) ?? '')
}

test('the check is one script, with at most 20 lines of Python and one of openssl', () => {
  const [, python = '', rest = ''] = /^python3 - <<'END'\n([^]*)^END\n([^]*)$/m.exec(SHOWN.join('')) ?? []
  expect(SHOWN).toHaveLength(1)
  expect(python.trim().split('\n').length).toBeLessThanOrEqual(20)
  expect(rest.trim().split('\n')).toEqual([expect.stringMatching(/^openssl /)])
})

describe.skipIf(noPython)(`the check${noPython ? ' (skipped: no Python 3.9 here)' : ''}`, () => {
  let record: Tampered

  beforeAll(async () => {
    const parameters = { amount: 42, ﬁ: 'é 😀 / \u2028 \u007f', numbers: [0.1, 1.5e-10, 4.5, -1] }
    record = JSON.parse(await aRecord(openSteps(), aTransaction({ intent: { parameters } })))
  })

  test.each([
    [2, [0, 1]],
    [5, [0, 1, 4]],
    [7, [5, 6]],
  ])('verifies a record in a batch of %i, at the places %j', (size, places) => {
    for (const index of places) expect(checked(byBatch(record, { size, index }))).toBe(VERIFIED)
  })

  test.each<[string, (signed: Tampered) => void, string]>([
    ['its content', (signed) => (signed.createdAt = '2026-11-21T01:00:00.000Z'), 'another record'],
    ['its index', (signed) => (signed.signature.batch.index = 2), 'Failure'],
    ['an index of the size', (signed) => (signed.signature.batch.index = 5), 'not a place in a batch'],
    ['its size', (signed) => (signed.signature.batch.size = 6), 'Failure'],
    ['its origin', (signed) => (signed.signature.batch.origin = `x${ORIGIN}`), 'Failure'],
    ['a line in its origin', (signed) => (signed.signature.batch.origin = `x\n${ORIGIN}`), 'not a place'],
    [
      'a hash of its path',
      ({ signature }) => (signature.batch.path = signature.batch.path.toReversed()),
      'Failure',
    ],
    ['a longer path', (signed) => signed.signature.batch.path.push(toBase64(sha256(Buffer.of()))), 'path'],
    ['a shorter path', (signed) => signed.signature.batch.path.pop(), 'the path does not fit'],
    [
      'a batch of one',
      (signed) => Object.assign(signed.signature.batch, { size: 1, index: 0, path: [] }),
      'not a place',
    ],
    ['its signature', (signed) => (signed.signature.value = toBase64(Buffer.alloc(64))), 'Failure'],
    ['its algorithm', (signed) => (signed.signature.algorithm = 'ed25519'), 'not signed by batch'],
  ])('refuses a record with %s changed', (_, change, problem) => {
    const signed = structuredClone(byBatch(record, { size: 5, index: 1 }))
    change(signed)
    expect(checked(signed)).toContain(problem)
  })

  test('stops at numbers that Python writes in another way', () => {
    const small = structuredClone(record)
    small.transaction.intent.parameters.numbers = [0.00001]
    expect(checked(byBatch(small, { size: 2, index: 0 }))).toContain('not canonical JSON')
  })
})
