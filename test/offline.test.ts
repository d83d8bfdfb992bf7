import { spawnSync } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import canonicalize from 'canonicalize'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  checkReceipt,
  checkRefusal,
  checkTrustRecord,
  type Check,
  type PublishedKey,
} from '../demo/verify-offline.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { startService, type Called, type TestService } from './service.ts'
import { aRejectedTransaction, aTransaction } from './transactions.ts'
import { folder as vectors, readCases } from './vectors/published.ts'

// Known difficulties of canonical JSON: order by UTF-16 code units, escapes, and characters that need no escape.
const PARAMETERS = {
  amount: 42,
  'ﬁ before 😀, not after': 1,
  '😀': 'é 😀 / \u2028 \u007f',
  '\n"\\': '\b\f\n\r\t\u0001',
  numbers: [0.1, 1e-7, 1.5e-10, 4.5, -1],
  others: [true, null, [], {}],
}
const ARTIFACTS = ['trust-record', 'receipt', 'refusal-record', 'execution-authorization'] as const

type Artifact = (typeof ARTIFACTS)[number]
type Reply = Called['body']

/** Decisions §4 says that this is signed and hashed of an artifact; it is taken from the reply. */
interface Evidence {
  readonly reply: Reply
  readonly signed: object
  readonly signature: string
  readonly keyId: string
  /** An authorization has none. */
  readonly hash?: { readonly claimed: string; readonly of: object }
}

let folder: string
let database: TestDatabase
let service: TestService
let keys: PublishedKey[]
let evidence: Record<Artifact, Evidence>
const otherKey = generateKeyPairSync('ed25519').publicKey

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  database = await createDatabase()
  service = await startService({ databaseUrl: database.url })
  keys = (await service.get('/.well-known/jwks.json')).body.keys
  evidence = evidenceOf(await replies(service))
})

afterAll(async () => {
  await service.stop()
  await database.drop()
  rmSync(folder, { recursive: true })
})

async function replies(from: TestService): Promise<{ record: Reply; refusal: Reply }> {
  const sent = aTransaction({ intent: { parameters: PARAMETERS } })
  const { body: record } = await from.post('/execute', sent)
  const refused = aRejectedTransaction()
  await from.post('/execute', refused)
  const { body: refusal } = await from.get(`/refusal/${refused.businessTransactionId}`)
  return { record, refusal }
}

function evidenceOf({ record, refusal }: { record: Reply; refusal: Reply }): Record<Artifact, Evidence> {
  const { trustRecordHash, signature: recordSignature, verifications: _, receipts, ...recordSigned } = record
  const [receipt] = receipts
  const { signature: receiptSignature, ...receiptSigned } = receipt
  const { receiptHash, ...receiptHashed } = receiptSigned
  const { refusalRecordHash, signature: refusalSignature, ...refusalSigned } = refusal
  const { payload, keyId, signature } = record.authorization
  return {
    'trust-record': {
      reply: record,
      signed: recordSigned,
      signature: recordSignature.value,
      keyId: recordSignature.keyId,
      hash: { claimed: trustRecordHash, of: recordSigned },
    },
    receipt: {
      reply: receipt,
      signed: receiptSigned,
      signature: receiptSignature,
      keyId: receipt.keyId,
      hash: { claimed: receiptHash, of: receiptHashed },
    },
    'refusal-record': {
      reply: refusal,
      signed: refusalSigned,
      signature: refusalSignature.value,
      keyId: refusalSignature.keyId,
      hash: { claimed: refusalRecordHash, of: refusalSigned },
    },
    'execution-authorization': { reply: record.authorization, signed: payload, signature, keyId },
  }
}

function canonicalBytes(value: object): Buffer {
  return Buffer.from(canonicalize(value) ?? '')
}

function preAuthEncoding(artifact: Artifact, body: Buffer): Buffer {
  const type = `application/vnd.countersign.${artifact}.v1+json`
  return Buffer.concat([Buffer.from(`DSSEv1 ${type.length} ${type} ${body.length} `), body])
}

function withBitFlipped(bytes: Buffer, at: number): Buffer {
  const flipped = Buffer.from(bytes)
  flipped[at] = (flipped[at] ?? 0) ^ 1
  return flipped
}

function file(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

function openssl(...args: string[]): string {
  const { stdout, stderr, error } = spawnSync('openssl', args, { encoding: 'utf8' })
  if (error !== undefined) throw error
  return stdout.trim() || stderr
}

function verify(message: Buffer, signature: Buffer, pem: string): string {
  const files = ['-in', file('message', message), '-sigfile', file('signature', signature)]
  return openssl('pkeyutl', '-verify', '-rawin', '-pubin', '-inkey', file('key.pem', pem), ...files)
}

describe('the openssl command', () => {
  const VERIFIED = 'Signature Verified Successfully'
  const FAILED = 'Signature Verification Failure'

  describe.each(ARTIFACTS)('%s', (artifact) => {
    let body: Buffer
    let message: Buffer
    let signature: Buffer
    let pem: string

    beforeAll(() => {
      const { signed, signature: base64, keyId } = evidence[artifact]
      body = canonicalBytes(signed)
      message = preAuthEncoding(artifact, body)
      signature = Buffer.from(base64, 'base64')
      pem = keys.find((key) => key.keyId === keyId)?.pem ?? ''
    })

    test('verifies', () => {
      expect(verify(message, signature, pem)).toBe(VERIFIED)
    })

    test('does not verify with a bit changed in its first, a middle or its last byte, or in the signature', () => {
      for (const at of [0, body.length >> 1, body.length - 1]) {
        const changed = preAuthEncoding(artifact, withBitFlipped(body, at))
        expect(verify(changed, signature, pem)).toBe(FAILED)
      }
      expect(verify(message, withBitFlipped(signature, 0), pem)).toBe(FAILED)
    })

    test('does not verify as any other artifact', () => {
      for (const other of ARTIFACTS.filter((name) => name !== artifact))
        expect(verify(preAuthEncoding(other, body), signature, pem)).toBe(FAILED)
    })

    test('does not verify with another key', () => {
      const otherPem = otherKey.export({ type: 'spki', format: 'pem' }).toString()
      expect(verify(message, signature, otherPem)).toBe(FAILED)
    })
  })

  test.each(['trust-record', 'receipt', 'refusal-record'] as const)(
    'a %s has the hash it claims',
    (artifact) => {
      const { claimed, of = {} } = evidence[artifact].hash ?? {}
      const [digest] = openssl('dgst', '-sha256', '-r', file('hashed', canonicalBytes(of))).split(' ')
      expect(digest).toBe(claimed)
    },
  )
})

const javaMajor = Number(
  /(\d+)/.exec(spawnSync('java', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[0],
)
const noJava = !(javaMajor >= 17)

describe.skipIf(noJava)(`a one-file Java program${noJava ? ' (skipped: no Java 17 here)' : ''}`, () => {
  const WRONG_HASH = 'the hash does not match'
  const WRONG_SIGNATURE = 'the signature does not match'

  test('verifies every artifact, and none changed, under another name or with another key', () => {
    const [published, others] = [keySetFile('published', keys), keySetFile('others', withOtherKey(keys))]
    const cases = ARTIFACTS.flatMap((artifact, i) => {
      const { reply, hash } = evidence[artifact]
      const text = JSON.stringify(reply)
      const id = reply.businessTransactionId ?? reply.payload.businessTransactionId
      const changed = text.replace(
        id,
        id.replace(/.$/, (digit: string) => (digit === '0' ? '1' : '0')),
      )
      const wrong = hash === undefined ? WRONG_SIGNATURE : WRONG_HASH
      const other = ARTIFACTS[(i + 1) % ARTIFACTS.length] ?? artifact
      return [
        { name: artifact, keySet: published, artifact, text, verdict: 'valid' },
        { name: `${artifact}, changed`, keySet: published, artifact, text: changed, verdict: wrong },
        {
          name: `${artifact} as ${other}`,
          keySet: published,
          artifact: other,
          text,
          verdict: WRONG_SIGNATURE,
        },
        { name: `${artifact}, other key`, keySet: others, artifact, text, verdict: WRONG_SIGNATURE },
      ]
    })
    const args = cases.flatMap(({ keySet, artifact, text }, i) => [keySet, artifact, file(`${i}.json`, text)])
    const program = join(import.meta.dirname, 'offline', 'Verify.java')
    const { stdout, stderr, status } = spawnSync('java', [program, ...args], { encoding: 'utf8' })
    expect(stderr).toBe('')
    const verdicts = stdout.trimEnd().split('\n')
    expect(verdicts.map((verdict, i) => `${cases[i]?.name}: ${verdict}`)).toEqual(
      cases.map(({ name, verdict }) => `${name}: ${verdict}`),
    )
    expect(status).toBe(1)
  })

  test('says of the published vectors of each length what is published of them', () => {
    const SPOILED =
      /\/(signature-)?(valid-ed25519|valid|extended|truncated|twice|zero|first-bit|last-bit|empty)$/
    const cases = (
      [
        ['trust-record', 'trust-records'],
        ['receipt', 'receipts'],
        ['refusal-record', 'refusal-records'],
      ] as const
    ).flatMap(([artifact, name]) =>
      readCases(name).flatMap((one) =>
        'evidence' in one && SPOILED.test(one.id) ? [{ ...one, artifact }] : [],
      ),
    )
    expect(cases.length).toBeGreaterThan(20)
    expect(cases.some(({ valid }) => valid)).toBe(true)
    const args = cases.flatMap((one, i) => [
      join(vectors, 'keys.json'),
      one.artifact,
      file(`vector-${i}.json`, JSON.stringify(one.evidence)),
    ])
    const program = join(import.meta.dirname, 'offline', 'Verify.java')
    const { stdout, stderr } = spawnSync('java', [program, ...args], { encoding: 'utf8' })
    expect(stderr).toBe('')
    const verdicts = stdout.trimEnd().split('\n')
    expect(verdicts.map((verdict, i) => `${cases[i]?.id}: ${verdict === 'valid'}`)).toEqual(
      cases.map(({ id, valid }) => `${id}: ${valid}`),
    )
  })
})

function keySetFile(name: string, set: readonly PublishedKey[]): string {
  return file(`${name}.json`, JSON.stringify({ keys: set }))
}

/** The same key ids, over the same other key. */
function withOtherKey(set: readonly PublishedKey[]): PublishedKey[] {
  const pem = otherKey.export({ type: 'spki', format: 'pem' }).toString()
  return set.map((key) => ({ ...key, pem, jwk: otherKey.export({ format: 'jwk' }) }))
}

const failing = (checks: Check[]) => checks.filter(({ holds }) => !holds).map(({ name }) => name)

describe("the demo's verifier, with two algorithms", () => {
  let record: Reply
  let refusal: Reply
  let otherRecord: Reply

  beforeAll(async () => {
    const { signingKeyDir } = service
    const env = { RECEIPT_ALGORITHMS: 'ed25519,ml-dsa-65' }
    const hybrid = await startService({ databaseUrl: database.url, signingKeyDir, env })
    ;({ record, refusal } = await replies(hybrid))
    ;({ record: otherRecord } = await replies(hybrid))
    await hybrid.stop()
  })

  test('passes sound evidence, with either form of the keys', () => {
    expect(record.signatures).toHaveLength(2)
    for (const set of [keys, keys.map(({ keyId, pem }) => ({ keyId, pem }))]) {
      expect(failing(checkTrustRecord(record, set))).toEqual([])
      expect(failing(checkReceipt(record.receipts[0], record, set))).toEqual([])
      expect(failing(checkRefusal(refusal, set))).toEqual([])
    }
  })

  test('fails everything that a key signs for another key', () => {
    const others = withOtherKey(keys)
    expect(failing(checkTrustRecord(record, others))).toEqual(['signature', 'authorization'])
    expect(failing(checkReceipt(record.receipts[0], record, others))).toEqual(['signature'])
    expect(failing(checkRefusal(refusal, others))).toEqual(['signature'])
  })

  test('fails what is empty', () => {
    expect(failing(checkTrustRecord({}, keys))).toEqual(['hash', 'signature', 'authorization', 'binding'])
    expect(failing(checkReceipt({}, {}, keys))).toEqual(['hash', 'signature', 'record'])
    expect(failing(checkRefusal({}, keys))).toEqual(['hash', 'signature'])
  })

  test.each<[string, () => object, string[]]>([
    ['another hash', () => ({ trustRecordHash: otherRecord.trustRecordHash }), ['hash']],
    ['another signature', () => ({ signature: otherRecord.signature }), ['signature']],
    [
      'a key id that is not published',
      () => ({ signature: { ...record.signature, keyId: 'x' } }),
      ['signature'],
    ],
    ['the weaker half twice', () => ({ signatures: [record.signature, record.signature] }), ['signature']],
    ['one half only', () => ({ signatures: record.signatures.slice(0, 1) }), ['signature']],
    ['the second half of another', () => ({ signatures: spliced() }), ['signature']],
    ['one algorithm required', () => ({ requiredAlgorithms: ['ed25519'] }), ['hash', 'signature']],
    ['no algorithms required', () => ({ requiredAlgorithms: undefined }), ['hash', 'signature']],
    [
      'another authorization',
      () => ({ authorization: otherRecord.authorization }),
      ['hash', 'signature', 'binding'],
    ],
    ['other executions', () => ({ executions: otherRecord.executions }), ['hash', 'signature', 'binding']],
    ['no executions', () => ({ executions: [] }), ['hash', 'signature', 'binding']],
    [
      'another transaction',
      () => ({ transaction: otherRecord.transaction }),
      ['hash', 'signature', 'binding'],
    ],
    ['a number that JSON has not', () => ({ overrides: [Infinity] }), ['hash', 'signature']],
  ])('fails a record with %s', (_, changes, names) => {
    expect(failing(checkTrustRecord({ ...record, ...changes() }, keys))).toEqual(names)
  })

  const spliced = () => [record.signatures[0], otherRecord.signatures[1]]

  test.each<[string, () => object, string[]]>([
    ['another time', () => ({ issuedAt: '2020-01-01T00:00:00.000Z' }), ['hash', 'signature']],
    [
      'the hash of another record',
      () => ({ trustRecordHash: otherRecord.trustRecordHash }),
      ['hash', 'signature', 'record'],
    ],
    ["the record's signature", () => ({ signature: record.signature.value }), ['signature']],
    ['one half only', () => ({ signatures: record.receipts[0].signatures.slice(0, 1) }), ['signature']],
  ])('fails a receipt with %s', (_, changes, names) => {
    expect(failing(checkReceipt({ ...record.receipts[0], ...changes() }, record, keys))).toEqual(names)
  })

  test("fails another record's receipt", () => {
    expect(failing(checkReceipt(otherRecord.receipts[0], record, keys))).toEqual(['record'])
  })

  test.each<[string, () => object, string[]]>([
    ['another hash', () => ({ refusalRecordHash: record.trustRecordHash }), ['hash']],
    ['another caller', () => ({ submittedBy: 'somebody else' }), ['hash', 'signature']],
    ["the record's signature", () => ({ signature: record.signature }), ['signature']],
  ])('fails a refusal with %s', (_, changes, names) => {
    expect(failing(checkRefusal({ ...refusal, ...changes() }, keys))).toEqual(names)
  })
})
