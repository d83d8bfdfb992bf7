// The checks of a record (decisions §4 "Verification"): each is seen to fail, alone where that is possible, on records of real services.
// Most tampering is an insider's, who can hash and sign again: what then still fails is the binding itself.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import {
  readPublicKeys,
  readSigningKeys,
  type PublicKey,
  type SigningKeys,
} from '../../src/core/signing/keys.ts'
import type { Algorithm } from '../../src/formats/schemas/signature.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { sign, signEd25519, type Signature } from '../../src/core/signing/signature.ts'
import type { Crypto } from '../../src/formats/artifacts/evidence.ts'
import { checkTrustRecord } from '../../src/formats/artifacts/trust-record.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { expectEvidence, publishedCrypto } from '../evidence.ts'
import { startService, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tampering reaches anywhere
type Tampered = any

interface Source {
  readonly service: TestService
  readonly published: ReadonlyMap<string, PublicKey>
  readonly crypto: Crypto
  readonly keys: SigningKeys
  /** Two records of it; nobody changes them. */
  readonly record: Tampered
  readonly other: Tampered
}

let database: TestDatabase
let ed25519: Source
let mlDsa65: Source
let hybrid: Source

beforeAll(async () => {
  database = await createDatabase()
  ;[ed25519, mlDsa65, hybrid] = await Promise.all([
    aSource(['ed25519']),
    aSource(['ml-dsa-65']),
    aSource(['ed25519', 'ml-dsa-65']),
  ])
})
afterAll(async () => {
  for (const { service } of [ed25519, mlDsa65, hybrid]) expect(await service.stop()).toBe(0)
  await database.drop()
})

async function aSource(algorithms: Algorithm[]): Promise<Source> {
  const env = { RECEIPT_ALGORITHMS: algorithms.join(',') }
  const service = await startService({ databaseUrl: database.url, env })
  const post = async () => (await service.post('/execute', aTransaction())).body
  const { signingKeyDir } = service
  const published = readPublicKeys(signingKeyDir)
  return {
    service,
    published,
    crypto: publishedCrypto(published),
    keys: readSigningKeys(signingKeyDir, algorithms),
    record: await post(),
    other: await post(),
  }
}

/** The names of the checks that fail on a changed copy. */
async function failing(
  { record, other, crypto, keys }: Source,
  change: (copy: Tampered, other: Tampered) => unknown,
  redo: 'nothing' | 'hash' | 'hash and signature' = 'nothing',
): Promise<string[]> {
  const copy = structuredClone(record)
  await change(copy, structuredClone(other))
  if (redo !== 'nothing') await seal(copy, redo, keys)
  const checks = checkTrustRecord(copy, crypto)
  expect(checks).toHaveLength(6)
  return checks.filter(({ problem }) => problem !== undefined).map(({ name }) => name)
}

async function seal(copy: Tampered, redo: 'hash' | 'hash and signature', keys: SigningKeys): Promise<void> {
  const {
    trustRecordHash: _,
    signature,
    signatures: __,
    verifications: ___,
    receipts: ____,
    ...signed
  } = copy
  copy.trustRecordHash = sha256Hex(canonicalize(signed))
  if (redo === 'hash') return
  const [first, ...more] = await sign('trust-record', canonicalize(signed), keys.receipt)
  copy.signature = { ...signature, ...first }
  if (more.length > 0) copy.signatures = [first, ...more]
}

const flipped = (text: string) => (text.startsWith('A') ? `B${text.slice(1)}` : `A${text.slice(1)}`)

test('records of every configuration hold, with their verification and receipt', () => {
  for (const { record, published } of [ed25519, mlDsa65, hybrid]) expectEvidence(record, published)
  expect(mlDsa65.record).toMatchObject({
    signature: { algorithm: 'ml-dsa-65' },
    authorization: { algorithm: 'ed25519' },
    receipts: [{ algorithm: 'ml-dsa-65' }],
  })
  expect(hybrid.record).toMatchObject({
    signature: { algorithm: 'ed25519' },
    requiredAlgorithms: ['ed25519', 'ml-dsa-65'],
    receipts: [{ requiredAlgorithms: ['ed25519', 'ml-dsa-65'], signatures: [{}, {}] }],
  })
})

describe('hash and signature', () => {
  test('another hash', async () => {
    expect(await failing(ed25519, (r) => (r.trustRecordHash = sha256Hex('')))).toEqual(['canonical hash'])
    expect(await failing(ed25519, (r) => (r.trustRecordHash = r.trustRecordHash.toUpperCase()))).toEqual([
      'canonical hash',
    ])
    expect(await failing(ed25519, (r, other) => (r.trustRecordHash = other.trustRecordHash))).toEqual([
      'canonical hash',
    ])
  })

  test.each<[string, (copy: Tampered, other: Tampered) => unknown]>([
    ['another value', (r) => (r.signature.value = flipped(r.signature.value))],
    ['no value', (r) => (r.signature.value = '')],
    ['another text of the same bytes', (r) => (r.signature.value = r.signature.value.replaceAll('=', ''))],
    ['an unknown key', (r) => (r.signature.keyId = '20200101T000000Z-ed25519')],
    ['a key that is a path', (r) => (r.signature.keyId = `./${r.signature.keyId}`)],
    ['another algorithm', (r) => (r.signature.algorithm = 'ml-dsa-65')],
    ['the signature of another record', (r, other) => (r.signature = other.signature)],
    [
      'the signature of another artifact',
      (r) => (r.signature = { ...r.signature, value: r.authorization.signature }),
    ],
    ['a signature too many', (r) => (r.signatures = [r.signature])],
    ['no signature', (r) => delete r.signature],
  ])('%s', async (_, change) => {
    expect(await failing(ed25519, change)).toEqual(['record signature'])
  })

  test.each<[string, (copy: Tampered, other: Tampered) => unknown]>([
    ['another value', (r) => (r.signature.value = flipped(r.signature.value))],
    ['another algorithm', (r) => (r.signature.algorithm = 'ed25519')],
    ['the signature of another record', (r, other) => (r.signature = other.signature)],
  ])('ml-dsa-65: %s', async (_, change) => {
    expect(await failing(mlDsa65, change)).toEqual(['record signature'])
  })

  test('everything that is signed: a change of any value anywhere is seen, with the hash corrected too', async () => {
    const { record } = ed25519
    const unsigned = ['trustRecordHash', 'signature', 'verifications', 'receipts']
    for (const path of pathsOf(record).filter(([first]) => !unsigned.includes(String(first)))) {
      for (const value of [null, [], {}, 'x', 7, true, undefined] as const) {
        if (JSON.stringify(at(record, path)) === JSON.stringify(value)) continue
        const failed = await failing(ed25519, (r) => put(r, path, value), 'nothing')
        expect(failed, path.join('.')).toEqual(expect.arrayContaining(['canonical hash', 'record signature']))
      }
      expect(await failing(ed25519, (r) => put(r, path, 'x'), 'hash'), path.join('.')).toContain(
        'record signature',
      )
    }
  })

  test('signedAt is informative', async () => {
    expect(await failing(ed25519, (r) => (r.signature.signedAt = 'x'))).toEqual([])
  })
})

describe('the authorization', () => {
  test.each<[string, (copy: Tampered, other: Tampered) => unknown]>([
    ['another signature', ({ authorization: a }) => (a.signature = flipped(a.signature))],
    ['an unknown key', ({ authorization: a }) => (a.keyId = '20200101T000000Z-ed25519')],
    ['another algorithm', ({ authorization: a }) => (a.algorithm = 'ml-dsa-65')],
    [
      'the signature of another',
      ({ authorization: a }, other) => (a.signature = other.authorization.signature),
    ],
    ['the signature of another artifact', (r) => (r.authorization.signature = r.signature.value)],
  ])('signature: %s', async (_, change) => {
    expect(await failing(ed25519, change, 'hash and signature')).toEqual(['authorization signature'])
  })

  test.each<[string, string[]]>([
    ['version', []],
    ['nonce', []],
    ['authorizedAt', []],
    ['expiresAt', []],
    ['businessTransactionId', ['transaction binding']],
    ['businessTransactionHash', ['transaction binding']],
    ['signalsHash', ['transaction binding']],
    ['callerId', ['transaction binding']],
    ['authorizationId', ['decision binding']],
    ['decisionId', ['decision binding']],
    ['policyName', ['decision binding']],
    ['policyVersion', ['decision binding']],
    ['policyContentHash', ['decision binding']],
  ])('payload.%s', async (member, bindings) => {
    const change = (r: Tampered) => (r.authorization.payload[member] = 'x')
    expect(await failing(ed25519, change, 'hash and signature')).toEqual([
      'authorization signature',
      ...bindings,
    ])
    // Signed anew it is a true authorization, of something else.
    const resigned = (r: Tampered) => {
      change(r)
      const payload = canonicalize(r.authorization.payload)
      const { value } = signEd25519('execution-authorization', payload, ed25519.keys.ed25519)
      r.authorization.signature = value
    }
    expect(await failing(ed25519, resigned, 'hash and signature')).toEqual(bindings)
  })

  test('every member of the payload is in that list', () => {
    expect(Object.keys(ed25519.record.authorization.payload)).toHaveLength(13)
  })
})

describe('bindings', () => {
  test.each<[string, (copy: Tampered, other: Tampered) => unknown, string[]]>([
    [
      'the authorization of another record',
      (r, other) => (r.authorization = other.authorization),
      ['transaction binding', 'decision binding'],
    ],
    [
      'the decision of another record',
      (r, other) => (r.executions[0].decision = other.executions[0].decision),
      ['decision binding'],
    ],
    [
      'the execution of another record',
      (r, other) => (r.executions = other.executions),
      ['transaction binding', 'decision binding'],
    ],
    [
      'an execution of another record beside its own',
      (r, other) => r.executions.push(other.executions[0]),
      ['transaction binding', 'decision binding'],
    ],
    [
      'the transaction of another record',
      (r, other) => (r.transaction = other.transaction),
      ['transaction binding', 'decision binding'],
    ],
    [
      'the id of another record',
      (r, other) => (r.businessTransactionId = other.businessTransactionId),
      ['transaction binding'],
    ],
    ['no execution', (r) => (r.executions = []), ['decision binding']],
    [
      'another signal',
      (r) => (r.transaction.signals.amount = 41),
      ['transaction binding', 'decision binding'],
    ],
    [
      'another signal in the decision only',
      (r) => (r.executions[0].decision.signals.amount = 41),
      ['decision binding'],
    ],
    ['other parameters', (r) => (r.transaction.intent.parameters.amount = 41), ['transaction binding']],
    [
      'other parameters in the evidence',
      (r) => (r.executions[0].evidence.parameters.amount = 41),
      ['transaction binding'],
    ],
    ['another target', (r) => (r.transaction.intent.target = 'x'), ['transaction binding']],
    [
      'another action in the evidence',
      (r) => (r.executions[0].evidence.action = 'x'),
      ['transaction binding'],
    ],
    ['another submitter', (r) => (r.transaction.metadata.submittedBy = 'x'), ['transaction binding']],
    ['another policy', (r) => (r.transaction.policy.version = '2.0.0'), ['decision binding']],
    ['another outcome', (r) => (r.executions[0].decision.outcome = 'REJECTED'), ['decision binding']],
    ['another intent', (r) => (r.transaction.intent.intentId = crypto.randomUUID()), ['decision binding']],
    [
      'another authorization named',
      (r) => (r.executions[0].metadata.authorizationId = crypto.randomUUID()),
      ['decision binding'],
    ],
  ])('%s', async (_, change, bindings) => {
    expect(await failing(ed25519, change, 'hash and signature')).toEqual(bindings)
    expect(await failing(ed25519, change, 'hash')).toEqual(['record signature', ...bindings])
  })
})

describe('a hybrid record', () => {
  test.each<[string, (copy: Tampered) => unknown, string[]?]>([
    ['its second signature stripped', (r) => r.signatures.pop()],
    ['its first signature stripped', (r) => r.signatures.shift()],
    ['the weaker one twice', (r) => (r.signatures[1] = r.signatures[0])],
    ['the same one twice and no more', (r) => (r.signatures = [r.signatures[1], r.signatures[1]])],
    ['its signatures in another order', (r) => (r.signatures = r.signatures.toReversed())],
    ['a third signature', (r) => r.signatures.push(r.signatures[0])],
    ['no list of signatures', (r) => delete r.signatures],
    ['its first signature spoiled', (r) => (r.signatures[0].value = flipped(r.signatures[0].value))],
    ['its second signature spoiled', (r) => (r.signatures[1].value = flipped(r.signatures[1].value))],
    ['`signature` another one than the first', (r) => (r.signature.value = flipped(r.signature.value))],
    ['`signature` the second one', (r) => (r.signature = { ...r.signature, ...r.signatures[1] })],
    ['nothing required', (r) => delete r.requiredAlgorithms, ['canonical hash', 'record signature']],
    [
      'nothing required and one signature',
      (r) => {
        delete r.requiredAlgorithms
        delete r.signatures
      },
      ['canonical hash', 'record signature'],
    ],
    [
      'one required',
      (r) => {
        r.requiredAlgorithms.pop()
        r.signatures.pop()
      },
      ['canonical hash', 'record signature'],
    ],
    [
      'one required twice',
      (r) => {
        r.requiredAlgorithms[1] = 'ed25519'
        r.signatures[1] = r.signatures[0]
      },
      ['canonical hash', 'record signature'],
    ],
  ])('%s', async (_, change, failed = ['record signature']) => {
    expect(await failing(hybrid, change)).toEqual(failed)
  })
})

test('verified signals are a claim that nothing here can check', async () => {
  const changed = await failing(
    ed25519,
    (r) => (r.executions[0].decision.verifiedSignals = { approved: { value: true, by: 'approval' } }),
    'hash and signature',
  )
  expect(changed).toEqual(['approvals'])
})

test('an authorization is signed by Ed25519, whatever else is published', async () => {
  const resigned = async (r: Tampered) => {
    const [signature] = await sign(
      'execution-authorization',
      canonicalize(r.authorization.payload),
      mlDsa65.keys.receipt,
    )
    const { algorithm, keyId, value } = signature as Signature
    r.authorization = { ...r.authorization, algorithm, keyId, signature: value }
  }
  expect(await failing(mlDsa65, resigned, 'hash and signature')).toEqual(['authorization signature'])
})

describe('what is no record', () => {
  test.each<[string, Json]>([
    ['null', null],
    ['a list', []],
    ['a list of records', [{}]],
    ['text', 'record'],
    ['an empty object', {}],
  ])('%s fails every check and throws nothing', (_, evidence) => {
    expect(checkTrustRecord(evidence, ed25519.crypto).map(({ problem }) => typeof problem)).toEqual(
      Array(6).fill('string'),
    )
  })

  test('anything in place of anything throws nothing, in a hybrid record too', async () => {
    for (const path of pathsOf(hybrid.record))
      for (const value of [null, [], [null], {}, '', '\ud800', 0, Number.NaN, undefined])
        await failing(hybrid, (r) => put(r, path, value))
  })
})

type Path = readonly (string | number)[]

/** Every place in a value, but the value itself. */
function pathsOf(value: unknown): Path[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, member]) => [
    [key],
    ...pathsOf(member).map((path) => [key, ...path]),
  ])
}

function at(value: Tampered, path: Path): unknown {
  return path.reduce((inner, key) => inner[key], value)
}

function put(value: Tampered, path: Path, member: unknown): void {
  at(value, path.slice(0, -1)) // fails where the path does not lead
  const parent = at(value, path.slice(0, -1)) as Tampered
  parent[path.at(-1) as string] = member
}
