// The offline verifier on evidence of the real pipeline, in all three modes: every check is seen to fail.
import { beforeAll, describe, expect, test } from 'vitest'
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { sign, signEd25519 } from '../../src/core/signing/signature.ts'
import { Unusable, verifyEvidence, verifyFile } from '../../src/formats/verifier/index.ts'
import { anApproval, approvedBy } from '../vectors/approvals.ts'
import { ADVICE, bundle, description, governed } from '../vectors/bundles/plan.ts'
import { put } from '../vectors/edit.ts'
import { governanceCases } from '../vectors/governance-changes.ts'
import { humanKeysJson, keys, publicKeyJson } from '../vectors/keys.ts'
import { flipped, saved, type Saved, type Tampered } from './saved.ts'

const VECTOR_KEYS = [{ keys: Object.values(keys).map(publicKeyJson) }, humanKeysJson()]
/** A change as the published vectors have it. */
const aChange = (id: string) => {
  const found = governanceCases().find((one) => one.id === `governance-change/${id}`)
  if (found === undefined || !('evidence' in found)) throw new Error(`no change ${id}`)
  return found.evidence
}

let ed25519: Saved
let mlDsa65: Saved
let hybrid: Saved

beforeAll(async () => {
  ed25519 = await saved(['ed25519'])
  mlDsa65 = await saved(['ml-dsa-65'])
  hybrid = await saved(['ed25519', 'ml-dsa-65'])
})

type Kind = 'record' | 'receipt' | 'refusal' | 'denial' | 'event'
type Change = (copy: Tampered, other: Tampered) => unknown

/** The checks that fail on a changed copy. A change may be one that the holder of the keys makes. */
async function failing(source: Saved, kind: Kind, change: Change): Promise<string[]> {
  const copy = structuredClone(source[kind])
  await change(copy, structuredClone(source.other))
  const { valid, checks } = verifyEvidence(JSON.stringify(copy), source.keySet)
  const failed = checks.flatMap(({ name, problem }) => (problem === undefined ? [] : [name]))
  expect(valid).toBe(failed.length === 0)
  return failed
}

const RECORD_CHECKS = [
  'canonical hash',
  'record signature',
  'authorization signature',
  'transaction binding',
  'decision binding',
  'approvals',
  'verifications',
  'receipts',
  'members',
]
const REFUSAL_CHECKS = ['refusal hash', 'refusal signature', 'decision binding', 'approvals', 'members']

/** Matches a subject that promises its inclusion in a log. */
const promised = (subject: string): unknown =>
  expect.stringMatching(
    `^${subject} is promised to the log "countersign\\.example/log/1" by \\S+; no proof of inclusion was given\\.$`,
  )

test.each<[Kind, string, string[], unknown[]]>([
  ['record', 'trust-record', RECORD_CHECKS, [promised('Its latest receipt')]],
  ['receipt', 'receipt', ['receipt hash', 'receipt signature', 'members'], [promised('It')]],
  ['refusal', 'refusal-record', REFUSAL_CHECKS, []],
  ['denial', 'refusal-record', REFUSAL_CHECKS, []],
  ['event', 'audit-event', ['event signature', 'members'], []],
])('a genuine %s of every mode is valid, by every check of its kind', (kind, artifact, names, notes) => {
  for (const source of [ed25519, mlDsa65, hybrid]) {
    const evidence = source[kind]
    const report = verifyEvidence(JSON.stringify(evidence), JSON.stringify(source.keySet))
    expect(report.checks).toEqual(names.map((name) => ({ name, problem: undefined })))
    const { trustRecordId, receiptId, refusalRecordId, event } = evidence
    const subject = (trustRecordId ?? receiptId ?? refusalRecordId ?? event?.eventId) as string
    expect(report).toMatchObject({ artifact, subject, valid: true, notes })
    expect(report.notProven.length).toBeGreaterThan(3)
  }
})

test('a bundle whose changes have another diff is valid, and its report says that nobody signed one', () => {
  const edited = put(bundle(governed()), 'changes.1.diff', { added: ['somebody else'] })
  const { verdict, notProven } = verifyEvidence(JSON.stringify(edited), VECTOR_KEYS, { log: description })
  expect(verdict).toBe('valid')
  expect(notProven).toContainEqual(expect.stringContaining('the diff of a governance change'))
})

const used = (source: Saved, kind: Kind) =>
  verifyEvidence(JSON.stringify(source[kind]), source.keySet).keys.map(({ algorithm }) => algorithm)

test('a report names the keys that the signatures held by, once each', () => {
  expect(used(ed25519, 'record')).toEqual(['ed25519'])
  expect(used(mlDsa65, 'record')).toEqual(['ml-dsa-65', 'ed25519'])
  expect(used(mlDsa65, 'receipt')).toEqual(['ml-dsa-65'])
  expect(used(hybrid, 'receipt')).toEqual(['ed25519', 'ml-dsa-65'])
})

test('a signature by a key that is not given cannot be checked, and the report names the key', () => {
  for (const kind of ['record', 'receipt', 'refusal', 'event'] as const) {
    const report = verifyEvidence(JSON.stringify(ed25519[kind]), {
      keys: ed25519.keySet.keys.map(({ keyId, pem }) => ({ keyId: `${keyId} `, pem })),
    })
    const { keyId } = ed25519.keys.ed25519.public
    expect(report).toMatchObject({ verdict: 'unchecked', valid: false, keys: [] })
    const missing = report.checks.filter(({ missingKeys }) => missingKeys !== undefined)
    expect(missing.length).toBeGreaterThan(0)
    for (const { problem, missingKeys } of missing) {
      expect(missingKeys).toEqual([keyId])
      expect(problem).toBe(`It cannot be checked: key "${keyId}" is not given.`)
    }
  }
})

// A reader of evidence of a later version must not take it for forged.
test.each<[string, string, () => Tampered]>([
  ['record', 'record signature', () => renamed(ed25519.record, 'signature.algorithm')],
  ['authorization', 'authorization signature', () => renamed(ed25519.record, 'authorization.algorithm')],
  ['receipt', 'receipt signature', () => renamed(ed25519.receipt, 'algorithm')],
  ['refusal', 'refusal signature', () => renamed(ed25519.refusal, 'signature.algorithm')],
  ['audit event', 'event signature', () => renamed(ed25519.event, 'signature.algorithm')],
  ['change', 'change signature', () => renamed(aChange('valid-approved'), 'signature.algorithm')],
  [
    'step-up',
    'step-up authorization',
    () => renamed(aChange('valid-approved'), 'stepUpAuthorization.algorithm'),
  ],
  ['approval', 'approvals', () => approvedBy([renamed(anApproval(), 'algorithm')])],
])('the check of a signature by an unknown algorithm says so: %s', (_, name, evidence) => {
  const { checks } = verifyEvidence(JSON.stringify(evidence()), VECTOR_KEYS)
  const problem = checks.find((one) => one.name === name)?.problem
  expect(problem).toContain("the algorithm 'ed25519-later' is not known")
})

function renamed(evidence: Tampered, path: string): Tampered {
  return put(evidence, path, 'ed25519-later')
}

test('a key inside the evidence verifies nothing: it is one that is not given', async () => {
  const change: Change = (r) => {
    r.keys = ed25519.keySet.keys
    r.signature.jwk = ed25519.keySet.keys[0]?.jwk
    r.signature.keyId = 'own'
  }
  expect(await failing(ed25519, 'record', change)).toEqual(['record signature', 'members'])
})

describe('a record', () => {
  test.each<[string, Change, string[]]>([
    [
      'another hash',
      (r) => (r.trustRecordHash = sha256Hex('')),
      ['canonical hash', 'verifications', 'receipts'],
    ],
    ['another signature', (r) => (r.signature.value = flipped(r.signature.value)), ['record signature']],
    [
      'the signature of its receipt',
      (r) => (r.signature.value = r.receipts[0].signature),
      ['record signature'],
    ],
    [
      'another authorization signature',
      (r) => (r.authorization.signature = flipped(r.authorization.signature)),
      ['canonical hash', 'record signature', 'authorization signature'],
    ],
    [
      'another target',
      (r) => (r.transaction.intent.target = 'x'),
      ['canonical hash', 'record signature', 'transaction binding'],
    ],
    [
      'another outcome',
      (r) => (r.executions[0].decision.outcome = 'REJECTED'),
      ['canonical hash', 'record signature', 'decision binding'],
    ],
    [
      'a verified signal that nothing proves',
      (r) => (r.executions[0].decision.verifiedSignals = { approved: { value: true, by: 'approval' } }),
      ['canonical hash', 'record signature', 'approvals'],
    ],
  ])('with %s fails %j', async (_, change, names) => {
    expect(await failing(ed25519, 'record', change)).toEqual(names)
  })

  test.each<[string, Change, string[]]>([
    [
      "another record's verification",
      (r, other) => r.verifications.push(other.verifications[0]),
      ['verifications'],
    ],
    ['a verification that is none', (r) => r.verifications.push({}), ['verifications']],
    [
      'a verification of unknown status',
      (r) => (r.verifications[0].status = 'FINE'),
      ['verifications', 'receipts'],
    ],
    ['a verification without a time', (r) => delete r.verifications[0].verifiedAt, ['verifications']],
    [
      'a verification of another transaction',
      (r, other) => (r.verifications[0].businessTransactionId = other.businessTransactionId),
      ['verifications'],
    ],
    ['no verifications', (r) => (r.verifications = []), ['receipts']],
    ['no list of verifications', (r) => delete r.verifications, ['verifications', 'receipts']],
    ['the receipted verification FAILED', (r) => (r.verifications[0].status = 'FAILED'), ['receipts']],
    ["another record's receipt", (r, other) => r.receipts.push(other.receipts[0]), ['receipts']],
    ['a changed receipt', (r) => (r.receipts[0].issuedAt = '2020-01-01T00:00:00.000Z'), ['receipts']],
    ['a receipt that is none', (r) => r.receipts.push(null), ['receipts']],
    ['no list of receipts', (r) => delete r.receipts, ['receipts']],
  ])('with %s appended or changed fails %j', async (_, change, names) => {
    for (const source of [ed25519, mlDsa65, hybrid])
      expect(await failing(source, 'record', change)).toEqual(names)
  })

  test('a receipt signed for a verification that is not there fails, though its signature holds', async () => {
    expect(
      await failing(ed25519, 'record', async (r) => {
        r.receipts[0].verificationId = crypto.randomUUID()
        await resealReceipt(r.receipts[0])
      }),
    ).toEqual(['receipts'])
  })

  test('without a receipt is valid, and the report says that there was none', () => {
    const report = verifyEvidence(JSON.stringify({ ...ed25519.record, receipts: [] }), ed25519.keySet)
    expect(report).toMatchObject({ valid: true, notes: ['The record carries no receipt.'] })
  })

  test('a member that nothing signs cannot be checked, and is named', () => {
    const more = Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`x${i + 10}`, 1]))
    const { verdict, checks } = verifyEvidence(
      JSON.stringify({ ...ed25519.record, approvedBy: 'CEO', ...more }),
      ed25519.keySet,
    )
    expect(verdict).toBe('unchecked')
    expect(checks.at(-1)?.problem).toMatch(
      /^It cannot be checked: no signature covers "approvedBy", "x10", .*"x28" and 6 more, and this verifier does not know what is there\. It was added, or takes a newer verifier\.$/,
    )
  })
})

async function resealReceipt(receipt: Tampered): Promise<void> {
  const { signature: _, receiptHash: __, ...hashed } = receipt
  receipt.receiptHash = sha256Hex(canonicalize(hashed))
  const text = canonicalize({ ...hashed, receiptHash: receipt.receiptHash })
  receipt.signature = (await sign('receipt', text, ed25519.keys.receipt))[0]?.value
}

describe('a receipt', () => {
  test.each<[string, Change, string[]]>([
    ['another hash', (r) => (r.receiptHash = sha256Hex('')), ['receipt hash', 'receipt signature']],
    ['another time', (r) => (r.issuedAt = ''), ['receipt hash', 'receipt signature']],
    ['a member more', (r) => (r.note = 1), ['receipt hash', 'receipt signature']],
    ['another signature', (r) => (r.signature = flipped(r.signature)), ['receipt signature']],
    [
      'the signature of the record',
      (r) => (r.signature = ed25519.record.signature.value),
      ['receipt signature'],
    ],
    ['no signature', (r) => delete r.signature, ['receipt signature']],
    ['signatures that it does not require', (r) => (r.signatures = []), ['receipt signature']],
  ])('with %s fails %j', async (_, change, names) => {
    expect(await failing(ed25519, 'receipt', change)).toEqual(names)
  })
})

describe.each<[Kind, string]>([
  ['record', 'record signature'],
  ['receipt', 'receipt signature'],
])('a hybrid %s', (kind, signatureCheck) => {
  test.each<[string, Change]>([
    ['its second signature stripped', (e) => e.signatures.pop()],
    ['its first signature stripped', (e) => e.signatures.shift()],
    ['no list of signatures', (e) => delete e.signatures],
    ['the weaker one twice', (e) => (e.signatures[1] = e.signatures[0])],
    ['its signatures in another order', (e) => (e.signatures = e.signatures.toReversed())],
    ['its first signature spoiled', (e) => (e.signatures[0].value = flipped(e.signatures[0].value))],
    ['its second signature spoiled', (e) => (e.signatures[1].value = flipped(e.signatures[1].value))],
  ])('with %s fails', async (_, change) => {
    expect(await failing(hybrid, kind, change)).toEqual([signatureCheck])
  })

  test('stripped to look like an ordinary one fails by its signature and its hash', async () => {
    const failed = await failing(hybrid, kind, (e) => {
      delete e.requiredAlgorithms
      delete e.signatures
    })
    expect(failed).toHaveLength(2)
    expect(failed).toContain(signatureCheck)
  })
})

test.each<[string, Change]>([
  [
    'an Ed25519 signature under the name of another algorithm',
    async (r) => {
      r.algorithm = 'ml-dsa-65'
      await resealReceipt(r)
    },
  ],
  [
    'a hybrid of one algorithm',
    async (r) => {
      r.requiredAlgorithms = ['ed25519']
      await resealReceipt(r)
      r.signatures = [{ algorithm: r.algorithm, keyId: r.keyId, value: r.signature }]
    },
  ],
])('a receipt with %s fails, whoever signed it', async (_, change) => {
  expect(await failing(ed25519, 'receipt', change)).toEqual(['receipt signature'])
})

describe('a refusal record', () => {
  test.each<[string, Change, string[]]>([
    ['another hash', (r) => (r.refusalRecordHash = sha256Hex('')), ['refusal hash']],
    ['another signature', (r) => (r.signature.value = flipped(r.signature.value)), ['refusal signature']],
    ['a signature by another algorithm', (r) => (r.signature.algorithm = 'ml-dsa-65'), ['refusal signature']],
    ['another submitter', (r) => (r.submittedBy = 'x'), ['refusal hash', 'refusal signature']],
    ['an approving decision', (r) => (r.decision.outcome = 'APPROVED'), REFUSAL_CHECKS.slice(0, 3)],
    ['no decision', (r) => delete r.decision, REFUSAL_CHECKS.slice(0, 4)],
  ])('with %s fails %j', async (_, change, names) => {
    for (const kind of ['refusal', 'denial'] as const)
      expect(await failing(ed25519, kind, change)).toEqual(names)
  })

  test.each<[string, Change]>([
    ['an approving decision', (r) => (r.decision.outcome = 'APPROVED')],
    ['the intent of another', (r) => (r.evaluatedIntent.intentId = crypto.randomUUID())],
    ['no intent id at all', (r) => void (delete r.evaluatedIntent.intentId, delete r.decision.intentId)],
    ['a mismatch of another value', (r) => (r.mismatches[0].declared = 1)],
    ['a mismatch of no known signal', (r) => (r.mismatches[0].signal = 'toString')],
    ['no list of mismatches', (r) => (r.mismatches = {})],
  ])('with %s fails the binding, signed by the service itself', async (_, change) => {
    const resealed: Change = (r, other) => {
      change(r, other)
      const { refusalRecordHash: __, signature: ___, ...body } = r
      r.refusalRecordHash = sha256Hex(canonicalize(body))
      r.signature = signEd25519('refusal-record', canonicalize(body), ed25519.keys.ed25519)
    }
    expect(await failing(ed25519, 'denial', resealed)).toEqual(['decision binding'])
  })
})

test.each<[string, Change]>([
  ['another type', (e) => (e.event.type = 'x')],
  ['another signature', (e) => (e.signature.value = flipped(e.signature.value))],
  ['another algorithm', (e) => (e.signature.algorithm = 'ml-dsa-65')],
  ['an event that is none', (e) => (e.event = 'x')],
  ['no signature', (e) => (e.signature = null)],
  ['the signature of a refusal', (e) => (e.signature = ed25519.refusal.signature)],
])('an audit event with %s is invalid', async (_, change) => {
  expect(await failing(ed25519, 'event', change)).toEqual(['event signature'])
})

test('everything but records and receipts is Ed25519: a true signature by the other key does not do', async () => {
  const mlDsa65Key = hybrid.keys.receipt.slice(1)
  const event: Change = async (e) => {
    ;[e.signature] = await sign('audit-event', canonicalize(e.event), mlDsa65Key)
  }
  const refusal: Change = async (r) => {
    const { refusalRecordHash: _, signature: __, ...body } = r
    ;[r.signature] = await sign('refusal-record', canonicalize(body), mlDsa65Key)
  }
  expect(await failing(hybrid, 'event', event)).toEqual(['event signature'])
  expect(await failing(hybrid, 'refusal', refusal)).toEqual(['refusal signature'])
})

const notes = (id: string) => verifyEvidence(JSON.stringify(aChange(id)), VECTOR_KEYS).notes

test('a step-up whose key is not given is pointed out, and is checked where it is', () => {
  expect(notes('valid-step-up-unchecked')).toEqual([
    'The signature of the step-up authorization was not checked: no key "zoe:step-up" is given.',
    ADVICE,
  ])
  for (const id of ['valid-pending', 'valid-approved', 'valid-key-by-id', 'step-up-by-other'])
    expect(notes(id), id).toEqual([ADVICE])
})

describe('a file of several', () => {
  test('is verified entry by entry', () => {
    const changed = { ...ed25519.other, trustRecordHash: sha256Hex('') }
    const valid = (evidence: object) =>
      verifyFile(JSON.stringify(evidence), ed25519.keySet).map((report) => report.valid)
    expect(valid([ed25519.record, ed25519.other])).toEqual([true, true])
    expect(valid([ed25519.record, changed, ed25519.other])).toEqual([true, false, true])
    expect(valid({ events: [ed25519.event, ed25519.event] })).toEqual([true, true])
    const [change, broken] = [aChange('valid-pending'), aChange('changed-05-reason')]
    const reports = verifyFile(JSON.stringify({ changes: [change, broken, change] }), VECTOR_KEYS)
    expect(reports.map((report) => report.valid)).toEqual([true, false, true])
    expect(valid(ed25519.record)).toEqual([true])
  })

  test.each([
    ['nothing at all', [], 'empty list'],
    ['no events', { events: [] }, 'empty list'],
    ['no changes', { changes: [] }, 'empty list'],
    [
      'no changes beside members of a record',
      { transaction: {}, changes: [] },
      'no signature covers "transaction"',
    ],
  ])('with %s is unusable', (_, evidence, message) => {
    expect(() => verifyFile(JSON.stringify(evidence), ed25519.keySet)).toThrow(message)
  })

  test.each([
    ['of no known kind', {}],
    ['that is a list', []],
  ])('with an entry %s is verified all the same, and that entry cannot be checked', (_, entry) => {
    const changed = { ...ed25519.record, createdAt: 'x' }
    const [none, found] = verifyFile(JSON.stringify([entry, changed]), ed25519.keySet)
    expect(none).toMatchObject({ artifact: 'unknown', verdict: 'unchecked', valid: false, checks: [] })
    expect(none?.notes[0]).toContain('Entry 1 is no evidence')
    expect(found).toMatchObject({ verdict: 'invalid' })
  })

  test('is none when it is evidence itself: a list of valid events hides no changed record', () => {
    const changed = { ...ed25519.record, createdAt: 'x', events: [ed25519.event] }
    const [report, ...more] = verifyFile(JSON.stringify(changed), ed25519.keySet)
    expect(report).toMatchObject({ artifact: 'trust-record', valid: false })
    expect(more).toEqual([])
  })

  test('is not one piece of evidence', () => {
    expect(() => verifyEvidence(JSON.stringify([ed25519.record]), ed25519.keySet)).toThrow(Unusable)
  })
})

const genuine = () => JSON.stringify(ed25519.receipt)

describe('text that is no evidence is unusable:', () => {
  test.each<[string, () => string, string]>([
    ['nothing', () => '', 'not JSON'],
    ['a number', () => '7', 'no evidence of a known kind'],
    ['an object of another kind', () => '{"id":1}', 'no evidence of a known kind'],
    ['an event without a signature', () => '{"event":{}}', 'no evidence of a known kind'],
    ['two kinds in one', () => genuine().replace('{', '{"trustRecordId":"x",'), 'several kinds'],
    ['a BOM', () => `\ufeff${genuine()}`, 'byte order mark'],
    ['a duplicate key', () => genuine().replace('{', '{"receiptId":"x",'), 'duplicate key'],
    ['a __proto__ key', () => genuine().replace('{', '{"__proto__":{},'), '__proto__'],
    ['a lone surrogate', () => genuine().replace('{', String.raw`{"x":"\ud800",`), 'lone surrogate'],
    ['a number out of range', () => genuine().replace('{', '{"x":1e999,'), 'out of range'],
    ['a number that would be read as 0', () => genuine().replace('{', '{"x":1e-999,'), 'out of range'],
    ['a tower of brackets', () => '['.repeat(100_000), 'deeper than'],
  ])('%s', (_, text, message) => {
    expect(() => verifyEvidence(text(), ed25519.keySet)).toThrow(Unusable)
    expect(() => verifyEvidence(text(), ed25519.keySet)).toThrow(message)
  })

  test('but evidence with nothing in it is invalid, by checks that are there', () => {
    for (const text of [
      '{"trustRecordId":1}',
      '{"receiptId":1}',
      '{"refusalRecordId":1}',
      '{"event":1,"signature":1}',
      '{"changeId":1,"changeHash":1,"signature":1}',
      '{"transition":1,"signature":1}',
    ]) {
      const { valid, checks, subject } = verifyEvidence(text, ed25519.keySet)
      expect({ valid, subject }).toEqual({ valid: false, subject: '(no id)' })
      expect(checks.some(({ problem }) => problem !== undefined)).toBe(true)
    }
  })
})
