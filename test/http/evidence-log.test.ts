// The evidence log takes everything that is signed, in the commit that stores it (src/store/tables/log-queue.ts).
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import {
  aHuman,
  anApprover,
  anEnrolment,
  aSignedApproval,
  proposed,
  resolved,
  type Change,
} from '../authority.ts'
import { aBankDelivery, bankEnv, deliverFromBank, outcomeOf } from '../bank.ts'
import { runCommand } from '../command.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import { proofKinds } from '../../src/formats/log/ids.ts'
import { queuedEntries } from '../../src/store/tables/log-queue.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { aCaller, startService, until, type TestService } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { aDelivery, deliver, env, storedEvents } from '../webhooks.ts'

/** As the queue holds one. */
type Entry = readonly [kind: string, hash: string, id: string, streams: object]

type Reply = Readonly<Record<string, Json>>

const hashOf = (signed: object) => sha256Hex(canonicalize(signed as Reply))

const ECHO = { caller: 'tester', capability: 'sandbox:echo', policy: 'sandbox-echo' }

const policyDir = aPolicyFolder()
addPolicy(policyDir, {
  name: 'by-one',
  version: '1.0.0',
  capability: 'sandbox:echo',
  verify: { approved: { by: 'approval', quorum: 1 } },
})
afterAll(() => rmSync(policyDir, { recursive: true }))

const [maker, checker, auditor] = [
  aHuman('maker'),
  aHuman('checker'),
  aCaller('auditor', { readAll: true, allowedCapabilities: [] }),
]

async function start(variables: Record<string, string> = {}) {
  const database = await createDatabase()
  // The sequencer takes what is queued away: a copy shows all that ever was.
  const service = await startService({
    databaseUrl: database.url,
    callers: [maker.entry, checker.entry, auditor.entry],
    env: { ...env, ...bankEnv, POLICY_DIR: policyDir, ...variables },
  })
  // One by one: Citus refuses several commands in one query here.
  for (const statement of [
    `CREATE TABLE queued (seq bigint, batch uuid, entries text)`,
    `CREATE FUNCTION keep_queued() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN INSERT INTO queued SELECT NEW.seq, NEW.batch, NEW.entries; RETURN NULL; END $$`,
    `CREATE TRIGGER keep_queued AFTER INSERT ON log_queue FOR EACH ROW EXECUTE FUNCTION keep_queued()`,
  ])
    await database.pool.query(statement)
  return { database, service }
}

async function queuedBatches({ pool }: TestDatabase): Promise<Map<string, Entry[]>> {
  const { rows } = await pool.query<{ batch: string; entries: string }>(
    'SELECT batch, entries FROM queued ORDER BY seq',
  )
  const batches = new Map(rows.map(({ batch, entries }) => [batch, entriesOf(entries)]))
  expect(batches.size).toBe(rows.length)
  return batches
}

function entriesOf(text: string): Entry[] {
  return queuedEntries(text).map(({ kind, hash, id, streams }) => [kind, hash, id, streams])
}

/** The columns of a row that lead to its entry, and the id that the entry has. */
const LOGGED = [
  [
    'authorization',
    '(SELECT * FROM business_transactions WHERE execution_authorization IS NOT NULL) AS authorizations',
    'business_transaction_id::text',
  ],
  ['receipt', 'receipts', 'business_transaction_id::text'],
  ['refusal', 'refusal_records', 'business_transaction_id::text'],
  ['audit-event', 'audit_events', 'event_id::text'],
  ['governance-change', 'pending_changes', 'change_id::text'],
  ['intent-transition', 'intent_transitions', 'transition_id::text'],
  ['provider-confirmation', 'provider_confirmations', 'confirmation_id::text'],
  ['approval', 'approvals', 'approval_id'],
  ['webhook', 'webhook_events', 'event_key::text'],
] as const

const text = (entry: Entry) => canonicalize(entry as unknown as Json)

/** A change as it is signed. */
function signedChange(change: Change): object {
  const { signature: _, warnings: _1, diff: _2, ...signed } = change
  return signed
}

describe('with the log', () => {
  let database: TestDatabase
  let service: TestService
  beforeAll(async () => {
    ;({ database, service } = await start({ LOG_ORIGIN: 'countersign.example' }))
  })
  afterAll(async () => {
    expect(await service.stop()).toBe(0)
    await database.drop()
  })

  const execute = async (transaction: object, status: number) => {
    const answer = await service.post('/execute', transaction)
    expect(answer.status, answer.text).toBe(status)
    return answer.body as Reply
  }

  test('every kind of commit queues its entries, by the hashes of what the API serves, and rows know their places', async () => {
    const expected: Entry[] = []
    const expectExecution = (record: Reply, streams: object = ECHO) => {
      const id = record['businessTransactionId'] as string
      const { payload } = record['authorization'] as { payload: object }
      const [receipt] = record['receipts'] as [{ receiptHash: string }]
      expected.push(
        ['authorization', hashOf(payload), id, streams],
        ['receipt', receipt.receiptHash, id, streams],
      )
    }
    const expectRefusal = async (id: string, streams: object = ECHO) => {
      const { body } = await service.get(`/refusal/${id}`)
      const { refusalRecordHash } = body as { refusalRecordHash: string }
      expected.push(['refusal', refusalRecordHash, id, streams])
    }
    const expectChange = (change: Change, streams: object) => {
      expected.push(['governance-change', hashOf(signedChange(change)), change.changeId, streams])
      return change
    }

    const record = await execute(aTransaction(), 200)
    expectExecution(record)
    const rejected = aRejectedTransaction()
    await execute(rejected, 500)
    await expectRefusal(rejected.businessTransactionId)
    const failing = aTransaction({ intent: { parameters: { amount: 42, fail: true } } })
    await execute(failing, 500)
    expectExecution((await service.get(`/trust-records/${failing.businessTransactionId}`)).body as Reply)
    // Neither approved nor refused: no policy is known, and nothing is signed.
    await execute(aTransaction({ policy: { name: 'nobody-knows' } }), 404)

    const { businessTransactionId } = record as { businessTransactionId: string }
    const another = await service.post('/receipt', { businessTransactionId })
    const { receiptHash } = another.body as { receiptHash: string }
    expected.push(['receipt', receiptHash, businessTransactionId, ECHO])

    const alice = anApprover('alice')
    const approver = { approver: 'alice' }
    // Nobody is counted for a name that does not exist yet.
    const enrolment = expectChange(
      await proposed(service, maker, '/approvers/changes', anEnrolment(alice)),
      {},
    )
    const enrolled = await resolved(service, checker, enrolment, 'approve')
    expectChange(enrolled.body as Change, approver)
    const policy = expectChange(
      await proposed(service, maker, '/policies/newer/1.0.0/pending-changes', {
        proposedContent: {
          policyId: 'newer',
          policyVersion: '1.0.0',
          schemaVersion: '1.0.0',
          description: 'Made by a test.',
          capabilities: ['sandbox:echo'],
          signals: { approved: 'boolean' },
          rules: [{ id: 'yes', when: 'signals.approved', outcome: 'approve', reason: 'Yes.' }],
        },
        reason: 'newer',
      }),
      {},
    )
    const refused = await resolved(service, checker, policy, 'reject', { rejectionReason: 'no' })
    expectChange(refused.body as Change, {})
    expectChange(
      await proposed(service, maker, '/external-connectors/changes', {
        action: 'register',
        capability: 'vendor:pay',
        endpointUrl: 'https://1.1.1.1/releases',
        policy: 'vendor-payment',
        allowedParameters: ['amount'],
        reason: 'test',
      }),
      {},
    )

    const unknown = aTransaction({ intent: { action: 'nobody:knows' } })
    await execute(unknown, 500)
    await expectRefusal(unknown.businessTransactionId, { caller: 'tester', policy: 'sandbox-echo' })

    const byOne = { ...ECHO, policy: 'by-one' }
    const denied = aTransaction({ policy: { name: 'by-one' } })
    await execute(denied, 403)
    await expectRefusal(denied.businessTransactionId, byOne)
    const approval = aSignedApproval(alice)
    expect((await service.post('/approvals', approval)).status).toBe(201)
    expected.push([
      'approval',
      hashOf(approval.payload),
      approval.payload['approvalId'] as string,
      { approver: 'alice', capability: 'sandbox:echo' },
    ])
    expectExecution(await execute(aTransaction({ policy: { name: 'by-one' } }), 200), byOne)

    const doubtful = await execute(aTransaction(), 200)
    expectExecution(doubtful)
    const id = doubtful['businessTransactionId'] as string
    await putInDoubt(database, id, 'kept')
    const finalized = await service.post(`/execution-intents/${id}/finalize`, undefined, { key: maker.key })
    expect(finalized.status, finalized.text).toBe(200)
    const { transitions } = finalized.body as {
      transitions: { transition: { transitionId: string } }[]
    }
    for (const { transition } of transitions)
      expected.push(['intent-transition', hashOf(transition), transition.transitionId, {}])
    expect(transitions).toHaveLength(1)

    const delivery = aDelivery()
    for (const { eventId } of [delivery, { eventId: `evt_${randomUUID()}` }])
      expect(
        (await deliver(service, { ...delivery, ...aDelivery({ body: delivery.body, eventId }) })).status,
      ).toBe(200)
    await until(
      async () => (await storedEvents(database, [delivery.eventId]))[0]?.processed_at,
      'the delivery',
    )
    const fromBank = aBankDelivery('paid', id)
    await deliverFromBank(service, fromBank)
    await until(async () => (await outcomeOf(database, fromBank)).outcome, 'the word of the bank')
    const said = (await service.get(`/confirmations/${id}`)).body as {
      confirmations: { confirmation: { confirmationId: string } }[]
    }
    for (const { confirmation } of said.confirmations)
      expected.push([
        'provider-confirmation',
        hashOf(confirmation),
        confirmation.confirmationId,
        { caller: 'tester', capability: 'sandbox:echo' },
      ])
    expect(said.confirmations).toHaveLength(1)
    const webhooks = await database.pool.query<{ key: string; hash: string }>(
      'SELECT event_key AS key, body_sha256 AS hash FROM webhook_events',
    )
    expect(webhooks.rows.map(({ hash }) => hash).toSorted()).toEqual(
      [delivery, fromBank].map(({ body }) => sha256Hex(body)).toSorted(),
    )
    for (const { key, hash } of webhooks.rows) expected.push(['webhook', hash, key, {}])

    // The last is told by the front end: the same bytes under another event id.
    const events = await until(async () => {
      const { body } = await service.get('/audit/events?pageSize=100', { key: auditor.key })
      const found = (body as { events: { event: { eventId: string; type: string } }[] }).events
      return found.some(({ event }) => event.type === 'webhook.replayed') ? found : undefined
    }, 'the audit event')
    for (const { event } of events) expected.push(['audit-event', hashOf(event), event.eventId, {}])

    const batches = await queuedBatches(database)
    const entries = [...batches.values()].flat()
    expect(entries.map(text).toSorted()).toEqual(expected.map(text).toSorted())
    expect(new Set(entries.map(([kind]) => kind))).toEqual(new Set(LOGGED.map(([kind]) => kind)))
    // A change, and the audit event of it, are one commit.
    expect([...batches.values()]).toContainEqual([
      expect.arrayContaining(['governance-change', enrolment.changeId]),
      expect.arrayContaining(['audit-event']),
    ])

    for (const [kind, table, key] of LOGGED) {
      const { rows } = await database.pool.query<{ id: string; batch: string; ordinal: number }>(
        `SELECT ${key} AS id, log_batch AS batch, log_ordinal AS ordinal FROM ${table}`,
      )
      expect(rows.length, table).toBeGreaterThan(0)
      for (const { id: own, batch, ordinal } of rows) {
        const entry = batches.get(batch)?.[ordinal]
        expect([entry?.[0], entry?.[2]], table).toEqual([kind, own])
      }
    }
    // A resolved change has the place of the resolution.
    const { rows } = await database.pool.query<{ batch: string; ordinal: number }>(
      'SELECT log_batch AS batch, log_ordinal AS ordinal FROM pending_changes WHERE change_id = $1::uuid',
      [enrolment.changeId],
    )
    expect(batches.get(rows[0]?.batch ?? '')?.[rows[0]?.ordinal ?? -1]?.[1]).toBe(
      hashOf(signedChange(enrolled.body as Change)),
    )
  })

  test('each kind has a proof, for an auditor and for the caller whose it is', async () => {
    const owned = new Set<string>([
      'authorization',
      'receipt',
      'refusal',
      'approval',
      'provider-confirmation',
    ])
    const description = join(mkdtempSync(join(tmpdir(), 'countersign-proofs-')), 'log.json')
    onTestFinished(() => rmSync(dirname(description), { recursive: true }))
    writeFileSync(description, (await service.get('/.well-known/countersign-log')).text)
    for (const [logged, table, key] of LOGGED) {
      const [kind] = Object.entries(proofKinds).find(([, one]) => one === logged) ?? []
      const { rows } = await database.pool.query<{ id: string }>(
        `SELECT ${logged === 'receipt' ? 'business_transaction_id::text' : key} AS id FROM ${table} LIMIT 1`,
      )
      const path = `/log/proofs/${kind}/${rows[0]?.id}`
      const headers = { prefer: 'wait=10' }
      const proof = await service.get(path, { key: auditor.key, headers })
      expect([proof.status, proof.text], table).toEqual([
        200,
        expect.stringMatching(/^c2sp.org\/tlog-proof@v1\n/),
      ])
      expect((await service.get(path)).status, table).toBe(owned.has(logged) ? 200 : 404)
      const by = ['--url', service.url, '--key', auditor.key, '--log', description]
      expect(await runCommand(['log', 'proof', kind ?? '', rows[0]?.id ?? '', ...by], {})).toMatchObject({
        status: 0,
        stdout: expect.stringMatching(new RegExp(`^(late-)?${logged} [0-9a-f]{64} is entry `)),
      })
    }
  })

  test('a receipt promises its inclusion a minute after its issue, and its hash and signature cover that', async () => {
    const record = await execute(aTransaction(), 200)
    const { businessTransactionId } = record
    const another = await service.post('/receipt', { businessTransactionId })
    for (const receipt of [(record['receipts'] as Reply[])[0], another.body as Reply]) {
      const { signature: _, receiptHash, ...hashed } = receipt ?? {}
      expect(hashed['transparency']).toEqual({
        log: 'countersign.example/log/1',
        by: new Date(Date.parse(hashed['issuedAt'] as string) + 60_000).toISOString(),
      })
      expect(receiptHash).toBe(hashOf(hashed))
    }
    expect((await service.post('/verify', { businessTransactionId })).body).toMatchObject({
      status: 'VERIFIED',
    })
  })

  test('what is rolled back leaves no entry', async () => {
    const change = anEnrolment(anApprover('bob'))
    await proposed(service, maker, '/approvers/changes', change)
    const approval = aSignedApproval(anApprover('alice'))
    const before = await queuedBatches(database)
    // One is open already; the approver's key is another.
    expect((await service.post('/approvers/changes', change, { key: maker.key })).status).toBe(409)
    expect((await service.post('/approvals', approval)).status).toBe(400)
    const again = aTransaction({ businessTransactionId: randomUUID() })
    await database.pool.query(
      `ALTER TABLE released_batches ADD CONSTRAINT no_more CHECK ('${again.businessTransactionId}' <> ALL (ids))`,
    )
    expect((await service.post('/execute', again)).status).toBe(500)
    expect([...(await queuedBatches(database)).keys()]).toEqual([...before.keys()])
  })

  test('what cannot be queued is not stored: no evidence stands outside the log', async () => {
    const transaction = aTransaction()
    await database.pool.query('ALTER TABLE log_queue RENAME TO away')
    const answer = await service.post('/execute', transaction)
    await database.pool.query('ALTER TABLE away RENAME TO log_queue')
    expect(answer.status, answer.text).toBeGreaterThanOrEqual(500)
    const { rowCount } = await database.pool.query(
      'SELECT FROM business_transactions WHERE business_transaction_id = $1::uuid',
      [transaction.businessTransactionId],
    )
    expect(rowCount).toBe(0)
    await until(async () => (await service.post('/execute', aTransaction())).status === 200, 'an execution')
  })
})

test('with LOG=off nothing is queued, no row has a place, and receipts promise nothing', async () => {
  const { database, service } = await start({ LOG: 'off' })
  const record = await service.post('/execute', aTransaction())
  const { businessTransactionId } = record.body as { businessTransactionId: string }
  const another = await service.post('/receipt', { businessTransactionId })
  const [receipt = {}] = (record.body as { receipts: object[] }).receipts
  for (const one of [receipt, another.body as object]) {
    expect(one).toHaveProperty('receiptHash')
    expect(one).not.toHaveProperty('transparency')
  }
  expect((await service.post('/execute', aRejectedTransaction())).status).toBe(500)
  await proposed(service, maker, '/approvers/changes', anEnrolment(anApprover('alice')))
  expect((await deliver(service, aDelivery())).status).toBe(200)
  expect(await queuedBatches(database)).toEqual(new Map())
  for (const [, table] of LOGGED) {
    const { rowCount } = await database.pool.query(`SELECT FROM ${table} WHERE log_batch IS NOT NULL`)
    expect(rowCount, table).toBe(0)
  }
  expect((await database.pool.query('SELECT FROM log_state')).rowCount).toBe(0)
  expect(await service.stop()).toBe(0)
  await database.drop()
})
