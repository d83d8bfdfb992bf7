// Payment providers speak of executions: confirmations, the intents in doubt that they close, and contradictions.
import { createHash, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listWaitingWebhooks } from '../../src/store/tables/webhook-events.ts'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import {
  DEAD_WEBHOOK_QUEUE,
  WEBHOOK_BATCH_QUEUE,
  WEBHOOK_QUEUE,
} from '../../src/store/queues/webhook-queue.ts'
import {
  aBankDelivery,
  bankEnv,
  bankRulesHash,
  deliverFromBank,
  outcomeOf,
  type BankDelivery,
} from '../bank.ts'
import { aHuman, putInEffect } from '../authority.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { checked } from '../fsck/mix.ts'
import { intentState, passDeadline, putInDoubt } from '../intents.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { scrape, total } from '../metrics/scrape.ts'
import { aCaller, startService, until, type TestService } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'

const human = aHuman('human')
const checker = aHuman('checker')
const other = aCaller('other', { allowedPrincipalIds: ['tester'], allowedCapabilities: ['*'] })
const auditor = aCaller('auditor', { readAll: true })
const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-confirmations-'))
const policyDir = aPolicyFolder()
const PAY = 'vendor:pay'
const HANG = 'vendor:hang'
let database: TestDatabase
let service: TestService

beforeAll(async () => {
  database = await createDatabase()
  makeKeys(signingKeyDir)
  addPolicy(policyDir, { name: 'pay', version: '1.0.0', capability: PAY })
  addPolicy(policyDir, { name: 'hang', version: '1.0.0', capability: HANG })
  service = await startService({
    databaseUrl: database.url,
    signingKeyDir,
    callers: [human.entry, checker.entry, other.entry, auditor.entry],
    env: { ...bankEnv, METRICS_PORT: '0', POLICY_DIR: policyDir },
  })
})

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  // fsck finds no damage in the data of these tests.
  const { lines } = await checked(database, signingKeyDir)
  expect(lines).toEqual([])
  await database.drop()
  for (const folder of [signingKeyDir, policyDir]) rmSync(folder, { recursive: true })
})

async function executed(members: Parameters<typeof aTransaction>[0] = {}): Promise<string> {
  const transaction = aTransaction(members)
  expect((await service.post('/execute', transaction)).status).toBe(200)
  return transaction.businessTransactionId
}

async function inDoubt(): Promise<string> {
  const id = await executed()
  await putInDoubt(database, id)
  return id
}

/** Delivers, and resolves to what became of it. */
async function told(delivery: BankDelivery) {
  expect((await deliverFromBank(service, delivery)).body).toEqual({ status: 'accepted' })
  return ended(delivery)
}

function ended(delivery: BankDelivery) {
  return until(async () => {
    const row = await outcomeOf(database, delivery)
    return row.outcome === null ? undefined : row
  }, 'the delivery to be processed')
}

interface Confirmation {
  readonly confirmation: Record<string, unknown> & { confirmationId: string }
  readonly signature: object
}

async function confirmationsOf(id: string, key = service.key): Promise<Confirmation[]> {
  const { status, body } = await service.get(`/confirmations/${id}`, { key })
  expect(status).toBe(200)
  return body.confirmations as Confirmation[]
}

async function intentOf(id: string) {
  const { body } = await service.get(`/execution-intents/${id}`)
  return body as {
    state: string
    inDoubt: boolean
    resolution?: string
    transitions: { transition: Record<string, unknown> }[]
  }
}

async function contradictionsOf(id: string): Promise<Record<string, unknown>[]> {
  const { body } = await service.get('/audit/events?type=confirmation.contradicts&pageSize=100', human)
  const events = body.events as { event: { severity: string; detail: Record<string, unknown> } }[]
  const own = events.map(({ event }) => event).filter(({ detail }) => detail['businessTransactionId'] === id)
  for (const { severity } of own) expect(severity).toBe('WARNING')
  return own.map(({ detail }) => detail)
}

describe('an intent in doubt', () => {
  test.each([
    ['paid', 'EXECUTED', 'executed'],
    ['refused', 'NOT_EXECUTED', 'not_executed'],
  ] as const)(
    'is closed by the word %s as %s, with a transition that cites it',
    async (event, resolution, says) => {
      const id = await inDoubt()
      const delivery = aBankDelivery(event, id)
      expect(await told(delivery)).toMatchObject({
        outcome: 'confirmed',
        rule_id: event,
        business_transaction_id: id,
      })
      const [one, ...others] = await confirmationsOf(id)
      expect(others).toEqual([])
      expect(one?.confirmation).toEqual({
        confirmationId: expect.any(String),
        provider: 'bank',
        eventId: delivery.eventId,
        deliveryHash: createHash('sha256').update(delivery.body).digest('hex'),
        ruleId: event,
        rulesHash: bankRulesHash,
        businessTransactionId: id,
        says,
        comparisons:
          event === 'paid'
            ? [{ expression: 'payload.amount == transaction.intent.parameters.amount', holds: true }]
            : [],
        receivedAt: expect.any(String),
      })
      const intent = await intentOf(id)
      expect(intent).toMatchObject({ state: 'RESOLVED', inDoubt: false, resolution })
      expect(intent.transitions.at(-1)?.transition).toMatchObject({
        by: 'webhook:bank',
        confirmationId: one?.confirmation.confirmationId,
        resolution,
      })
      const keys = (await service.get('/.well-known/jwks.json', { key: null })).body
      for (const evidence of [one, intent.transitions.at(-1)])
        expect(verifyEvidence(JSON.stringify(evidence), keys)).toMatchObject({ valid: true })
      expect(await contradictionsOf(id)).toEqual([])
      // Nobody is told of it as something to look at any more.
      const { body } = await service.get('/execution-intents/unfinalized?pageSize=100', human)
      expect(JSON.stringify(body)).not.toContain(id)
    },
  )

  test('is closed by its authorizationId too', async () => {
    const id = await inDoubt()
    const { body } = await service.get(`/execution-intents/${id}`)
    const { authorizationId } = (body.authorization as { payload: { authorizationId: string } }).payload
    expect(await told(aBankDelivery('paid', authorizationId))).toMatchObject({
      outcome: 'confirmed',
      business_transaction_id: id,
    })
    expect(await intentState(database, id)).toBe('RESOLVED')
  })

  // proves abuse: A delivery for another caller’s transaction
  test('of another caller is closed all the same: the rules bind a provider, nothing else', async () => {
    const transaction = aTransaction()
    expect((await service.post('/execute', transaction, { key: other.key })).status).toBe(200)
    const id = transaction.businessTransactionId
    await putInDoubt(database, id)
    expect(await told(aBankDelivery('paid', id))).toMatchObject({ outcome: 'confirmed' })
    expect(await confirmationsOf(id, other.key)).toHaveLength(1)
  })

  test('stays in doubt where the provider has not decided, and where what it says differs', async () => {
    const id = await inDoubt()
    expect(await told(aBankDelivery('held', id))).toMatchObject({ outcome: 'pending' })
    expect(await told(aBankDelivery('paid', id, { amount: 41 }))).toMatchObject({ outcome: 'contradicted' })
    expect(await told(aBankDelivery('odd', id))).toMatchObject({
      outcome: 'rule-failed',
      rule_id: 'odd',
      detail: expect.stringMatching(/^Rule 'odd' could not be compared: .*: No such key: \w+\.$/) as string,
    })
    expect(await intentOf(id)).toMatchObject({ state: 'RELEASED', inDoubt: true, transitions: [] })
    // Nothing is signed of what could not be compared.
    const says = (await confirmationsOf(id)).map(({ confirmation }) => confirmation['says'])
    expect(says).toEqual(['executed', 'pending'])
    expect(await contradictionsOf(id)).toHaveLength(1)
  })

  // proves abuse: A word twice, under two ids
  test('with a stored record that proves its end is not closed by a word', async () => {
    const id = await executed()
    await putInDoubt(database, id, 'kept')
    expect(await told(aBankDelivery('refused', id))).toMatchObject({ outcome: 'contradicted' })
    expect(await intentState(database, id)).toBe('RELEASED')
    expect((await service.post(`/execution-intents/${id}/finalize`, {}, human)).status).toBe(200)
  })
})

describe('out of order', () => {
  // proves abuse: A word twice, under two ids
  test('the first word closes, the second one that differs contradicts', async () => {
    const id = await inDoubt()
    expect(await told(aBankDelivery('paid', id))).toMatchObject({ outcome: 'confirmed' })
    expect(await told(aBankDelivery('refused', id))).toMatchObject({
      outcome: 'contradicted',
      detail: 'The provider says not_executed, and the execution intent is RESOLVED as EXECUTED.',
    })
    expect(await intentOf(id)).toMatchObject({ resolution: 'EXECUTED' })
    expect(await confirmationsOf(id)).toHaveLength(2)
    expect(await contradictionsOf(id)).toHaveLength(1)
  })

  // proves abuse: A word twice, under two ids
  test('also where both come at once: one of them closes', async () => {
    const id = await inDoubt()
    const deliveries = [aBankDelivery('paid', id), aBankDelivery('refused', id)]
    await Promise.all(deliveries.map((delivery) => deliverFromBank(service, delivery)))
    const outcomes = await Promise.all(deliveries.map(async (delivery) => (await ended(delivery)).outcome))
    expect(new Set(outcomes)).toEqual(new Set(['confirmed', 'contradicted']))
    expect((await intentOf(id)).transitions).toHaveLength(1)
  })

  // proves abuse: A word twice, under two ids
  test('a word twice confirms twice, and closes once', async () => {
    const id = await inDoubt()
    const delivery = aBankDelivery('paid', id)
    expect(await told(delivery)).toMatchObject({ outcome: 'confirmed' })
    expect((await deliverFromBank(service, delivery)).body).toEqual({ status: 'acknowledged' })
    expect(await told(aBankDelivery('paid', id))).toMatchObject({ outcome: 'confirmed' })
    expect(await confirmationsOf(id)).toHaveLength(2)
    expect((await intentOf(id)).transitions).toHaveLength(1)
  })
})

const slow = () => aTransaction({ intent: { parameters: { amount: 42, delayMs: 3_000 } } })

describe('before the connector answers', () => {
  // proves abuse: A word before the connector
  test('a word waits, and is held against what the connector says', async () => {
    const transaction = slow()
    const id = transaction.businessTransactionId
    const answer = service.post('/execute', transaction)
    await until(async () => (await intentState(database, id)) === 'RELEASED', 'the release')
    const delivery = aBankDelivery('refused', id)
    await deliverFromBank(service, delivery)
    const waiting = await until(async () => {
      const row = await outcomeOf(database, delivery)
      return row.detail === null ? undefined : row
    }, 'the delivery to wait')
    expect(waiting).toMatchObject({ outcome: null, processed_at: null, business_transaction_id: id })
    const listed = await listWaitingWebhooks(database.pool, {
      queues: [WEBHOOK_QUEUE, WEBHOOK_BATCH_QUEUE],
      deadQueue: DEAD_WEBHOOK_QUEUE,
      status: 'pending',
      limit: 20,
    })
    expect(listed.find(({ eventId }) => eventId === delivery.eventId)?.reason).toBe(waiting.detail)
    expect(await confirmationsOf(id)).toEqual([])
    expect((await answer).status).toBe(200)
    expect(await ended(delivery)).toMatchObject({ outcome: 'contradicted' })
    expect(await intentState(database, id)).toBe('FINALIZED')
  })

  // proves abuse: A word before the connector
  test('a word closes what is in doubt once its deadline has passed', async () => {
    const transaction = slow()
    const id = transaction.businessTransactionId
    const answer = service.post('/execute', transaction)
    await until(async () => (await intentState(database, id)) === 'RELEASED', 'the release')
    const delivery = aBankDelivery('paid', id)
    await deliverFromBank(service, delivery)
    await until(async () => (await outcomeOf(database, delivery)).detail !== null, 'the delivery to wait')
    await passDeadline(database, id)
    expect(await ended(delivery)).toMatchObject({ outcome: 'confirmed' })
    expect(await intentOf(id)).toMatchObject({ state: 'RESOLVED', resolution: 'EXECUTED' })
    // It answers after somebody else has said how it ended.
    expect((await answer).status).toBe(502)
  })
})

describe('a human at the same moment', () => {
  // proves abuse: A word twice, under two ids
  test('one of them closes the intent, and the other is told', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, inDoubt))
    const deliveries = ids.map((id) => aBankDelivery('paid', id))
    const note = { resolution: 'NOT_EXECUTED', note: 'The bank says no.' }
    const [answers] = await Promise.all([
      Promise.all(ids.map((id) => service.post(`/execution-intents/${id}/resolve`, note, human))),
      Promise.all(deliveries.map((delivery) => deliverFromBank(service, delivery))),
    ])
    for (const [i, id] of ids.entries()) {
      const { outcome } = await ended(deliveries[i]!)
      const { resolution, transitions } = await intentOf(id)
      expect(transitions).toHaveLength(1)
      if (answers[i]!.status === 200) expect([resolution, outcome]).toEqual(['NOT_EXECUTED', 'contradicted'])
      else {
        expect(answers[i]!.status).toBe(409)
        expect([resolution, outcome]).toEqual(['EXECUTED', 'confirmed'])
      }
    }
  })

  test('a human who comes later is told that it is closed', async () => {
    const id = await inDoubt()
    await told(aBankDelivery('paid', id))
    const answer = await service.post(
      `/execution-intents/${id}/resolve`,
      { resolution: 'NOT_EXECUTED', note: 'Asked.' },
      human,
    )
    expect([answer.status, answer.body]).toEqual([
      409,
      { error: 'The execution intent is RESOLVED.', code: 'CONFLICT' },
    ])
  })
})

describe('what this service knows', () => {
  test('is confirmed where the provider says the same', async () => {
    const id = await executed()
    expect(await told(aBankDelivery('paid', id))).toMatchObject({ outcome: 'confirmed' })
    expect(await contradictionsOf(id)).toEqual([])
  })

  test('is contradicted where it says COMPLETED and the provider not_executed', async () => {
    const id = await executed()
    const delivery = aBankDelivery('refused', id)
    expect(await told(delivery)).toMatchObject({
      outcome: 'contradicted',
      detail: 'The provider says not_executed, and the execution intent is FINALIZED.',
    })
    const [one] = await confirmationsOf(id)
    expect(await contradictionsOf(id)).toEqual([
      {
        businessTransactionId: id,
        confirmationId: one?.confirmation.confirmationId,
        eventId: delivery.eventId,
        provider: 'bank',
        ruleId: 'refused',
        says: 'not_executed',
        submittedBy: 'tester',
      },
    ])
  })

  test('is contradicted where it failed for certain and the provider says executed', async () => {
    const transaction = aTransaction({ intent: { parameters: { amount: 42, fail: true } } })
    expect((await service.post('/execute', transaction)).status).toBe(500)
    const id = transaction.businessTransactionId
    expect(await told(aBankDelivery('paid', id))).toMatchObject({ outcome: 'contradicted' })
    expect(await told(aBankDelivery('refused', id))).toMatchObject({ outcome: 'confirmed' })
  })

  test('is contradicted where nothing was released and the provider says executed', async () => {
    const transaction = aRejectedTransaction()
    expect((await service.post('/execute', transaction)).status).toBe(500)
    const id = transaction.businessTransactionId
    const amount = transaction.intent.parameters['amount']
    expect(await told(aBankDelivery('paid', id, { amount }))).toMatchObject({
      outcome: 'contradicted',
      detail: 'The provider says executed, and this service has released nothing.',
    })
    expect(await told(aBankDelivery('refused', id))).toMatchObject({ outcome: 'confirmed' })
  })
})

describe('what a provider contradicts', () => {
  let completed: string
  let refused: string
  let agreed: string
  let latest: BankDelivery
  const target = `vendor-${randomUUID()}`

  beforeAll(async () => {
    const rejected = aRejectedTransaction()
    await service.post('/execute', { ...rejected, intent: { ...rejected.intent, target } })
    ;[refused, completed] = [rejected.businessTransactionId, await executed({ intent: { target } })]
    agreed = await executed({ intent: { target } })
    await told(aBankDelivery('paid', refused))
    await told(aBankDelivery('paid', agreed))
    await told(aBankDelivery('refused', completed))
    // The same execution twice: it is listed and counted once.
    latest = aBankDelivery('refused', completed)
    await told(latest)
    await until(async () => (await found('executions', '')).length === 3, 'the catalogue to have all three')
  })

  /** The ids in a list, in the order of their texts. */
  async function found(path: 'executions' | 'refusals', query: string, key = auditor.key) {
    const { status, body } = await service.get(`/${path}?target=${target}${query}`, { key })
    expect(status).toBe(200)
    const listed = body[path] as { businessTransactionId: string; contradicted?: true }[]
    for (const { businessTransactionId: id, contradicted } of path === 'executions' ? listed : [])
      expect([id, contradicted]).toEqual([id, id === agreed ? undefined : true])
    return listed.map(({ businessTransactionId }) => businessTransactionId).toSorted()
  }

  test('is marked and found in each list of executions, and counted as the list has it', async () => {
    const both = [completed, refused].toSorted()
    expect(await found('executions', '&contradicted=true')).toEqual(both)
    expect(await found('executions', '&contradicted=true', service.key)).toEqual(both)
    expect(await found('executions', '&contradicted=true', other.key)).toEqual([])
    expect(await found('executions', '&contradicted=false')).toEqual([agreed])
    expect(await found('executions', '&contradicted=true&status=completed')).toEqual([completed])
    expect(await found('refusals', '&contradicted=true')).toEqual([refused])
    expect(await found('refusals', '&contradicted=false')).toEqual([])

    const since = new Date(Date.now() - 86_400_000).toISOString()
    const counted = await service.get(`/statistics?contradicted=true&since=${since}&bucket=day`, auditor)
    const all = await service.get(`/executions?contradicted=true&since=${since}&pageSize=100`, auditor)
    const buckets = counted.body.buckets as { groups: { count: number }[] }[]
    expect(buckets.flatMap(({ groups }) => groups).reduce((sum, { count }) => sum + count, 0)).toBe(
      (all.body.executions as object[]).length,
    )
    const answer = await fetch(`${service.url}/executions?target=${target}&contradicted=true`, {
      headers: { Authorization: `Bearer ${auditor.key}`, Accept: 'text/csv' },
    })
    const lines = (await answer.text()).trimEnd().split('\r\n')
    expect(lines.map((line) => line.split(',').at(-1))).toEqual(['contradicted', 'true', 'true'])
    const { status, body } = await service.get('/executions?contradicted=yes', auditor)
    expect([status, body.error]).toEqual([400, 'contradicted must be one of true, false.'])
  })

  test('is what its deliveries say now, also where one came to something else later', async () => {
    const set = (outcome: string) =>
      database.pool.query(
        `UPDATE webhook_events SET outcome = $1 WHERE business_transaction_id = $2 AND outcome IN ('confirmed', 'contradicted')`,
        [outcome, refused],
      )
    await set('confirmed')
    expect(await found('executions', `&contradicted=true&status=refused`)).toEqual([])
    await set('contradicted')
    expect(await found('executions', `&contradicted=true&status=refused`)).toEqual([refused])
    expect((await outcomeOf(database, latest)).outcome).toBe('contradicted')
  })
})

describe('a delivery that closes nothing', () => {
  // proves abuse: A delivery that no rule takes
  test('is kept with what became of it', async () => {
    const [id, another] = [await inDoubt(), await executed()]
    const unknown = randomUUID()
    expect(await told(aBankDelivery('other', id))).toMatchObject({ outcome: 'no-match', rule_id: null })
    expect(await told(aBankDelivery('paid', [id, another]))).toMatchObject({ outcome: 'ambiguous' })
    expect(await told(aBankDelivery('paid', unknown))).toMatchObject({
      outcome: 'unknown',
      rule_id: 'paid',
      detail: `No transaction has the id ${unknown}.`,
    })
    expect(await told(aBankDelivery('paid', 'no uuid'))).toMatchObject({ outcome: 'rule-failed' })
    // PostgreSQL takes no NUL in the reason that quotes it.
    const noJson = { body: '\0event=paid', eventId: `evt_${randomUUID()}` }
    expect(await told(noJson)).toMatchObject({
      outcome: 'no-match',
      detail:
        "The body is no JSON with one reading, so no rule can read it: Unexpected token '\ufffd', … is not valid JSON.",
    })
    expect(await intentState(database, id)).toBe('RELEASED')
    expect(await confirmationsOf(id)).toEqual([])
  })

  // proves abuse: A delivery that no rule takes
  test('is ambiguous where one transaction has as its id the authorizationId of another', async () => {
    const id = await inDoubt()
    const { body } = await service.get(`/execution-intents/${id}`)
    const { authorizationId } = (body.authorization as { payload: { authorizationId: string } }).payload
    const impostor = aTransaction({ businessTransactionId: authorizationId })
    expect((await service.post('/execute', impostor)).status).toBe(200)
    expect(await told(aBankDelivery('paid', authorizationId))).toMatchObject({ outcome: 'ambiguous' })
    expect(await intentState(database, id)).toBe('RELEASED')
  })
})

// proves abuse: A delivery that no rule takes
test('again by the same rules it confirms nothing twice, and closes what it could not before', async () => {
  const id = randomUUID()
  const delivery = aBankDelivery('paid', id)
  expect(await told(delivery)).toMatchObject({ outcome: 'unknown' })
  const transaction = aTransaction({ businessTransactionId: id })
  expect((await service.post('/execute', transaction)).status).toBe(200)
  const { rows } = await database.pool.query<{ key: string }>(
    'SELECT event_key AS key FROM webhook_events WHERE event_id = $1',
    [delivery.eventId],
  )
  for (let run = 1; run <= 2; run++) {
    const again = await service.post(`/webhook-events/${rows[0]?.key}/process`, {}, human)
    expect(again.status, again.text).toBe(200)
    expect(await ended(delivery)).toMatchObject({ outcome: 'confirmed' })
  }
  expect(await confirmationsOf(id)).toHaveLength(1)
})

// proves abuse: A payload against the rules
test('payloads that are deep, wide and a megabyte large end as failed rules, and what comes behind them is done', async () => {
  const id = await inDoubt()
  const hostile = [
    aBankDelivery(
      'paid',
      Array.from({ length: 25_000 }, () => id),
    ),
    aBankDelivery('paid', JSON.parse('['.repeat(60) + ']'.repeat(60)) as string[]),
    aBankDelivery('paid', 'x'.repeat(900_000)),
    aBankDelivery('x'.repeat(900_000) as 'paid', id),
  ]
  for (const delivery of hostile)
    expect((await deliverFromBank(service, delivery)).body).toEqual({ status: 'accepted' })
  const ordinary = aBankDelivery('paid', id)
  await deliverFromBank(service, ordinary)
  expect((await service.post('/execute', aTransaction())).status).toBe(200)
  for (const delivery of hostile) expect(await ended(delivery)).toMatchObject({ outcome: 'rule-failed' })
  expect(await ended(ordinary)).toMatchObject({ outcome: 'confirmed' })
  expect(await confirmationsOf(id)).toHaveLength(1)
})

describe('GET /confirmations/{id} 200', () => {
  test('pages, newest first, for the owner, humans and auditors', async () => {
    const id = await executed()
    for (const event of ['held', 'paid'] as const) await told(aBankDelivery(event, id))
    for (const key of [service.key, human.key, auditor.key]) {
      const first = await service.get(`/confirmations/${id}?pageSize=1`, { key })
      expect((first.body.confirmations as Confirmation[])[0]?.confirmation['says']).toBe('executed')
      const next = /<([^>]+)>; rel="next"/.exec(first.headers.get('link') ?? '')?.[1]
      const second = await service.get(String(next), { key })
      expect((second.body.confirmations as Confirmation[])[0]?.confirmation['says']).toBe('pending')
      expect(second.headers.get('link')).toBeNull()
    }
    expect(await confirmationsOf(id.toUpperCase())).toHaveLength(2)
  })

  // proves abuse: A delivery for another caller’s transaction
  test('404 transactionNotFound of an unknown id, of one that is none, and of another caller', async () => {
    const id = await executed()
    for (const [path, key] of [
      [randomUUID(), service.key],
      ['no-id', service.key],
      [id, other.key],
    ] as const) {
      const { status, body } = await service.get(`/confirmations/${path}`, { key })
      expect([status, body]).toEqual([404, { error: 'Business Transaction not found.' }])
    }
  })

  test('400 of a page that is none', async () => {
    const id = await executed()
    for (const query of ['page=0', 'pageSize=101', 'cursor=x'])
      expect((await service.get(`/confirmations/${id}?${query}`)).status).toBe(400)
  })
})

describe('a record', () => {
  test('has its confirmations beside it, and verifies with them', async () => {
    const id = await executed()
    const before = await service.get(`/trust-records/${id}`)
    expect(before.body).not.toHaveProperty('confirmations')
    await told(aBankDelivery('held', id))
    await told(aBankDelivery('refused', id))
    const { body, text, headers } = await service.get(`/trust-records/${id}`)
    expect(headers.get('etag')).not.toBe(before.headers.get('etag'))
    const { confirmations, ...record } = body as { confirmations: Confirmation[] }
    expect(record).toEqual(before.body)
    expect(confirmations.map(({ confirmation }) => confirmation['says'])).toEqual(['pending', 'not_executed'])
    const keys = (await service.get('/.well-known/jwks.json', { key: null })).body
    const report = verifyEvidence(text, keys)
    expect(report.valid).toBe(true)
    expect(report.checks.map(({ name }) => name)).toContain('confirmations')
    expect(report.notes).toContain('The provider "bank" says not_executed, and the record says COMPLETED.')
  })

  test('has them in its bundle, each with its proof', async () => {
    const id = await executed()
    await told(aBankDelivery('paid', id))
    const { status, text, body } = await service.get(`/trust-records/${id}?bundle`, {
      headers: { Prefer: 'wait=10' },
    })
    expect(status).toBe(200)
    const proofs = body.proofs as { kind: string; id: string }[]
    const [one] = await confirmationsOf(id)
    expect(proofs.filter(({ kind }) => kind === 'confirmation').map((proof) => proof.id)).toEqual([
      one?.confirmation.confirmationId,
    ])
    const keys = (await service.get('/.well-known/jwks.json', { key: null })).body
    const log = (await service.get('/.well-known/countersign-log', { key: null })).body
    expect(verifyEvidence(text, keys, { log })).toMatchObject({ valid: true })
    // Its owner has the proof of it alone, too.
    const proof = await service.get(`/log/proofs/confirmation/${one?.confirmation.confirmationId}`)
    expect(proof.status).toBe(200)
    const foreign = await service.get(`/log/proofs/confirmation/${one?.confirmation.confirmationId}`, other)
    expect(foreign.status).toBe(404)
  })
})

const counted = async () => total(await scrape(service), 'countersign_confirmations_total') ?? 0

test('the metrics count what providers say, and what came of it', async () => {
  const before = await counted()
  await told(aBankDelivery('paid', await executed()))
  expect(await until(async () => ((await counted()) > before ? true : undefined), 'the count')).toBe(true)
})

interface Asked {
  readonly businessTransactionId: string
  readonly authorizationId: string
  readonly capability: string
}
type Reply = (asked: Asked, response: ServerResponse) => void

const say =
  (members: object = {}, status = 200): Reply =>
  ({ businessTransactionId, capability }, response) => {
    const answer = { businessTransactionId, capability, success: true, result: { paid: 1 } }
    response
      .writeHead(status)
      .end(JSON.stringify({ ...answer, executedAt: '2026-11-21T10:00:00Z', ...members }))
  }

const closedByConnector = (id: string) =>
  until(async () => {
    const intent = await intentOf(id)
    return intent.state === 'RESOLVED' ? intent : undefined
  }, 'the connector to be asked')
const readBacks = async (outcome: string) =>
  total(await scrape(service), 'countersign_read_backs_total', { outcome }) ?? 0

describe('a connector that can be asked', () => {
  /** By businessTransactionId. */
  const replies = new Map<string, Reply>()
  let server: Server

  beforeAll(async () => {
    // Every release is lost after it arrived, so that each execution is in doubt at once.
    server = createServer((request, response) => {
      if (request.method !== 'GET') {
        request.socket.destroy()
        return
      }
      const sent = Buffer.from(String(request.headers['countersign-question']), 'base64url').toString()
      const { question } = JSON.parse(sent) as { question: Asked }
      const { searchParams } = new URL(`http://localhost${request.url}`)
      expect(searchParams.get('authorizationId')).toBe(question.authorizationId)
      replies.get(question.businessTransactionId)!(question, response)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const endpointUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const shared = { action: 'register', endpointUrl, allowedParameters: ['amount'], readBack: true }
    for (const [capability, policy] of [
      [PAY, 'pay'],
      [HANG, 'hang'],
    ])
      await putInEffect(service, { maker: human, checker }, '/external-connectors/changes', {
        ...shared,
        capability,
        policy,
        timeoutMs: 30_000,
        reason: 'test',
      })
  })
  afterAll(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  /** Resolves to its id once it is in doubt. */
  async function lost(reply: Reply, action = PAY): Promise<string> {
    const policy = { name: action === PAY ? 'pay' : 'hang' }
    const transaction = aTransaction({ intent: { action, parameters: { amount: 42 } }, policy })
    const id = transaction.businessTransactionId
    replies.set(id, reply)
    expect((await service.post('/execute', transaction)).status).toBe(502)
    // A look at what is in doubt sweeps first: the next sweep of the service may be seconds away.
    expect((await service.get('/execution-intents/unfinalized', human)).status).toBe(200)
    return id
  }

  test.each([
    ['EXECUTED', 'executed', {}, 'The connector says that it was executed at 2026-11-21T10:00:00Z.'],
    [
      'NOT_EXECUTED',
      'not_executed',
      { success: false, result: { reason: 'no such account' } },
      'The connector says that it was not executed: no such account.',
    ],
  ] as const)('closes an intent in doubt as %s', async (resolution, outcome, members, note) => {
    const id = await lost(say(members))
    const intent = await closedByConnector(id)
    expect(intent).toMatchObject({ inDoubt: false, resolution })
    const [one, ...others] = intent.transitions
    expect(others).toEqual([])
    expect(one?.transition).toEqual({
      transitionId: expect.any(String),
      businessTransactionId: id,
      from: 'RELEASED',
      to: 'RESOLVED',
      resolution,
      note,
      by: 'connector:vendor:pay',
      at: expect.any(String),
    })
    const keys = (await service.get('/.well-known/jwks.json', { key: null })).body
    expect(verifyEvidence(JSON.stringify(one), keys)).toMatchObject({ valid: true })
    expect(await readBacks(outcome)).toBeGreaterThan(0)
    const { body } = await service.get('/audit/events?type=intent.resolved&pageSize=100', human)
    const events = body.events as { event: { route: string; detail: Record<string, unknown> } }[]
    const audited = events.filter(({ event }) => event.detail['businessTransactionId'] === id)
    expect(
      audited.map(({ event }) => [event.route, event.detail['by'], event.detail['transitionId']]),
    ).toEqual([['service', 'connector:vendor:pay', one?.transition['transitionId']]])
    const closed = await until(async () => {
      const feed = await service.get('/events?types=execution.closed&limit=500', { key: service.key })
      const found = feed.body.events as Record<string, unknown>[]
      return found.find((event) => event['businessTransactionId'] === id)
    }, 'the feed')
    expect(closed).toMatchObject({ by: 'connector:vendor:pay', resolution, callerId: 'tester' })
    // A provider that says something else contradicts it, as it would any end.
    const word = aBankDelivery(resolution === 'EXECUTED' ? 'refused' : 'paid', id)
    expect(await told(word)).toMatchObject({ outcome: 'contradicted' })
    expect(await contradictionsOf(id)).toHaveLength(1)
  })

  test('that contradicts the provider, who was faster, is told to the audit and closes nothing', async () => {
    const asked = Promise.withResolvers<() => void>()
    const id = await lost((question, response) => asked.resolve(() => say()(question, response)))
    const answer = await asked.promise
    expect(await told(aBankDelivery('refused', id))).toMatchObject({ outcome: 'confirmed' })
    answer()
    const [contradiction] = await until(async () => {
      const found = await contradictionsOf(id)
      return found.length > 0 ? found : undefined
    }, 'the contradiction')
    const [confirmed] = await confirmationsOf(id)
    expect(contradiction).toMatchObject({
      by: 'connector:vendor:pay',
      says: 'executed',
      confirmationId: confirmed?.confirmation.confirmationId,
    })
    const { resolution, transitions } = await intentOf(id)
    expect([resolution, transitions.length]).toEqual(['NOT_EXECUTED', 1])
  })

  // proves abuse: A connector that, asked what became
  test('that lies about ids, answers megabytes, or denies too early leaves the doubt; one that hangs delays no other', async () => {
    const unknown = await readBacks('unknown')
    const hangs = Promise.withResolvers<ServerResponse>()
    const hanging = await lost((_, response) => hangs.resolve(response), HANG)
    const open = await hangs.promise
    const left = [
      await lost(say({ businessTransactionId: randomUUID() })),
      await lost(say({ capability: HANG })),
      await lost((_, response) => response.writeHead(200).end('x'.repeat(4_000_000))),
      await lost((_, response) => response.writeHead(404).end('no such path')),
      // Named, but the release could still be taken.
      await lost(say({}, 404)),
      await lost((_, response) => response.writeHead(302, { location: '/' }).end()),
    ]
    await until(async () => (await readBacks('unknown')) >= unknown + left.length, 'each to be asked')
    await closedByConnector(await lost(say()))
    expect(open.writableEnded || open.destroyed).toBe(false)
    for (const id of [...left, hanging]) {
      expect(await intentOf(id)).toMatchObject({ state: 'RELEASED', inDoubt: true, transitions: [] })
      const said = { resolution: 'NOT_EXECUTED', note: 'Asked by telephone.' }
      expect((await service.post(`/execution-intents/${id}/resolve`, said, human)).status).toBe(200)
    }
  })

  test('is the one that two humans registered to be asked, or fsck says so', async () => {
    const id = await lost(say())
    const [one] = (await closedByConnector(id)).transitions
    const set = (readBack: boolean) =>
      database.pool.query(
        `UPDATE authority SET stated = replace(stated, $1, $2) WHERE kind = 'external-connector' AND target = $3`,
        [
          ...(readBack ? ['"readback":true', '"readBack":true'] : ['"readBack":true', '"readback":true']),
          PAY,
        ],
      )
    await set(false)
    const { lines } = await checked(database, signingKeyDir)
    await set(true)
    expect(lines).toContain(
      `intent_transitions ${String(one?.transition['transitionId'])}: is by a connector that was not registered to be asked`,
    )
    expect(lines.join()).toContain('differs from what the change says')
  })
})
