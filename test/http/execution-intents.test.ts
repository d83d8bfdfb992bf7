// The routes of execution intents: what is in doubt, and closing it by hand (decisions §8 "Execution intents").
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Members } from '../../src/formats/json/members.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { auditEvent } from '../../src/formats/artifacts/audit-event.ts'
import { intentTransition } from '../../src/formats/artifacts/intent-transition.ts'
import { rowsOf, type TestDatabase } from '../database.ts'
import { aHuman, aResolutionStepUp, type Human } from '../authority.ts'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import { publishedCrypto } from '../evidence.ts'
import { checked } from '../fsck/mix.ts'
import { intentState, notedInDoubt, passDeadline, putInDoubt } from '../intents.ts'
import { aSlowTransaction } from '../load.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, reply, startService, until, type Called, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withService } from '../with-service.ts'

/** How long a connector works while a test does something on the side. */
const UNDER_WAY_MS = 2_500

const human = aHuman('olive')
const second = aHuman('peter')
const withoutKey = aCaller('quinn', { credentialHolderType: 'USER' })
/** Olive, as an approver and as another caller of that approver. */
const olivesOther = aCaller('o.price', { credentialHolderType: 'USER', approverId: 'olive' })
const other = aCaller('other', { allowedPrincipalIds: ['tester'] })
const auditor = aCaller('auditor', { readAll: true })

const policyDir = aPolicyFolder()
addPolicy(policyDir, {
  name: 'closed-by-two',
  version: '1.0.0',
  capability: 'sandbox:echo',
  closeQuorum: 2,
})

let database: TestDatabase
let service: TestService

withService((made) => ({ database, service } = made), {
  callers: [human.entry, second.entry, withoutKey.entry, other.entry, auditor.entry],
  env: { POLICY_DIR: policyDir },
})

/** Executes, with any outcome, and returns the id. */
async function executed(parameters: object = {}): Promise<string> {
  const transaction = aTransaction({ intent: { parameters: { amount: 42, ...parameters } } })
  await service.post('/execute', transaction)
  return transaction.businessTransactionId
}

async function inDoubt(evidence: 'kept' | 'lost' = 'lost', parameters: object = {}): Promise<string> {
  const id = await executed(parameters)
  await putInDoubt(database, id, evidence)
  return id
}

const read = (id: string, key = human.key) => service.get(`/execution-intents/${id}`, { key })
const unfinalized = (query = '') => service.get(`/execution-intents/unfinalized${query}`, human)
const resolve = (id: string, body: unknown = { resolution: 'EXECUTED', note: 'The provider says so.' }) =>
  service.post(`/execution-intents/${id}/resolve`, body, human)
const finalize = (id: string, body?: unknown) =>
  service.post(`/execution-intents/${id}/finalize`, body, human)
const idsOf = ({ body }: Called) =>
  (body as { intents: { businessTransactionId: string }[] }).intents.map((one) => one.businessTransactionId)

const conflict = (error: string) => ({ status: 409, body: { error, code: 'CONFLICT' } })

/** Expects a signature that nothing but the service's keys makes. */
function expectSigned(transition: Members): void {
  const crypto = publishedCrypto(readPublicKeys(service.signingKeyDir))
  expect(
    intentTransition.evidence.check(transition, crypto).filter(({ problem }) => problem !== undefined),
  ).toEqual([])
}

/** The audit events of a type about an intent; each of them verifies. */
async function events(type: string, id: string): Promise<Record<string, unknown>[]> {
  const { body } = await service.get(`/audit/events?type=${type}&pageSize=100`, human)
  const crypto = publishedCrypto(readPublicKeys(service.signingKeyDir))
  return (body as { events: { event: { detail: { businessTransactionId: string } } }[] }).events
    .filter(({ event }) => event.detail.businessTransactionId === id)
    .map((one) => {
      expect(auditEvent.evidence.check(one as unknown as Members, crypto)).toMatchObject([
        { problem: undefined },
      ])
      return one.event
    })
}

/** Cut to milliseconds, as the API shows it. */
async function databaseTime(): Promise<string> {
  const { rows } = await database.pool.query<{ now: Date }>('SELECT clock_timestamp() AS now')
  return rows[0]?.now.toISOString() ?? ''
}

describe('GET /execution-intents/{id} 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test('an execution that went well: released, finalized, with the authorization that its record holds', async () => {
    const startedAt = await databaseTime()
    const id = await executed()
    const { body } = await read(id, service.key)
    const { authorization } = (await service.get(`/trust-records/${id}`)).body
    expect(body).toEqual({
      businessTransactionId: id,
      state: 'FINALIZED',
      inDoubt: false,
      callerId: 'tester',
      action: 'sandbox:echo',
      target: 'test',
      releasedAt: authorization.payload.authorizedAt,
      deadline: expect.any(String),
      closedAt: expect.any(String),
      authorization,
      transitions: [],
    })
    // By the database's clock, like the end.
    const releasedAt = new Date(Date.parse(body.deadline) - 12_000).toISOString()
    expect(startedAt <= releasedAt).toBe(true)
    expect(releasedAt <= body.closedAt).toBe(true)
    expect(body.closedAt <= (await databaseTime())).toBe(true)
  })

  test('one that failed for certain is ERRORED, one under way RELEASED and not in doubt, one past its deadline in doubt', async () => {
    expect((await read(await executed({ fail: true }))).body).toMatchObject({
      state: 'ERRORED',
      inDoubt: false,
    })
    const slow = aSlowTransaction(UNDER_WAY_MS)
    const id = slow.businessTransactionId
    const answer = service.post('/execute', slow)
    await until(() => intentState(database, id), 'the release')
    expect((await read(id)).body).toMatchObject({ state: 'RELEASED', inDoubt: false })
    expect((await answer).status).toBe(200)
    const { body } = await read(await inDoubt())
    expect(body).toMatchObject({ state: 'RELEASED', inDoubt: true })
    expect(body).not.toHaveProperty('closedAt')
  })

  test('304 to who has it, as long as nothing changes', async () => {
    const id = await inDoubt()
    const headers = { 'If-None-Match': (await read(id)).headers.get('etag') ?? '' }
    const again = () => service.get(`/execution-intents/${id}`, { ...human, headers })
    expect((await again()).status).toBe(304)
    await resolve(id)
    expect((await again()).status).toBe(200)
  })

  test('humans and auditors read anyone’s', async () => {
    const id = await executed()
    expect((await read(id)).status).toBe(200)
    expect((await read(id.toUpperCase(), auditor.key)).body.businessTransactionId).toBe(id)
  })
})

describe('GET /execution-intents/{id} 404 intentNotFound', () => {
  test('another’s, an unknown one, one that was never released and what is no id: the same bytes', async () => {
    const rejected = aTransaction({ intent: { parameters: { amount: 2000 } }, signals: { amount: 2000 } })
    await service.post('/execute', rejected)
    const asked = [await executed(), randomUUID(), 'nothing']
    const answers = await Promise.all(asked.map((id) => read(id, other.key)))
    answers.push(await read(rejected.businessTransactionId, service.key))
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404])
    expect(new Set(answers.map(({ text }) => text))).toEqual(
      new Set([JSON.stringify({ error: 'Execution intent not found.' })]),
    )
  })
})

describe('GET /execution-intents/unfinalized 200', () => {
  test('lists what has just passed its deadline, newest first, in pages, and nothing else', async () => {
    const before = idsOf(await unfinalized('?pageSize=100'))
    const finalized = await executed()
    const found: string[] = []
    for (let i = 0; i < 3; i++) {
      found.unshift(await inDoubt())
      expect(idsOf(await unfinalized('?pageSize=1'))).toEqual(found.slice(0, 1))
    }
    expect(idsOf(await unfinalized('?pageSize=100'))).toEqual([...found, ...before])
    expect(idsOf(await unfinalized('?pageSize=2&page=2'))).toEqual([...found, ...before].slice(2, 4))
    expect(idsOf(await unfinalized('?page=1000'))).toEqual([])
    expect(found).not.toContain(finalized)
    const { body } = await unfinalized('?pageSize=1')
    expect(body.intents[0]).toEqual((await read(found[0] ?? '')).body)
  })

  test('each is told to the audit once, signed, however often it is looked for', async () => {
    const id = await inDoubt()
    await Promise.all(Array.from({ length: 8 }, () => unfinalized()))
    expect(await events('intent.in_doubt', id)).toMatchObject([
      {
        route: 'service',
        severity: 'WARNING',
        capability: 'sandbox:echo',
        detail: { submittedBy: 'tester' },
      },
    ])
  })

  test('one whose worker finishes after all is taken off the list', async () => {
    const slow = aSlowTransaction(UNDER_WAY_MS)
    const id = slow.businessTransactionId
    const answer = service.post('/execute', slow)
    await until(() => intentState(database, id), 'the release')
    await passDeadline(database, id)
    expect(idsOf(await unfinalized())).toContain(id)
    expect((await answer).status).toBe(200)
    expect(idsOf(await unfinalized('?pageSize=100'))).not.toContain(id)
    expect(await notedInDoubt(database)).not.toContain(id)
  })

  test('without being asked, the service finds it within seconds and logs a warning', async () => {
    const id = await inDoubt()
    await until(async () => (await notedInDoubt(database)).has(id), 'the sweep')
    await until(
      () => service.lines().some(({ level, msg }) => msg === 'execution intents in doubt' && level === 40),
      'the warning',
    )
  })
})

describe('GET /execution-intents/unfinalized 400 invalidPage', () => {
  test.each([
    ['page=0', 'page must be a whole number, 1 or more.'],
    ['pageSize=101', 'pageSize must be a whole number from 1 to 100.'],
  ])('%s', async (query, error) => {
    expect(reply(await unfinalized(`?${query}`))).toEqual({ status: 400, body: { error } })
  })
})

describe('GET /execution-intents/unfinalized 403 nonHumanCaller', () => {
  // proves abuse: Resolving against a record that holds
  test.each(['GET /unfinalized', 'POST /{id}/resolve', 'POST /{id}/finalize'])(
    '%s is not for its caller, an auditor only reads, and the intent stays as it is',
    async (route) => {
      const id = await inDoubt()
      const [method = '', path = ''] = route.replace('{id}', id).split(' ')
      if (method === 'GET')
        expect(idsOf(await service.get('/execution-intents/unfinalized', auditor))).toContain(id)
      for (const key of [service.key, ...(method === 'GET' ? [] : [auditor.key])]) {
        const body = { resolution: 'EXECUTED', note: 'It says so itself.' }
        const answer =
          method === 'GET'
            ? await service.get(`/execution-intents${path}`, { key })
            : await service.post(`/execution-intents${path}`, body, { key })
        expect(answer.status).toBe(403)
        expect(answer.body.code).toBe('NON_HUMAN_CALLER_DENIED')
      }
      expect(await intentState(database, id)).toBe('RELEASED')
    },
  )
})

describe('POST /execution-intents/{id}/resolve 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test.each(['EXECUTED', 'NOT_EXECUTED'])(
    '%s: signed, audited, off the list, and final',
    async (resolution) => {
      const id = await inDoubt()
      expect(idsOf(await unfinalized())).toContain(id)
      const note = 'Asked the provider: ticket 4711 — "ü" \u0000 😀'
      const resolved = await resolve(id.toUpperCase(), { resolution, note })
      expect(resolved.status).toBe(200)
      expect(resolved.body).toEqual((await read(id, service.key)).body)
      expect(resolved.body).toMatchObject({ state: 'RESOLVED', inDoubt: false, resolution })
      const [transition] = resolved.body.transitions
      expect(transition.transition).toEqual({
        transitionId: expect.any(String),
        businessTransactionId: id,
        from: 'RELEASED',
        to: 'RESOLVED',
        resolution,
        note,
        by: 'olive',
        at: resolved.body.closedAt,
      })
      expectSigned(transition)
      expect(await events('intent.resolved', id)).toMatchObject([
        {
          route: 'POST /execution-intents/{id}/resolve',
          callerId: 'olive',
          reason: `The execution intent is RESOLVED: ${resolution}.`,
          detail: { transitionId: transition.transition.transitionId },
        },
      ])
      expect(await notedInDoubt(database)).not.toContain(id)
      expect(await rowsOf(database, id)).toMatchObject({ trust_records: 0 })
      expect(reply(await resolve(id))).toEqual(conflict('The execution intent is RESOLVED.'))
    },
  )

  // proves abuse: Resolving as
  test('NOT_EXECUTED does not free the id: a repeat is a replay, not a retry', async () => {
    const transaction = aTransaction()
    const id = transaction.businessTransactionId
    await service.post('/execute', transaction)
    await putInDoubt(database, id)
    expect((await service.post('/execute', transaction)).status).toBe(409)
    await resolve(id, { resolution: 'NOT_EXECUTED', note: 'Nothing arrived.' })
    expect((await service.post('/execute', transaction)).status).toBe(409)
    expect(await rowsOf(database, id)).toMatchObject({ trust_records: 0, execution_intents: 1 })
  })

  // proves abuse: Resolving against a record that holds
  test('of two humans who contradict each other at once one is heard', async () => {
    for (let i = 0; i < 10; i++) {
      const id = await inDoubt()
      const bodies = ['EXECUTED', 'NOT_EXECUTED'].map((resolution) => ({ resolution, note: 'I know.' }))
      const answers = await Promise.all(bodies.map((body) => resolve(id, body)))
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409])
      const winner = answers.find(({ status }) => status === 200)
      expect((await read(id)).body).toEqual(winner?.body)
    }
  })
})

describe('POST /execution-intents/{id}/resolve 202, where it takes two humans', () => {
  let careful: TestService
  beforeAll(async () => {
    careful = await startService({
      databaseUrl: database.url,
      signingKeyDir: service.signingKeyDir,
      key: service.key,
      callers: [human.entry, second.entry, olivesOther.entry],
      env: { INTENT_CLOSE_QUORUM: '2' },
    })
  })
  afterAll(async () => {
    expect(await careful.stop()).toBe(0)
  })
  const say = (id: string, who: { readonly key: string }, resolution: string) =>
    careful.post(`/execution-intents/${id}/resolve`, { resolution, note: `Asked: ${resolution}.` }, who)

  // proves abuse: One human who closes what takes two
  test('the second who says the same closes it; the same human twice does not', async () => {
    const id = await inDoubt()
    const first = await say(id, human, 'EXECUTED')
    expect(first.status).toBe(202)
    expect(first.body).toMatchObject({
      state: 'RELEASED',
      inDoubt: true,
      firstWord: { resolution: 'EXECUTED', note: 'Asked: EXECUTED.', by: 'olive' },
      transitions: [],
    })
    expect((await read(id)).body).toEqual(first.body)
    expect((await say(id, human, 'EXECUTED')).status).toBe(202)
    expect(reply(await say(id, second, 'NOT_EXECUTED'))).toEqual(
      conflict(
        'olive says EXECUTED: two humans must state the same outcome. The one who is wrong must correct it.',
      ),
    )
    expect(idsOf(await unfinalized())).toContain(id)

    // She was wrong, and says so.
    expect((await say(id, human, 'NOT_EXECUTED')).body.firstWord).toMatchObject({
      resolution: 'NOT_EXECUTED',
    })
    const closed = await say(id, second, 'NOT_EXECUTED')
    expect(closed.status).toBe(200)
    expect(closed.body).toMatchObject({ state: 'RESOLVED', resolution: 'NOT_EXECUTED' })
    expect(closed.body).not.toHaveProperty('firstWord')
    const [transition] = closed.body.transitions
    expect(transition.transition).toMatchObject({ by: 'peter', agreedWith: 'olive' })
    expectSigned(transition)
    expect((await events('intent.first_word', id)).map(({ callerId }) => callerId)).toEqual(
      Array.from({ length: 3 }, () => 'olive'),
    )
    expect((await events('intent.resolved', id)).map(({ callerId }) => callerId)).toEqual(['peter'])
  })

  // proves abuse: One human who closes what takes two
  test('the same human under another name does not', async () => {
    const id = await inDoubt()
    expect((await say(id, human, 'EXECUTED')).status).toBe(202)
    const still = await say(id, olivesOther, 'EXECUTED')
    expect(still.status).toBe(202)
    expect(still.body).toMatchObject({ state: 'RELEASED', firstWord: { by: 'o.price' } })
    expect((await say(id, human, 'EXECUTED')).status).toBe(202)
    expect((await say(id, second, 'EXECUTED')).status).toBe(200)
  })

  // proves abuse: One human who closes what takes two
  test('a first word that nobody said is found: its signed event is missing', async () => {
    const id = await inDoubt()
    await unfinalized()
    const word = { resolution: 'EXECUTED', note: 'x', by: 'olive', at: new Date().toISOString() }
    await database.pool.query(
      'UPDATE in_doubt_intents SET first_word = $2 WHERE business_transaction_id = $1::uuid',
      [id, JSON.stringify(word)],
    )
    const { body } = await say(id, second, 'EXECUTED')
    const [{ transition }] = body.transitions
    expect(transition.agreedWith).toBe('olive')
    const { lines } = await checked(database, service.signingKeyDir)
    const found = lines.filter((line) => line.startsWith('intent_transitions '))
    expect(found).toEqual([
      `intent_transitions ${transition.transitionId}: names a human who did not say the same`,
    ])
  })

  test('two at the same moment: one is first, the other closes it', async () => {
    const id = await inDoubt()
    const answers = await Promise.all([human, second].map((who) => say(id, who, 'EXECUTED')))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 202])
    expect(await rowsOf(database, id)).toMatchObject({ trust_records: 0 })
    expect((await read(id)).body.state).toBe('RESOLVED')
  })
})

test('its policy may say that it takes two humans, whatever the setting is', async () => {
  const transaction = aTransaction({ policy: { name: 'closed-by-two' }, signals: { approved: true } })
  expect((await service.post('/execute', transaction)).status).toBe(200)
  const { businessTransactionId: id } = transaction
  await putInDoubt(database, id, 'lost')
  const body = { resolution: 'NOT_EXECUTED', note: 'The provider knows nothing of it.' }
  expect(await resolve(id, body)).toMatchObject({ status: 202, body: { firstWord: { by: 'olive' } } })
  expect((await resolve(id, body)).status).toBe(202)
  const closed = await service.post(`/execution-intents/${id}/resolve`, body, second)
  expect(closed.status).toBe(200)
  expect(closed.body.transitions[0].transition).toMatchObject({ by: 'peter', agreedWith: 'olive' })
})

/** A human's statement about an execution, for signing. */
async function aWord(id: string, note = 'The provider has it.') {
  const { businessTransactionHash } = (await read(id)).body.authorization.payload as Record<string, string>
  return {
    businessTransactionId: id,
    businessTransactionHash: businessTransactionHash!,
    resolution: 'EXECUTED',
    note,
  }
}

describe('POST /execution-intents/{id}/resolve, signed by the human', () => {
  test('the signatures of both stay in the transition, and verify there with their keys alone', async () => {
    const transaction = aTransaction({ policy: { name: 'closed-by-two' }, signals: { approved: true } })
    expect((await service.post('/execute', transaction)).status).toBe(200)
    const { businessTransactionId: id } = transaction
    await putInDoubt(database, id, 'lost')
    const [first, next] = [await aWord(id, 'Ticket 4711.'), await aWord(id, 'I called them.')]
    const say = (who: Human, { resolution, note, ...bound }: typeof first) => {
      const stepUpAuthorization = aResolutionStepUp(who, { ...bound, resolution, note })
      return service.post(`/execution-intents/${id}/resolve`, { resolution, note, stepUpAuthorization }, who)
    }
    expect(await say(human, first)).toMatchObject({
      status: 202,
      body: { firstWord: { by: 'olive', stepUpAuthorization: { payload: first } } },
    })
    const { status, text, body } = await say(second, next)
    expect(status, text).toBe(200)
    const [transition] = body.transitions
    expect(transition.transition).toMatchObject({
      by: 'peter',
      agreedWith: 'olive',
      stepUpAuthorization: { payload: next },
      agreedStepUpAuthorization: { payload: first },
    })
    expectSigned(transition)
    // Their keys are the operator's to give; the service's own prove that it took the signatures as theirs.
    const jwks = await service.get('/.well-known/jwks.json', { key: null })
    const report = verifyEvidence(JSON.stringify(transition), jwks.text)
    expect(report.verdict).toBe('valid')
    expect(report.checks.map(({ name }) => name)).toContain('step-up authorization')
    expect(report.notes.join()).toMatch(/"peter:step-up" is given.*"olive:step-up" is given/)
    const { lines } = await checked(database, service.signingKeyDir)
    expect(lines.filter((line) => line.includes(transition.transition.transitionId))).toEqual([])
  })

  // proves abuse: A word on how an execution ended
  test('a signature for anything else closes nothing, and one counts once', async () => {
    const id = await inDoubt()
    const word = await aWord(id)
    const { resolution, note } = word
    const elsewhere = await aWord(await inDoubt())
    const post = (stepUpAuthorization: unknown, who: { key: string } = human) =>
      service.post(`/execution-intents/${id}/resolve`, { resolution, note, stepUpAuthorization }, who)
    const refused: [unknown, string, { key: string }?][] = [
      [null, 'it is missing or not of its shape'],
      [aResolutionStepUp(human, elsewhere), 'it is for another execution'],
      [
        aResolutionStepUp(human, { ...elsewhere, businessTransactionId: id }),
        'its businessTransactionHash is not',
      ],
      [
        aResolutionStepUp(human, { ...word, resolution: 'NOT_EXECUTED' }),
        'its resolution is not that of the body',
      ],
      [aResolutionStepUp(human, { ...word, note: 'Another.' }), 'its note is not that of the body'],
      [aResolutionStepUp(second, word), "its signature is not by the caller's step-up key"],
      [aResolutionStepUp(human, word), 'the caller has no step-up key', withoutKey],
      [aResolutionStepUp(human, word, { expiresAt: new Date().toISOString() }), 'it has expired'],
      [aResolutionStepUp(human, word, { action: 'approve' }), 'not of its shape'],
    ]
    for (const [stepUp, why, who] of refused) {
      const { status, body } = await post(stepUp, who)
      expect([status, body.code], why).toEqual([403, 'STEP_UP_AUTHORIZATION_INVALID'])
      expect(body.error).toContain(why)
    }
    expect(await intentState(database, id)).toBe('RELEASED')
    const stepUp = aResolutionStepUp(human, word)
    expect((await post(stepUp)).status).toBe(200)
    const next = await inDoubt()
    const used = await aWord(next)
    const nonce = { nonce: stepUp.payload['nonce'] as string }
    const again = await service.post(
      `/execution-intents/${next}/resolve`,
      { resolution, note, stepUpAuthorization: aResolutionStepUp(human, used, nonce) },
      human,
    )
    expect([again.status, again.body.error]).toEqual([
      403,
      expect.stringContaining('its nonce has been used'),
    ])
  })
})

describe('POST /execution-intents/{id}/resolve 400 invalidField', () => {
  const note = 'A note.'
  test.each([
    [{}, 'resolution is required.'],
    [{ resolution: 'EXECUTED' }, 'note is required.'],
    [{ resolution: 'EXECUTED', note: ' \n ' }, 'note is required.'],
    [{ resolution: null, note }, 'resolution is required.'],
    [{ resolution: 'executed', note }, 'resolution must be EXECUTED or NOT_EXECUTED, as a human found out.'],
    [
      { resolution: ['EXECUTED'], note },
      'resolution must be EXECUTED or NOT_EXECUTED, as a human found out.',
    ],
    [
      { resolution: 'EXECUTED', note: 7 },
      'note must be a text of 1 to 1000 characters that says how you know.',
    ],
    [
      { resolution: 'EXECUTED', note: 'x'.repeat(1_001) },
      'note must be a text of 1 to 1000 characters that says how you know.',
    ],
    [{ resolution: 'EXECUTED', note, by: 'somebody else' }, 'by is not a member that is known here.'],
    ['[]', 'the body must be an object.'],
    ['{"resolution":"EXECUTED","resolution":"NOT_EXECUTED","note":"x"}', 'Malformed JSON body.'],
  ])('%j', async (body, error) => {
    const id = await inDoubt()
    expect(reply(await resolve(id, body))).toEqual({ status: 400, body: { error } })
    expect(await intentState(database, id)).toBe('RELEASED')
  })
})

describe('POST /execution-intents/{id}/resolve 404 intentNotFound', () => {
  test.each([randomUUID(), 'nothing', 'unfinalized'])('%s', async (id) => {
    const notFound = { status: 404, body: { error: 'Execution intent not found.' } }
    expect(reply(await resolve(id))).toEqual(notFound)
    expect(reply(await finalize(id))).toEqual(notFound)
  })
})

describe('POST /execution-intents/{id}/resolve 409 conflict', () => {
  test('what is closed, with its state; and what is under way before its deadline', async () => {
    expect(reply(await resolve(await executed()))).toEqual(conflict('The execution intent is FINALIZED.'))
    expect(reply(await resolve(await executed({ fail: true })))).toEqual(
      conflict('The execution intent is ERRORED.'),
    )
    const slow = aSlowTransaction(UNDER_WAY_MS)
    const id = slow.businessTransactionId
    const answer = service.post('/execute', slow)
    await until(() => intentState(database, id), 'the release')
    const underway = conflict('The execution intent is RELEASED, and its deadline has not passed.')
    expect(reply(await resolve(id))).toEqual(underway)
    expect(reply(await finalize(id))).toEqual(underway)
    expect((await answer).status).toBe(200)
  })

  // proves abuse: Resolving against a record that holds
  test('no word stands against a stored record that holds', async () => {
    const id = await inDoubt('kept')
    const body = { resolution: 'NOT_EXECUTED', note: 'I would rather it had not happened.' }
    expect(reply(await resolve(id, body))).toEqual(
      conflict('A stored Execution Trust Record proves the outcome: finalize the intent.'),
    )
    expect(await intentState(database, id)).toBe('RELEASED')
  })

  test('a record that does not hold stands in nobody’s way', async () => {
    const id = await inDoubt('kept')
    await tamper(id, (body) => body.replace('"status":"COMPLETED"', '"status":"FAILED"'))
    expect((await resolve(id)).status).toBe(200)
  })
})

describe('a worker and a human at the same moment', () => {
  // proves abuse: A stale worker that finishes
  test('a worker that finishes after the resolution changes nothing and answers 502', async () => {
    const slow = aSlowTransaction(UNDER_WAY_MS)
    const id = slow.businessTransactionId
    const answer = service.post('/execute', slow)
    await until(() => intentState(database, id), 'the release')
    await passDeadline(database, id)
    const resolved = await resolve(id, { resolution: 'NOT_EXECUTED', note: 'Nothing arrived.' })
    expect(resolved.status).toBe(200)
    expect((await answer).status).toBe(502)
    expect((await read(id)).body).toEqual(resolved.body)
    expect(await rowsOf(database, id)).toMatchObject({ trust_records: 0, verifications: 0, receipts: 0 })
  })

  // proves abuse: A stale worker that finishes
  test('whoever is first wins whole: a record and no resolution, or a resolution and no record', async () => {
    const WORKS_MS = 4_000
    const slow = Array.from({ length: 30 }, () => aSlowTransaction(WORKS_MS))
    const ids = slow.map((one) => one.businessTransactionId)
    const answers = slow.map((one) => service.post('/execute', one))
    await until(async () => {
      const states = await Promise.all(ids.map((id) => intentState(database, id)))
      return states.every((state) => state === 'RELEASED')
    }, 'the releases')
    await passDeadline(database, ...ids)
    const outcomes = await Promise.all(
      ids.map(async (id, i) => {
        const { body } = await read(id)
        // The first three long before their connector answers, the last three after, the others around that moment.
        const due = Date.parse(body.releasedAt) + WORKS_MS - 100 + i * 10
        if (i >= 27) await answers[i]
        else if (i >= 3) await until(() => Date.now() >= due, 'the moment')
        let resolved = await resolve(id)
        // A thread that stores the evidence of many may hold the lock for longer than a request waits: nothing was done, and it is asked again.
        while (resolved.status === 503) resolved = await resolve(id)
        return { id, resolved: resolved.status, executed: (await answers[i])?.status }
      }),
    )
    for (const { id, ...statuses } of outcomes) {
      const { trust_records } = await rowsOf(database, id)
      const { state, transitions } = (await read(id)).body
      const seen = { ...statuses, state, transitions: transitions.length, trust_records }
      expect([
        { resolved: 200, executed: 502, state: 'RESOLVED', transitions: 1, trust_records: 0 },
        { resolved: 409, executed: 200, state: 'FINALIZED', transitions: 0, trust_records: 1 },
      ]).toContainEqual(seen)
    }
    expect(new Set(outcomes.map(({ resolved }) => resolved))).toEqual(new Set([200, 409]))
  })
})

/** Edits a stored record; with its digest in the seal recomputed, as somebody who can write the tables would. */
async function tamper(id: string, edit: (body: string) => string): Promise<void> {
  const where = 'WHERE business_transaction_id = $1::uuid'
  const { rows } = await database.pool.query<{ body: string; seal: string }>(
    `SELECT body, seal FROM trust_records ${where}`,
    [id],
  )
  const { body = '', seal = '' } = rows[0] ?? {}
  const edited = edit(body)
  expect(edited).not.toBe(body)
  await database.pool.query(`UPDATE execution_evidence SET body = $2, seal = $3 ${where}`, [
    id,
    edited,
    seal.replace(sha256Hex(body), sha256Hex(edited)),
  ])
}

/** Puts the record of one execution in the place of another's. */
async function swap(from: string, to: string): Promise<void> {
  const { rows } = await database.pool.query<{ body: string; seal: string }>(
    `SELECT body, seal FROM trust_records WHERE business_transaction_id = $1::uuid`,
    [from],
  )
  await database.pool.query(
    `UPDATE execution_evidence SET body = $2, seal = $3 WHERE business_transaction_id = $1::uuid`,
    [to, rows[0]?.body, rows[0]?.seal],
  )
}

describe('POST /execution-intents/{id}/finalize 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test.each([
    ['FINALIZED', {}],
    ['ERRORED', { fail: true }],
  ])('from a stored record that holds: %s, signed and audited', async (state, parameters) => {
    const id = await inDoubt('kept', parameters)
    expect(idsOf(await unfinalized())).toContain(id)
    const record = (await service.get(`/trust-records/${id}`)).body
    const finalized = await finalize(id, state === 'FINALIZED' ? undefined : {})
    expect(finalized.status).toBe(200)
    expect(finalized.body).toEqual((await read(id)).body)
    expect(finalized.body).toMatchObject({ state, inDoubt: false })
    expect(finalized.body).not.toHaveProperty('resolution')
    const [transition] = finalized.body.transitions
    expect(transition.transition).toEqual({
      transitionId: expect.any(String),
      businessTransactionId: id,
      from: 'RELEASED',
      to: state,
      by: 'olive',
      at: finalized.body.closedAt,
      trustRecordHash: record.trustRecordHash,
    })
    expectSigned(transition)
    expect(await events('intent.finalized', id)).toMatchObject([{ callerId: 'olive' }])
    expect(await notedInDoubt(database)).not.toContain(id)
    expect((await service.get(`/trust-records/${id}`)).body).toEqual(record)
    expect(reply(await finalize(id))).toEqual(conflict(`The execution intent is ${state}.`))
  })
})

const proves = (problem: string) => `The stored Execution Trust Record proves nothing: ${problem}`

describe('POST /execution-intents/{id}/finalize 409 conflict', () => {
  test('no record is stored', async () => {
    const id = await inDoubt()
    const none = conflict('No Execution Trust Record is stored for this execution intent.')
    expect(reply(await finalize(id))).toEqual(none)
    expect(await intentState(database, id)).toBe('RELEASED')
  })

  // proves abuse: Closing an execution by false
  test('a flipped outcome with a recomputed digest closes nothing', async () => {
    const id = await inDoubt('kept')
    await tamper(id, (body) =>
      body.replace('"status":"COMPLETED"', '"status":"FAILED"').replace('"success":true', '"success":false'),
    )
    const { status, body } = await finalize(id)
    expect(status).toBe(409)
    expect(body.error).toContain(proves('The trust record signature is not valid'))
    expect(await intentState(database, id)).toBe('RELEASED')
    expect((await read(id)).body.transitions).toEqual([])
  })

  // proves abuse: Closing an execution by false
  test('evidence of another execution cannot settle this one', async () => {
    const id = await inDoubt('kept')
    await swap(await executed(), id)
    const { status, body } = await finalize(id)
    expect(status).toBe(409)
    expect(body.error).toContain('The trust record is stored under another transaction')
    expect(await intentState(database, id)).toBe('RELEASED')
  })

  // proves abuse: Closing an execution by false
  test('an authorization that was exchanged beside the record', async () => {
    const id = await inDoubt('kept')
    const { rows } = await database.pool.query<{ text: string }>(
      `SELECT execution_authorization AS text FROM business_transactions WHERE business_transaction_id = $1::uuid`,
      [await executed()],
    )
    await database.pool.query(
      `UPDATE business_transactions SET execution_authorization = $2 WHERE business_transaction_id = $1::uuid`,
      [id, rows[0]?.text],
    )
    const { status, body } = await finalize(id)
    expect(status).toBe(409)
    expect(body.error).toContain('The trust record hash does not match the canonical record')
    expect(await intentState(database, id)).toBe('RELEASED')
  })
})

describe('POST /execution-intents/{id}/finalize 400 invalidField', () => {
  test.each([
    [{ state: 'FINALIZED' }, 'state is not a member that is known here.'],
    ['[]', 'the body must be an object.'],
    ['null', 'the body must be an object.'],
    ['{', 'Malformed JSON body.'],
  ])('%j', async (body, error) => {
    const id = await inDoubt('kept')
    expect(reply(await finalize(id, body))).toEqual({ status: 400, body: { error } })
    expect(await intentState(database, id)).toBe('RELEASED')
  })
})
