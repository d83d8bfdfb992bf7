// Signatures by batch: what the service's libraries and the verifier's accept, and what both refuse.
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import type { BatchPosition } from '../../src/formats/merkle/batch-head.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'
import { publicKeyJson } from '../../src/core/signing/published.ts'
import {
  openSignatureMemo,
  signTogether,
  verifySignature,
  type Signature,
} from '../../src/core/signing/signature.ts'
import { cryptoOf } from '../../src/formats/verifier/crypto.ts'
import type { SignedArtifact } from '../../src/formats/artifacts/evidence.ts'
import { readKeySet } from '../../src/formats/verifier/keys.ts'
import { openSteps } from '../pipeline/thread.ts'

const { receiptKeys } = openSteps(['ed25519', 'ml-dsa-65'])
const verifier = cryptoOf(readKeySet({ keys: receiptKeys.map((key) => ({ ...publicKeyJson(key.public) })) }))

const textsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => `{"n":${i},"é":"${randomBytes(8).toString('hex')}"}`)

function together(
  artifact: SignedArtifact,
  texts: readonly string[],
  keys: readonly SigningKey[],
  batchSignatures = true,
) {
  return signTogether(artifact, texts, keys, {
    batchSignatures,
    originName: 'countersign.example',
    newId: randomUUID,
    signatureMemo: openSignatureMemo(),
  })
}

/** Whether it holds, to the service and to the verifier, which must say the same. */
function holds(artifact: SignedArtifact, text: string, signature: Signature): boolean {
  const key = receiptKeys.find(({ public: { keyId } }) => keyId === signature.keyId)
  const byService = key !== undefined && verifySignature(artifact, text, signature, key.public)
  let byVerifier: boolean | undefined
  try {
    byVerifier = verifier.verifySignature(artifact, text, signature) ?? false
  } catch {
    byVerifier = false
  }
  expect(byVerifier).toBe(byService)
  return byService
}

test('one text, or batches switched off: each text has a signature of its own', async () => {
  for (const [count, batchSignatures] of [
    [0, true],
    [1, true],
    [3, false],
  ] as const) {
    const texts = textsOf(count)
    const signatures = await together('trust-record', texts, receiptKeys, batchSignatures)
    expect(signatures).toHaveLength(count)
    for (const [i, each] of signatures.entries()) {
      expect(each.map(({ algorithm }) => algorithm)).toEqual(['ed25519', 'ml-dsa-65'])
      for (const one of each) {
        expect(one).not.toHaveProperty('batch')
        expect(holds('trust-record', texts[i] as string, one)).toBe(true)
      }
    }
  }
})

test.each([2, 3, 7, 8, 33])(
  '%s texts share one signature of each key, and each has its place',
  async (count) => {
    const texts = textsOf(count)
    const signatures = await together('trust-record', texts, receiptKeys)
    expect(new Set(signatures.flat().map(({ value }) => value)).size).toBe(2)
    const places = signatures.map(([first]) => first?.batch)
    expect(places).toMatchObject(texts.map((_, index) => ({ index, size: count })))
    for (const [i, each] of signatures.entries())
      for (const one of each) {
        expect(holds('trust-record', texts[i] as string, one)).toBe(true)
        expect(holds('trust-record', texts[(i + 1) % count] as string, one)).toBe(false)
      }
  },
)

test('a fault while a head is signed is noticed before anything is handed out', async () => {
  const [key] = receiptKeys as [SigningKey]
  const faulty = {
    ...key,
    sign: (message: Buffer) =>
      Buffer.from((key.sign(message) as Buffer).map((byte, i) => (i === 9 ? byte ^ 1 : byte))),
  }
  await expect(together('trust-record', textsOf(2), [faulty])).rejects.toThrow('does not verify')
})

const KINDS: readonly (readonly [SignedArtifact, 'ed25519' | 'ml-dsa-65', boolean])[] = [
  ['trust-record', 'ed25519', true],
  ['trust-record', 'ml-dsa-65', true],
  ['execution-authorization', 'ed25519', true],
  ['execution-authorization', 'ml-dsa-65', false],
  ['receipt', 'ed25519', false],
  ['receipt', 'ml-dsa-65', true],
  ['refusal-record', 'ed25519', false],
  ['audit-event', 'ed25519', false],
  ['governance-change', 'ed25519', false],
  ['intent-transition', 'ed25519', false],
  ['provider-confirmation', 'ed25519', false],
]
test.each(KINDS)('a %s signed by an %s batch: %s', async (artifact, algorithm, allowed) => {
  const keys = receiptKeys.filter((key) => key.public.algorithm === algorithm)
  const [text] = textsOf(1) as [string]
  const signatures = await together(artifact, [text, ...textsOf(2)], keys)
  const [signature] = signatures[0] as [Signature]
  expect(signature.algorithm).toBe(`${algorithm}-batch`)
  expect(holds(artifact, text, signature)).toBe(allowed)
})

describe.each(receiptKeys)('refused of a batch by $public.algorithm', (key) => {
  const other = receiptKeys.find((one) => one !== key) as SigningKey
  const CHANGES: readonly (readonly [string, (signature: Signature, batch: BatchPosition) => object])[] = [
    ['another size', (_, batch) => ({ batch: { ...batch, size: batch.size + 1 } })],
    ['a size of 1', (_, batch) => ({ batch: { ...batch, size: 1, index: 0, path: [] } })],
    ['a size that is no number', (_, batch) => ({ batch: { ...batch, size: String(batch.size) } })],
    ['a size beyond 2^53', (_, batch) => ({ batch: { ...batch, size: 2 ** 53 } })],
    ['another index', (_, batch) => ({ batch: { ...batch, index: batch.index ^ 1 } })],
    ['an index of the size', (_, batch) => ({ batch: { ...batch, index: batch.size } })],
    ['a negative index', (_, batch) => ({ batch: { ...batch, index: -1 } })],
    ['half an index', (_, batch) => ({ batch: { ...batch, index: 0.5 } })],
    [
      'another origin',
      (_, batch) => ({
        batch: { ...batch, origin: batch.origin.replace(/.$/, (c) => (c === '0' ? '1' : '0')) },
      }),
    ],
    ['an origin without batch', (_, batch) => ({ batch: { ...batch, origin: 'countersign' } })],
    ['an origin with a line break', (_, batch) => ({ batch: { ...batch, origin: `x\n${batch.origin}` } })],
    ['a short path', (_, batch) => ({ batch: { ...batch, path: batch.path.slice(1) } })],
    ['a long path', (_, batch) => ({ batch: { ...batch, path: [...batch.path, batch.path[0]] } })],
    ['an empty path', (_, batch) => ({ batch: { ...batch, path: [] } })],
    ['no path', (_, { path: _path, ...batch }) => ({ batch })],
    ['a path in another order', (_, batch) => ({ batch: { ...batch, path: batch.path.toReversed() } })],
    [
      'a hash in base64url',
      (_, batch) => ({
        batch: {
          ...batch,
          path: [Buffer.from(batch.path[0] ?? '', 'base64').toString('base64url'), ...batch.path.slice(1)],
        },
      }),
    ],
    [
      'a hash of 31 bytes',
      (_, batch) => ({
        batch: { ...batch, path: [Buffer.alloc(31).toString('base64'), ...batch.path.slice(1)] },
      }),
    ],
    ['a further member', (_, batch) => ({ batch: { ...batch, root: batch.path[0] } })],
    ['no batch', () => ({ batch: undefined })],
    ['a batch of null', () => ({ batch: null })],
    ['the plain name', ({ algorithm }) => ({ algorithm: algorithm.replace('-batch', '') })],
    [
      'the plain name and no batch',
      ({ algorithm }) => ({ algorithm: algorithm.replace('-batch', ''), batch: undefined }),
    ],
    ["the other algorithm's name", () => ({ algorithm: `${other.public.algorithm}-batch` })],
    ["the other key's name", () => ({ keyId: other.public.keyId })],
    ['an unknown algorithm', () => ({ algorithm: 'ed25519-batch-batch' })],
    ['a longer value', ({ value }) => ({ value: `${value}=` })],
  ]
  test.each(CHANGES)('%s', async (_, change) => {
    const texts = textsOf(5)
    const [text] = texts as [string]
    const signatures = await together('trust-record', texts, [key])
    const [signature] = signatures[0] as [Signature]
    expect(holds('trust-record', text, signature)).toBe(true)
    const changed = Object.assign({ ...signature }, change(signature, signature.batch as BatchPosition))
    expect(holds('trust-record', text, changed)).toBe(false)
  })

  test('the head of another batch, and a path of it', async () => {
    const [texts, others] = [textsOf(4), textsOf(4)]
    const [[[mine]], [[theirs]]] = [
      await together('trust-record', texts, [key]),
      await together('trust-record', others, [key]),
    ] as [[[Signature]], [[Signature]]]
    const [text] = texts as [string]
    expect(holds('trust-record', text, { ...mine, value: theirs.value })).toBe(false)
    expect(holds('trust-record', text, theirs)).toBe(false)
    const batch = { ...(mine.batch as BatchPosition), origin: theirs.batch?.origin ?? '' }
    expect(holds('trust-record', text, { ...mine, batch, value: theirs.value })).toBe(false)
  })
})
