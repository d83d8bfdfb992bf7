// The path of one artifact tells nothing about its neighbours but hashes of leaves that nobody can guess.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { signedMessage } from '../../src/formats/merkle/batch-head.ts'
import { sha256 } from '../../src/store/sha256.ts'
import type { Signature } from '../../src/core/signing/signature.ts'
import type { SignedArtifact } from '../../src/formats/artifacts/evidence.ts'
import { openSteps } from '../pipeline/thread.ts'
import { aTransaction } from '../transactions.ts'
import { recordsOf, type Tampered } from '../verifier/saved.ts'

/** The signed members of one artifact, one of its signatures by batch, and the member that makes its leaf unlike any other. */
type LeafOf = (record: Tampered) => { signed: Json; signature: Signature; random: string }

/** Undefined for what is never signed by batch. */
const LEAVES: Readonly<Record<SignedArtifact, LeafOf | undefined>> = {
  'trust-record': (record) => ({
    signed: without(record, 'trustRecordHash', 'signature', 'signatures', 'verifications', 'receipts'),
    signature: record.signature,
    random: record.trustRecordId,
  }),
  'execution-authorization': ({ authorization: { payload, signature: value, ...by } }) => ({
    signed: payload,
    signature: { ...by, value },
    random: payload.nonce,
  }),
  receipt: ({ receipts: [receipt] }) => ({
    signed: without(receipt, 'signature', 'signatures'),
    signature: receipt.signatures[1],
    random: receipt.receiptId,
  }),
  'refusal-record': undefined,
  'audit-event': undefined,
  'governance-change': undefined,
  'intent-transition': undefined,
  'provider-confirmation': undefined,
  approval: undefined,
  'approval-request': undefined,
  'approval-request-close': undefined,
  'approval-request-note': undefined,
  'step-up': undefined,
}

const ARTIFACTS = Object.entries(LEAVES) as [SignedArtifact, LeafOf | undefined][]
const HASHING = {
  sha256,
  fromBase64: (text: string) => Buffer.from(text, 'base64'),
  toBase64: (bytes: Uint8Array) => Buffer.from(bytes).toString('base64'),
}

test.each(ARTIFACTS)('a %s is signed by batch only if its leaf is known here', (artifact, leafOf) => {
  const batch = {
    origin: `countersign/batch/${randomUUID()}`,
    size: 2,
    index: 0,
    path: [Buffer.alloc(32).toString('base64')],
  }
  const accepted = ['ed25519-batch', 'ml-dsa-65-batch'].filter((algorithm) => {
    try {
      return signedMessage(artifact, new Uint8Array(), { algorithm, batch }, HASHING).length > 0
    } catch {
      return false
    }
  })
  expect(accepted.length > 0).toBe(leafOf !== undefined)
})

// proves abuse: A guess at a neighbour
test('each leaf holds at least 122 random bits that the service drew', async () => {
  const steps = openSteps(['ed25519', 'ml-dsa-65'])
  // One transaction every time: what its caller says is no secret.
  const transaction = aTransaction()
  const records = await recordsOf(
    steps,
    Array.from({ length: 64 }, () => transaction),
  )
  for (const [artifact, leafOf] of ARTIFACTS) {
    if (leafOf === undefined) continue
    const leaves = records.map((text) => leafOf(JSON.parse(text)))
    for (const { signed, signature } of leaves) {
      expect(signature.batch?.size).toBe(64)
      expect(steps.crypto.verifySignature(artifact, canonicalize(signed), signature)).toBe(true)
    }
    expect(bothWays(leaves.map(({ random }) => bitsOf(random))), artifact).toBeGreaterThanOrEqual(122)
  }
})

function without(members: { readonly [name: string]: Json }, ...names: readonly string[]): Json {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !names.includes(name)))
}

/** Reads the bits of a UUID, or of base64url. */
function bitsOf(text: string): bigint {
  const hex = /^[0-9a-f-]{36}$/.test(text)
    ? text.replaceAll('-', '')
    : Buffer.from(text, 'base64url').toString('hex')
  return BigInt(`0x${hex}`)
}

/** How many bits are 0 in some of the numbers and 1 in others. A random bit is the same in 64 once in 2^63. */
function bothWays(numbers: readonly bigint[]): number {
  const [some, all] = [numbers.reduce((a, b) => a | b), numbers.reduce((a, b) => a & b)]
  return (some ^ all).toString(2).replaceAll('0', '').length
}
