// Maker/checker changes (decisions §7), on changes of policies: what resolves one, and everything that must not.
import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { checkGovernanceChange } from '../../src/formats/artifacts/governance-change.ts'
import {
  aHuman,
  anApprover,
  anEnrolment,
  aStepUp,
  proposed,
  resolved,
  type Change,
  type Human,
} from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { publishedCrypto } from '../evidence.ts'
import { aCaller, reply, until, type Called, type TestService } from '../service.ts'
import { withDatabase } from '../with-service.ts'

const maker = aHuman('maker')
/** Another key of the same human, with a step-up key of its own. */
const makerAgain = aHuman('maker')
const checker = aHuman('checker')
const other = aHuman('other')
const auditor = aCaller('auditor', { allowedCapabilities: [], readAll: true })
/** This human is denied nothing elsewhere here: what one human is denied within a minute is gathered. */
const watched = aHuman('watched')
const keyless = aCaller('keyless', { credentialHolderType: 'USER' })

let database: TestDatabase
let service: TestService
/** A second instance on the same database. */
let second: TestService

withDatabase(async ({ database: made, start }) => {
  database = made
  const options = {
    callers: [maker, makerAgain, checker, other, watched, keyless, auditor].map(({ entry }) => entry),
  }
  service = await start(options)
  second = await start({ ...options, signingKeyDir: service.signingKeyDir, key: service.key })
})

let versions = 0

/** A policy of its own for each change. */
function aDocument(members: object = {}) {
  return {
    policyId: `made-${versions++}`,
    policyVersion: '1.0.0',
    schemaVersion: '1.0.0',
    description: 'Made by a test.',
    capabilities: ['sandbox:echo'],
    signals: { approved: 'boolean' },
    rules: [{ id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved.' }],
    ...members,
  }
}

const pathOf = ({ policyId, policyVersion }: ReturnType<typeof aDocument>) =>
  `/policies/${policyId}/${policyVersion}/pending-changes`

/** A change by `maker` that nobody has resolved. */
function aChange(by = maker): Promise<Change> {
  const document = aDocument()
  return proposed(service, by, pathOf(document), { reason: 'test', proposedContent: document })
}

const place = ({ changeId }: Change, action = '') => `/policies/pending-changes/${changeId}${action}`

function approve(change: Change, stepUpAuthorization: unknown, by: { key: string } = checker) {
  return service.post(place(change, '/approve'), { stepUpAuthorization }, { key: by.key })
}

/** Everything that a refused resolution must leave as it is. */
async function standing(): Promise<unknown> {
  const { rows } = await database.pool.query(`
    SELECT (SELECT json_agg(c ORDER BY change_id) FROM pending_changes c)::text AS changes,
      (SELECT json_agg(n ORDER BY nonce) FROM step_up_nonces n)::text AS nonces,
      (SELECT json_agg(a ORDER BY number) FROM authority a)::text AS authority,
      (SELECT epoch FROM authority_epoch) AS epoch`)
  return rows
}

/** Asks, and sees that nothing was changed or consumed. */
async function refused(
  ask: () => Promise<Called>,
): Promise<{ status: number; code: unknown; error: string }> {
  const before = await standing()
  const { status, body } = await ask()
  expect(await standing()).toEqual(before)
  return { status, code: body.code, error: body.error }
}

const stepUpInvalid = (why: string) => ({
  status: 403,
  code: 'STEP_UP_AUTHORIZATION_INVALID',
  error: `Step-up authorization is invalid: ${why}.`,
})

function expectEvidence(change: Change): void {
  const checks = checkGovernanceChange(
    change as unknown as Json,
    publishedCrypto(readPublicKeys(service.signingKeyDir)),
  )
  expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([])
}

describe('a proposed change', () => {
  test('is what was asked for, signed, and its hash covers what a checker is shown', async () => {
    const document = aDocument()
    const change = await proposed(service, maker, pathOf(document), {
      reason: 'Because.',
      proposedContent: document,
    })
    const { changeId, changeHash, proposedAt, warnings, signature, ...members } = change
    expect(members).toEqual({
      kind: 'policy',
      target: `${document.policyId}/1.0.0`,
      proposed: document,
      reason: 'Because.',
      proposedBy: 'maker',
      status: 'PENDING_APPROVAL',
    })
    const { kind, target, proposed: content, reason, proposedBy } = members
    const shown = { changeId, kind, target, proposed: content, reason, proposedBy, proposedAt }
    expect(changeHash).toBe(sha256Hex(canonicalize(shown as unknown as Json)))
    expect(warnings).toContain("Nothing checks the signal 'approved'; it is the caller's word.")
    expect(signature).toMatchObject({ algorithm: 'ed25519' })
    expectEvidence(change)
  })

  test('is not in effect, for whoever asks', async () => {
    const change = await aChange()
    const [name = '', version = ''] = String(change['target']).split('/')
    expect((await service.get(`/policies/${name}/${version}`)).status).toBe(404)
  })
})

describe('POST /policies/pending-changes/{id}/approve 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test('answers the change as approved, signed anew, with the step-up that approved it', async () => {
    const change = await aChange()
    const stepUpAuthorization = aStepUp(checker, change)
    const { status, body } = await approve(change, stepUpAuthorization)
    expect(status).toBe(200)
    const { signature: _, resolvedAt, ...more } = body
    const { signature: _1, ...before } = change
    expect(more).toEqual({ ...before, status: 'APPROVED', resolvedBy: 'checker', stepUpAuthorization })
    expect(Date.parse(resolvedAt)).toBeLessThan(Date.now() + 1000)
    expectEvidence(body)
    expect((await service.get(place(change), { key: other.key })).body).toEqual(body)
  })

  test('its policy is in effect on this instance before the reply', async () => {
    const change = await aChange()
    expect((await resolved(service, checker, change, 'approve')).status).toBe(200)
    const { body } = await service.get(`/policies/${String(change['target'])}`)
    expect(body).toMatchObject({
      status: 'APPROVED',
      approvedBy: 'checker',
      approvedByChange: change.changeId,
    })
  })

  test('what was proposed stays stored beside it, with its own signature', async () => {
    const change = await aChange()
    await resolved(service, checker, change, 'approve')
    const { rows } = await database.pool.query<{ body: string; seal: string }>(
      'SELECT body, seal FROM pending_changes WHERE change_id = $1',
      [change.changeId],
    )
    const [row] = rows
    expectEvidence({ ...JSON.parse(row?.body ?? ''), ...JSON.parse(row?.seal ?? '') } as Change)
  })

  test('a clock that is a few seconds ahead is taken, and the keyId is informative', async () => {
    const change = await aChange()
    const now = Date.now()
    const authorizedAt = new Date(now + 3_000).toISOString()
    const expiresAt = new Date(now + 123_000).toISOString()
    const stepUp = aStepUp(checker, change, 'approve', { authorizedAt, expiresAt })
    expect((await approve(change, { ...stepUp, keyId: 'yubikey 2' })).status).toBe(200)
  })

  test('the same step-up, refused for its caller, approves for the one who signed it: no refusal burns a nonce', async () => {
    const change = await aChange()
    const stepUp = aStepUp(checker, change)
    expect(await refused(() => approve(change, stepUp, other))).toMatchObject({ status: 403 })
    expect(await refused(() => approve(change, stepUp, maker))).toMatchObject({ status: 403 })
    expect((await approve(change, stepUp)).status).toBe(200)
  })
})

describe('POST /policies/pending-changes/{id}/reject 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test('answers the change as rejected, signed anew, and nothing is in effect', async () => {
    const change = await aChange()
    const { status, body } = await resolved(service, checker, change, 'reject', { rejectionReason: 'No.' })
    expect(status).toBe(200)
    expect(body).toMatchObject({ status: 'REJECTED', resolvedBy: 'checker', rejectionReason: 'No.' })
    expectEvidence(body)
    expect((await service.get(`/policies/${String(change['target'])}`)).status).toBe(404)
  })

  test('the same can be proposed again afterwards', async () => {
    const change = await aChange()
    await resolved(service, checker, change, 'reject', { rejectionReason: 'Not yet.' })
    const again = { reason: 'Now.', proposedContent: change['proposed'] }
    const next = await proposed(
      service,
      maker,
      `/policies/${String(change['target'])}/pending-changes`,
      again,
    )
    expect(next.changeHash).not.toBe(change.changeHash)
  })
})

/** Makes a report as somebody says that they saw it of a change's impact. */
function aReport({ changeId, changeHash }: Change, members: Record<string, Json> = {}) {
  return {
    version: 1,
    changeId,
    changeHash,
    since: '2026-11-01T00:00:00.000Z',
    until: '2026-11-21T00:00:00.000Z',
    madeAt: '2026-11-21T00:00:01.000Z',
    examined: 7,
    decided: 5,
    skipped: 1,
    approvedToRejected: 1,
    rejectedToApproved: 0,
    refusedAsRetired: 1,
    flips: [aFlip('Not approved.')],
    retired: [
      { businessTransactionId: randomUUID(), createdAt: '2026-11-20T09:00:00.000Z', version: '1.0.0' },
    ],
    ...members,
  }
}

const aFlip = (reason: string) => ({
  businessTransactionId: randomUUID(),
  createdAt: '2026-11-20T10:00:00.000Z',
  was: { outcome: 'APPROVED' },
  wouldBe: { outcome: 'REJECTED', reason, matchedRuleId: null },
})

const impactHashOf = (report: object) => sha256Hex(canonicalize(report as Json))

interface Impact {
  readonly action?: 'approve' | 'reject'
  readonly impactHash?: string
  readonly impactReport?: object
}

function resolveWith(change: Change, { action = 'approve', impactHash, impactReport }: Impact) {
  const covered: Record<string, Json> = typeof impactHash === 'string' ? { impactHash } : {}
  const stepUpAuthorization = aStepUp(checker, change, action, covered)
  const why = action === 'reject' ? { rejectionReason: 'Too much would stop.' } : {}
  const body = { stepUpAuthorization, impactReport, ...why }
  return service.post(place(change, `/${action}`), body, { key: checker.key })
}

describe('an impact report', () => {
  test.each(['approve', 'reject'] as const)(
    'is kept with the change, signed twice: to %s it, a human covers its hash',
    async (action) => {
      const change = await aChange()
      const impactReport = aReport(change)
      const impactHash = impactHashOf(impactReport)
      const { status, body, text } = await resolveWith(change, { action, impactHash, impactReport })
      expect(status, text).toBe(200)
      expect(body).toMatchObject({ impactReport, stepUpAuthorization: { payload: { impactHash } } })
      expectEvidence(body)
      const shown = await service.get(place(change), { key: other.key })
      expect(shown.body).toEqual(body)
      const listed = await service.get('/policies/pending-changes?pageSize=1', { key: other.key })
      expect(listed.body.changes).toEqual([body])
    },
  )

  // proves abuse: An impact report of another change
  test.each<[string, string, (change: Change) => Promise<Impact>]>([
    [
      'of another change',
      'the impactReport is of another change',
      async () => {
        const impactReport = aReport(await aChange())
        return { impactReport, impactHash: impactHashOf(impactReport) }
      },
    ],
    [
      'of other content of the change',
      'the impactReport is of another change',
      async (change) => {
        const impactReport = aReport(change, { changeHash: 'a'.repeat(64) })
        return { impactReport, impactHash: impactHashOf(impactReport) }
      },
    ],
    [
      'edited after its hash was signed',
      'its impactHash is not that of the impactReport',
      async (change) => {
        const impactReport = aReport(change)
        const impactHash = impactHashOf(impactReport)
        return { impactHash, impactReport: { ...impactReport, examined: 8 } }
      },
    ],
    [
      'that is missing, while its hash was signed',
      'the impactReport that its impactHash is of is missing',
      async (change) => ({ impactHash: impactHashOf(aReport(change)) }),
    ],
    [
      'that nobody signed',
      'it has no impactHash, and an impactReport is sent with it',
      async (change) => ({ impactReport: aReport(change) }),
    ],
    [
      'of more than 32 KiB',
      'the impactReport is longer than 32768 bytes of canonical JSON',
      async (change) => {
        const flips = Array.from({ length: 150 }, () => aFlip('x'.repeat(200)))
        const impactReport = aReport(change, { flips })
        return { impactReport, impactHash: impactHashOf(impactReport) }
      },
    ],
  ])('one %s is refused, and the change stays open', async (_what, why, given) => {
    const change = await aChange()
    const impact = await given(change)
    expect(await refused(() => resolveWith(change, impact))).toEqual(stepUpInvalid(why))
    expect((await resolved(service, checker, change, 'approve')).status).toBe(200)
  })

  // proves abuse: An impact report of another change
  test('one of anything but a policy is refused', async () => {
    const change = await proposed(service, maker, '/approvers/changes', anEnrolment(anApprover('impacted')))
    const impactReport = aReport(change)
    const stepUpAuthorization = aStepUp(checker, change, 'approve', {
      impactHash: impactHashOf(impactReport),
    })
    const approved = service.post(
      `/approvers/changes/${change.changeId}/approve`,
      { stepUpAuthorization, impactReport },
      { key: checker.key },
    )
    expect(reply(await approved)).toEqual({
      status: 403,
      body: {
        error: stepUpInvalid('only the change of a policy has an impact report').error,
        code: 'STEP_UP_AUTHORIZATION_INVALID',
      },
    })
  })

  test.each<[Record<string, Json>, string]>([
    [{ version: 2 }, 'impactReport.version must be 1.'],
    [{ since: 'yesterday' }, 'impactReport.since must be a UTC time with milliseconds.'],
    [{ verdict: 'fine' }, 'impactReport.verdict is not a member that is known here.'],
  ])('%j in it is a mistake of the body', async (members, error) => {
    const change = await aChange()
    const impactReport = aReport(change, members)
    const given = { impactReport, impactHash: impactHashOf(impactReport) }
    expect(await refused(() => resolveWith(change, given))).toEqual({ status: 400, code: undefined, error })
  })
})

const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

describe('403 stepUpInvalid', () => {
  const missing = 'it is missing or not of its shape'

  test.each<[string, (stepUp: ReturnType<typeof aStepUp>) => unknown]>([
    ['nothing', () => undefined],
    ['null', () => null],
    ['a text', () => 'approve'],
    ['a list', (stepUp) => [stepUp]],
    ['an empty object', () => ({})],
    ['no signature', (stepUp) => ({ ...stepUp, signature: undefined })],
    ['another algorithm', (stepUp) => ({ ...stepUp, algorithm: 'ml-dsa-65' })],
    ['no base64', (stepUp) => ({ ...stepUp, signature: 'not base64!' })],
    ['a member beside its own', (stepUp) => ({ ...stepUp, note: 'x' })],
    ['a keyId that is none', (stepUp) => ({ ...stepUp, keyId: 7 })],
  ])('%s in its place is no step-up', async (_what, change) => {
    const pending = await aChange()
    const stepUp = change(aStepUp(checker, pending))
    expect(await refused(() => approve(pending, stepUp))).toEqual(stepUpInvalid(missing))
  })

  test.each<[string, Record<string, Json>]>([
    ['a version that nobody knows', { version: 2 }],
    ['a member that nobody reads', { amountMax: 5 }],
    ['a nonce of 15 characters', { nonce: 'x'.repeat(15) }],
    ['a nonce of 129 characters', { nonce: 'x'.repeat(129) }],
    ['a nonce with a line break', { nonce: `${'x'.repeat(16)}\n` }],
    ['a nonce with a NUL', { nonce: `${'x'.repeat(16)}\0` }],
    // proves abuse: A step-up that is expired
    ['a day that does not exist', { authorizedAt: '2026-02-30T10:00:00Z' }],
    ['a time without an offset', { expiresAt: '2099-01-01T00:00:00' }],
    ['an action that is none', { action: 'APPROVE' }],
  ])('a signed payload with %s is no step-up', async (_what, members) => {
    const pending = await aChange()
    const stepUp = aStepUp(checker, pending, 'approve', members)
    expect(await refused(() => approve(pending, stepUp))).toEqual(stepUpInvalid(missing))
  })

  test.each<[string, string, () => Record<string, Json>]>([
    // proves abuse: A step-up that is expired
    ['expired', 'it has expired', () => ({ authorizedAt: inSeconds(-90), expiresAt: inSeconds(-1) })],
    // proves abuse: A step-up that is expired
    [
      'dated in the future',
      'its authorizedAt is in the future',
      () => ({ authorizedAt: inSeconds(30), expiresAt: inSeconds(60) }),
    ],
    // proves abuse: A step-up that is expired
    [
      'valid for more than 120 seconds',
      'it is valid for more than 120 seconds',
      () => ({ authorizedAt: inSeconds(-1), expiresAt: inSeconds(120) }),
    ],
    [
      'expiring before it was authorized',
      'it expires before it was authorized',
      () => ({ authorizedAt: inSeconds(0), expiresAt: inSeconds(-1) }),
    ],
    // proves abuse: A step-up that is expired
    [
      'of a leap second, which clocks tell apart',
      'its authorizedAt is in the future',
      () => ({ authorizedAt: '2016-12-31T23:59:60Z' }),
    ],
  ])('one that is %s', async (_what, why, members) => {
    const pending = await aChange()
    const stepUp = aStepUp(checker, pending, 'approve', members())
    expect(await refused(() => approve(pending, stepUp))).toEqual(stepUpInvalid(why))
  })

  // proves abuse: A step-up sent again, for the change
  test('one that was used before, on the change that it approved', async () => {
    const change = await aChange()
    const stepUp = aStepUp(checker, change)
    expect((await approve(change, stepUp)).status).toBe(200)
    expect(await refused(() => approve(change, stepUp))).toEqual(stepUpInvalid('its nonce has been used'))
  })

  // proves §7 Idempotency Authorization nonces and approval; abuse: A step-up sent again, for the change
  test('one whose nonce was used on another change', async () => {
    const nonce = randomBytes(16).toString('hex')
    const [first, next] = [await aChange(), await aChange()]
    expect((await approve(first, aStepUp(checker, first, 'approve', { nonce }))).status).toBe(200)
    const again = aStepUp(checker, next, 'approve', { nonce })
    expect(await refused(() => approve(next, again))).toEqual(stepUpInvalid('its nonce has been used'))
  })

  // proves abuse: A step-up with the hash
  test('one for another change', async () => {
    const [change, meant] = [await aChange(), await aChange()]
    expect(await refused(() => approve(change, aStepUp(checker, meant)))).toEqual(
      stepUpInvalid('it is for another change'),
    )
  })

  // proves abuse: A step-up with the hash
  test('one with the hash of other content than the change has', async () => {
    const [change, { changeHash }] = [await aChange(), await aChange()]
    const stepUp = aStepUp(checker, { ...change, changeHash })
    expect(await refused(() => approve(change, stepUp))).toEqual(
      stepUpInvalid('its changeHash is not that of the change'),
    )
  })

  // proves abuse: An approval used to reject
  test('one for the opposite action, both ways', async () => {
    const change = await aChange()
    expect(await refused(() => approve(change, aStepUp(checker, change, 'reject')))).toEqual(
      stepUpInvalid('it is not for the action approve'),
    )
    const body = { rejectionReason: 'No.', stepUpAuthorization: aStepUp(checker, change, 'approve') }
    const reject = () => service.post(place(change, '/reject'), body, { key: checker.key })
    expect(await refused(reject)).toEqual(stepUpInvalid('it is not for the action reject'))
  })

  const foreign = "its signature is not by the caller's step-up key"

  // proves abuse: Another human’s signature, a payload
  test("one by another human's key", async () => {
    const change = await aChange()
    expect(await refused(() => approve(change, aStepUp(other, change)))).toEqual(stepUpInvalid(foreign))
  })

  // proves abuse: Approving one’s own change: directly
  test("one by the proposer's own step-up key, sent by the checker", async () => {
    const change = await aChange()
    expect(await refused(() => approve(change, aStepUp(maker, change)))).toEqual(stepUpInvalid(foreign))
  })

  // proves abuse: Another human’s signature, a payload
  test('one whose payload was changed after it was signed', async () => {
    const change = await aChange()
    const stepUp = aStepUp(checker, change, 'approve', {
      expiresAt: inSeconds(-1),
      authorizedAt: inSeconds(-60),
    })
    const longer = { ...stepUp, payload: { ...stepUp.payload, expiresAt: inSeconds(30) } }
    expect(await refused(() => approve(change, longer))).toEqual(stepUpInvalid(foreign))
  })

  // proves §5 Authentication proves only that a request
  test('any, from a human whose key has no step-up key', async () => {
    const change = await aChange()
    expect(await refused(() => approve(change, aStepUp(checker, change), keyless))).toEqual(
      stepUpInvalid('the caller has no step-up key'),
    )
  })

  test('comes before the state: a resolved change says nothing to who cannot step up', async () => {
    const change = await aChange()
    await resolved(service, checker, change, 'approve')
    expect(await refused(() => approve(change, undefined))).toEqual(stepUpInvalid(missing))
  })
})

describe('403 sameActor', () => {
  const sameActor = { status: 403, code: 'SAME_ACTOR_CANNOT_APPROVE_OWN_CHANGE' }

  // proves abuse: Approving one’s own change: directly
  test('who proposed a change neither approves nor rejects it', async () => {
    const change = await aChange()
    for (const action of ['approve', 'reject'] as const) {
      const more = action === 'reject' ? { rejectionReason: 'I was wrong.' } : {}
      expect(await refused(() => resolved(service, maker, change, action, more))).toMatchObject(sameActor)
    }
  })

  // proves abuse: Approving one’s own change: directly
  test('not by a second key of the same caller either, with a step-up key of its own', async () => {
    const change = await aChange()
    expect(await refused(() => resolved(service, makerAgain, change, 'approve'))).toMatchObject(sameActor)
  })

  test('comes before the step-up', async () => {
    const change = await aChange()
    expect(await refused(() => approve(change, undefined, maker))).toMatchObject(sameActor)
  })
})

const statusesOf = (answers: readonly Called[]) =>
  answers.map(({ status }) => status).toSorted((a, b) => a - b)

describe('409 conflict', () => {
  const conflict = { status: 409, code: 'CONFLICT' }

  test('a change that is resolved stays as it was resolved, and the nonce is not burned', async () => {
    const change = await aChange()
    await resolved(service, checker, change, 'reject', { rejectionReason: 'No.' })
    expect(await refused(() => resolved(service, other, change, 'approve'))).toEqual({
      ...conflict,
      error: 'The change is REJECTED already.',
    })
    const approved = await aChange()
    await resolved(service, checker, approved, 'approve')
    const again = () => resolved(service, other, approved, 'reject', { rejectionReason: 'No.' })
    expect(await refused(again)).toEqual({ ...conflict, error: 'The change is APPROVED already.' })
  })

  // proves abuse: Two checkers at once, on
  test('of two checkers at the same moment, on two instances, one resolves it and one is told so', async () => {
    for (let round = 0; round < 5; round++) {
      const change = await aChange()
      const answers = await Promise.all([
        resolved(service, checker, change, 'approve'),
        resolved(second, other, change, 'reject', { rejectionReason: 'No.' }),
      ])
      expect(statusesOf(answers)).toEqual([200, 409])
      const won = answers.find(({ status }) => status === 200)
      expect((await service.get(place(change), { key: maker.key })).body).toEqual(won?.body)
      const { rows } = await database.pool.query('SELECT FROM step_up_nonces WHERE change_id = $1', [
        change.changeId,
      ])
      expect(rows).toHaveLength(1)
    }
  })

  // proves abuse: A step-up sent again, for the change
  test('one step-up sent twice at the same moment resolves once', async () => {
    const change = await aChange()
    const stepUp = aStepUp(checker, change)
    const answers = await Promise.all([approve(change, stepUp), approve(change, stepUp)])
    expect(statusesOf(answers)).toEqual([200, 403])
  })

  // proves abuse: Two checkers at once, on
  test('at most one change of a target is open, whoever proposes at the same moment', async () => {
    const document = aDocument()
    const propose = (to: TestService, by: Human) =>
      to.post(pathOf(document), { reason: 'test', proposedContent: document }, { key: by.key })
    const answers = await Promise.all([
      propose(service, maker),
      propose(second, checker),
      propose(service, other),
      propose(second, maker),
    ])
    expect(statusesOf(answers)).toEqual([201, 409, 409, 409])
    const [lost] = answers.filter(({ status }) => status === 409)
    expect(lost?.body).toEqual({
      error: `A change of ${document.policyId}/1.0.0 is open already: approve or reject it first (GET /changes?status=PENDING_APPROVAL).`,
      code: 'CONFLICT',
    })
  })
})

describe('404 changeNotFound', () => {
  test.each([randomUUID(), '0', 'x', "';--", '%00', 'ffffffff-ffff-ffff-ffff-ffffffffffff'])(
    '%s is no change, before any step-up',
    async (id) => {
      const asked = [
        service.get(`/policies/pending-changes/${id}`, { key: checker.key }),
        service.post(`/policies/pending-changes/${id}/approve`, {}, { key: checker.key }),
        service.post(
          `/policies/pending-changes/${id}/reject`,
          { rejectionReason: 'No.' },
          { key: checker.key },
        ),
      ]
      for (const answer of await Promise.all(asked))
        expect(reply(answer)).toEqual({
          status: 404,
          body: { error: 'Pending change not found.', code: 'PENDING_POLICY_CHANGE_NOT_FOUND' },
        })
    },
  )

  test('a change of another kind is none of this', async () => {
    const { publicKeyPem } = aHuman('x')
    const key = { approverId: 'alice', keyId: 'k1', publicKeyPem }
    const change = await proposed(service, maker, '/approvers/changes', {
      action: 'add',
      ...key,
      reason: 'x',
    })
    expect((await service.get(place(change), { key: checker.key })).status).toBe(404)
    expect(await refused(() => approve(change, aStepUp(checker, change)))).toMatchObject({ status: 404 })
  })
})

describe('400 invalidField', () => {
  test('a body that is no object, or has what nobody reads, is refused before the change is looked for', async () => {
    const path = `/policies/pending-changes/${randomUUID()}`
    const ask = async (action: string, body: unknown) =>
      reply(await service.post(`${path}/${action}`, body, { key: checker.key }))
    for (const body of ['[]', 'null', '"x"', '1'])
      expect(await ask('approve', body)).toEqual({
        status: 400,
        body: { error: 'the body must be an object.' },
      })
    expect(await ask('approve', { stepUpAuthorisation: {} })).toEqual({
      status: 400,
      body: { error: 'stepUpAuthorisation is not a member that is known here.' },
    })
    expect((await ask('approve', { rejectionReason: 'No.' })).status).toBe(400)
    expect(await ask('reject', { rejectionReason: 'x'.repeat(1001) })).toEqual({
      status: 400,
      body: { error: 'rejectionReason must be a text of 1 to 1000 characters.' },
    })
    expect((await ask('reject', { rejectionReason: 7 })).status).toBe(400)
  })
})

describe('400 fieldRequired', () => {
  test.each([{}, { rejectionReason: null }, { rejectionReason: ' ' }])('%j rejects nothing', async (body) => {
    const change = await aChange()
    const reject = () => service.post(place(change, '/reject'), body, { key: checker.key })
    expect(await refused(reject)).toMatchObject({ status: 400, error: 'rejectionReason is required.' })
  })
})

describe('400 malformedJson', () => {
  test.each<[string, (stepUp: string) => string]>([
    // proves abuse: A body with two readings
    ['two step-ups', (stepUp) => `{"stepUpAuthorization":{},"stepUpAuthorization":${stepUp}}`],
    // proves abuse: A body with two readings
    ['two actions', (stepUp) => `{"stepUpAuthorization":${stepUp.replace('{', '{"algorithm":"ed25519",')}}`],
    ['a body deeper than 64', () => `{"stepUpAuthorization":${'['.repeat(64)}${']'.repeat(64)}}`],
    ['__proto__', () => `{"__proto__":{},"stepUpAuthorization":{}}`],
  ])('%s in one body has no single reading', async (_what, make) => {
    const change = await aChange()
    const body = make(JSON.stringify(aStepUp(checker, change)))
    const ask = () => service.post(place(change, '/approve'), body, { key: checker.key })
    expect(await refused(ask)).toMatchObject({ status: 400, error: 'Malformed JSON body.' })
  })
})

describe('403 nonHumanCaller', () => {
  // proves §4.6 POST /refusal/verify and POST; §7 403 · `NON_HUMAN_CALLER_DENIED` · a non-human
  // proves abuse: A machine that proposes or approves
  test('a caller that is no human neither sees, proposes nor resolves, whatever its body', async () => {
    const change = await aChange()
    const path = pathOf(aDocument())
    const asked = [
      () => service.get('/policies/pending-changes'),
      () => service.get(place(change)),
      () => service.post(place(change, '/approve'), '{'),
      () => service.post(place(change, '/reject'), '{'),
      () => service.post(path, '{'),
    ]
    for (const ask of asked)
      expect(await refused(ask)).toMatchObject({ status: 403, code: 'NON_HUMAN_CALLER_DENIED' })
  })
})

describe('500 internal', () => {
  // proves abuse: A change rewritten in the database
  test('a change that somebody has written to in the database is not put in effect', async () => {
    const change = await aChange()
    await database.pool.query(
      `UPDATE pending_changes SET body = replace(body, '"signals.approved"', '"true"') WHERE change_id = $1`,
      [change.changeId],
    )
    const answer = await refused(() => resolved(service, checker, change, 'approve'))
    expect(answer).toMatchObject({ status: 500, error: 'Internal Server Error' })
    const logged = `the stored change ${change.changeId} does not verify`
    expect(await until(() => service.output().includes(logged), 'the log line')).toBe(true)
  })
})

describe('GET /policies/pending-changes 200', () => {
  test('lists newest first, a page at a time, by status', async () => {
    const [open, approved, rejected] = [await aChange(), await aChange(), await aChange()]
    await resolved(service, checker, approved, 'approve')
    await resolved(service, checker, rejected, 'reject', { rejectionReason: 'No.' })
    const list = async (query: string): Promise<string[]> => {
      const { body } = await service.get(`/policies/pending-changes${query}`, { key: other.key })
      return (body.changes as Change[]).map(({ changeId }) => changeId)
    }
    expect((await list('?pageSize=3')).slice(0, 3)).toEqual(
      [rejected, approved, open].map(({ changeId }) => changeId),
    )
    expect(await list('?pageSize=1&page=2')).toEqual([approved.changeId])
    expect(await list('?pageSize=1&status=PENDING_APPROVAL')).toEqual([open.changeId])
    expect(await list('?pageSize=1&status=APPROVED')).toEqual([approved.changeId])
    expect(await list('?pageSize=1&status=REJECTED')).toEqual([rejected.changeId])
  })
})

describe('GET /policies/pending-changes/{id} 200', () => {
  test('answers what the proposal was answered with, in any letter case of the id', async () => {
    const change = await aChange()
    for (const id of [change.changeId, change.changeId.toUpperCase()])
      expect((await service.get(`/policies/pending-changes/${id}`, { key: checker.key })).body).toEqual(
        change,
      )
  })
})

describe('GET /changes 200', () => {
  test('lists changes of every kind, newest first, by kind and by status', async () => {
    const policy = await aChange()
    const approver = await proposed(service, maker, '/approvers/changes', anEnrolment(anApprover('dora')))
    const list = async (query: string): Promise<string[]> => {
      const { body } = await service.get(`/changes?status=PENDING_APPROVAL${query}`, { key: other.key })
      return (body.changes as Change[]).map(({ changeId }) => changeId)
    }
    expect(await list('&pageSize=2')).toEqual([approver.changeId, policy.changeId])
    expect(await list('&pageSize=1&kind=policy')).toEqual([policy.changeId])
    expect(await list('&pageSize=1&kind=approver')).toEqual([approver.changeId])
    await resolved(service, checker, policy, 'reject', { rejectionReason: 'No.' })
    expect(await list('&pageSize=1')).toEqual([approver.changeId])
    expect(await list('&kind=policy')).not.toContain(policy.changeId)
  })

  test('one with U+0000 in what it proposes keeps nobody from finding it, or from proposing', async () => {
    const document = aDocument()
    document.rules[0]!.reason = 'No.\u0000'
    const { status, text, body } = await service.post(
      pathOf(document),
      { reason: 'test', proposedContent: document },
      { key: maker.key },
    )
    expect(status, text).toBe(201)
    const query = `?status=PENDING_APPROVAL&callerId=${maker.callerId}&q=${document.policyId}`
    const { body: listed } = await service.get(`/changes${query}`, { key: checker.key })
    expect((listed.changes as Change[]).map(({ changeId }) => changeId)).toEqual([body.changeId])
    await aChange()
    await resolved(service, checker, body as Change, 'reject', { rejectionReason: 'No.' })
  })

  test('an auditor reads it', async () => {
    expect((await service.get('/changes', { key: auditor.key })).status).toBe(200)
  })
})

describe('400 invalidQuery', () => {
  test('kind=policies', async () => {
    const kinds =
      'policy, approver, external-connector, webhook-rules, event-endpoint, caller-key, approver-group, stand-in'
    expect(reply(await service.get('/changes?kind=policies', { key: checker.key }))).toEqual({
      status: 400,
      body: { error: `kind must be one of ${kinds}.` },
    })
  })

  test.each(['OPEN', 'approved', ''])('status=%s', async (status) => {
    const answer = await service.get(`/policies/pending-changes?status=${status}`, { key: checker.key })
    expect(reply(answer)).toEqual({
      status: 400,
      body: { error: 'status must be one of PENDING_APPROVAL, APPROVED, REJECTED.' },
    })
  })
})

describe.each([
  ['400 invalidPage', 'page=0'],
  ['400 invalidPageSize', 'pageSize=101'],
])('%s', (_title, query) => {
  test('as for the other lists', async () => {
    const lists = ['/policies', '/policies/in-effect', '/policies/pending-changes', '/changes']
    for (const path of lists)
      expect((await service.get(`${path}?${query}`, { key: checker.key })).status).toBe(400)
  })
})

const detail = ({ changeId, kind, target }: Change) => ({ changeId, kind, target: String(target) })

describe('the audit', () => {
  test('knows of every change that was proposed, approved, rejected or refused, before the caller does', async () => {
    const events = async (type: string): Promise<Record<string, unknown>[]> => {
      const { body } = await service.get(`/audit/events?type=governance.${type}&pageSize=1`, {
        key: other.key,
      })
      return (body.events as { event: Record<string, unknown> }[]).map(({ event }) => event)
    }
    const [own, approved, rejected] = [await aChange(watched), await aChange(), await aChange()]
    expect(await events('proposed')).toMatchObject([
      {
        route: 'POST /policies/{name}/{version}/pending-changes',
        callerId: 'maker',
        occurredAt: rejected['proposedAt'],
        reason: 'test',
        detail: detail(rejected),
        severity: 'INFO',
      },
    ])
    await approve(approved, aStepUp(other, approved), watched)
    expect(await events('step_up_denied')).toMatchObject([{ callerId: 'watched', severity: 'WARNING' }])
    await resolved(service, watched, own, 'approve')
    expect(await events('same_actor_denied')).toMatchObject([{ callerId: 'watched', severity: 'WARNING' }])
    await resolved(service, checker, approved, 'approve')
    expect(await events('approved')).toMatchObject([
      {
        route: 'POST /policies/pending-changes/{id}/approve',
        callerId: 'checker',
        reason: 'test',
        detail: detail(approved),
      },
    ])
    await resolved(service, checker, rejected, 'reject', { rejectionReason: 'No.' })
    expect(await events('rejected')).toMatchObject([
      {
        route: 'POST /policies/pending-changes/{id}/reject',
        callerId: 'checker',
        reason: 'No.',
        detail: detail(rejected),
      },
    ])
  })
})
