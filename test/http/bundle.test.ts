// GET /trust-records/{id}?bundle: one file that a reader with a saved key set and log description verifies offline.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { verifyEvidence } from '../../src/formats/verifier/index.ts'
import { aHuman, anApprovalOf, anApprover, aSignedApproval, enrolled, putInEffect } from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { blocks, forHere } from '../handbook.ts'
import { baseEnvironment } from '../run/environment.ts'
import { aCaller, startService, type Called, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const [maker, checker] = [aHuman('maker'), aHuman('checker')]
const stranger = aCaller('stranger')
const auditor = aCaller('auditor', { readAll: true, allowedCapabilities: [] })
const [alice, bob] = [anApprover('alice'), anApprover('bob')]
const BUNDLE = 'application/vnd.countersign.bundle+json'
const WAIT = { headers: { prefer: 'wait=10' } }

/** Two humans must approve. */
const byTwo = {
  policyId: 'by-two',
  policyVersion: '1.0.0',
  schemaVersion: '1.0.0',
  description: 'Made by a test.',
  capabilities: ['sandbox:echo'],
  signals: { approved: 'boolean' },
  verify: { approved: { by: 'approval', quorum: 2 } },
  rules: [{ id: 'yes', when: 'signals.approved', outcome: 'approve', reason: 'Approved by two.' }],
}

let database: TestDatabase
let service: TestService
/** A reader saved these before: neither is in any bundle. */
let keySet: string
let log: string

withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start({
    callers: [maker.entry, checker.entry, stranger.entry, auditor.entry],
  })
  keySet = (await service.get('/.well-known/jwks.json', { key: null })).text
  log = (await service.get('/.well-known/countersign-log', { key: null })).text
  const humans = { maker, checker }
  await enrolled(service, humans, alice)
  await enrolled(service, humans, bob)
  await putInEffect(service, humans, '/policies/by-two/1.0.0/pending-changes', {
    proposedContent: byTwo,
    reason: 'test',
  })
})

async function executed(transaction: object = aTransaction()): Promise<string> {
  const { status, text, body } = await service.post('/execute', transaction)
  expect(status, text).toBe(200)
  return (body as { businessTransactionId: string }).businessTransactionId
}

/** An execution that alice and bob approved, under a policy that governance put into force. */
async function approved(): Promise<string> {
  for (const approver of [alice, bob]) {
    const { status, text } = await service.post('/approvals', aSignedApproval(approver))
    expect(status, text).toBe(201)
  }
  return executed(aTransaction({ policy: { name: 'by-two' } }))
}

const read = (id: string, options = {}): Promise<Called> =>
  service.get(`/trust-records/${id}?bundle`, { ...WAIT, ...options })

/** Runs a script to its end, as a reader's shell does. */
async function commanded(
  script: string,
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<{ status: number | null; stdout: string }> {
  const shell = spawn('sh', ['-ec', script], {
    cwd,
    env: { ...baseEnvironment, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(shell, 'close') as Promise<[number | null]>
  const stdout = await textOf(shell.stdout)
  const [status] = await ended
  return { status, stdout }
}

interface Bundle {
  readonly record: { readonly receipts: readonly { readonly receiptHash: string }[] }
  readonly policy: string
  readonly approverKeys: readonly { readonly keyId: string }[]
  readonly changes: readonly { readonly target: string }[]
  readonly proofs: readonly { readonly kind: string; readonly id: string; readonly proof: string }[]
}

describe('GET /trust-records/{id}?bundle 200', () => {
  test('holds what a reader needs beside a key set and a log description', async () => {
    const id = await approved()
    const { status, headers, text, body } = await read(id)
    expect([status, headers.get('content-type')], text).toEqual([200, BUNDLE])
    const { verdict, checks, notes } = verifyEvidence(text, keySet, { log })
    expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([])
    expect(verdict).toBe('valid')
    expect(notes).toEqual([
      expect.stringContaining('no key "checker:step-up" is given'),
      'Nothing signs the warnings and the diff of a change: they are advice of when it was proposed.',
      expect.stringMatching(
        /^The log "countersign-[0-9a-f]{8}\/log\/1" had \d+ entries at its checkpoint of /,
      ),
    ])
    const bundle = body as Bundle
    expect(JSON.parse(bundle.policy)).toEqual(byTwo)
    expect(bundle.approverKeys.map(({ keyId }) => keyId)).toEqual(['alice:k1', 'bob:k1'])
    expect(bundle.changes.map(({ target }) => target)).toEqual(['alice:k1', 'bob:k1', 'by-two/1.0.0'])
    expect(bundle.proofs.map(({ kind }) => kind)).toEqual([
      'change',
      'change',
      'change',
      'approval',
      'approval',
      'authorization',
      'receipt',
    ])
    const checkpoints = bundle.proofs.map(({ proof }) => proof.slice(proof.indexOf('\n\n')))
    expect(new Set(checkpoints).size).toBe(1)
  })

  test('holds the proof of the request that the approvals are for, before them', async () => {
    const transaction = aTransaction({ policy: { name: 'by-two' }, intent: { target: 'asked-for' } })
    const { status, text: replied, body: asked } = await service.post('/approval-requests', { transaction })
    expect(status, replied).toBe(201)
    const request = asked as ApprovalRequest
    for (const approver of [alice, bob])
      expect((await service.post('/approvals', anApprovalOf(approver, request))).status).toBe(201)
    const { text, body } = await read(await executed(transaction))
    const { verdict, checks } = verifyEvidence(text, keySet, { log })
    expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([])
    expect(verdict).toBe('valid')
    const { proofs, ...bundle } = body as Bundle
    const { requestId } = request.request
    expect(proofs.filter(({ kind }) => kind === 'approval-request')).toMatchObject([{ id: requestId }])
    const without = proofs.filter(({ kind }) => kind !== 'approval-request')
    const failing = verifyEvidence(JSON.stringify({ ...bundle, proofs: without }), keySet, { log }).checks
    expect(failing.flatMap(({ problem }) => problem ?? [])).toEqual([
      `Its proofs do not show that it is in the log (there is no proof of the approval request "${requestId}")`,
      expect.stringContaining('not every part is shown to be in the log'),
    ])
  })

  test('without a log description the proofs cannot be checked, and all else holds', async () => {
    const { text } = await read(await executed())
    const { verdict, checks } = verifyEvidence(text, keySet)
    expect(verdict).toBe('unchecked')
    const open = checks.filter(({ problem }) => problem !== undefined)
    expect(open.map(({ name }) => name)).toEqual(['log checkpoint', 'log proofs', 'log order'])
    for (const { problem } of open)
      expect(problem).toMatch(/^It cannot be checked: no description of the log "\S+" is given\.$/)
  })

  test('names no change for a policy that was loaded at the first start', async () => {
    const { text, body } = await read(await executed())
    const { verdict, notes } = verifyEvidence(text, keySet, { log })
    expect(verdict).toBe('valid')
    expect(notes).toContainEqual(
      expect.stringContaining('It holds no governance change that put policy "sandbox-echo"'),
    )
    expect((body as Bundle).changes).toEqual([])
  })

  test('holds the change by which the policy took the place of another version', async () => {
    const humans = { maker, checker }
    const approving = { ...byTwo, policyId: 'by-successor', verify: {} }
    const path = '/policies/by-successor'
    await putInEffect(service, humans, `${path}/1.0.0/pending-changes`, {
      proposedContent: approving,
      reason: 'test',
    })
    await putInEffect(service, humans, `${path}/1.0.1/pending-changes`, {
      proposedContent: { ...approving, policyVersion: '1.0.1' },
      retires: ['1.0.0'],
      reason: 'test',
    })
    const id = await executed(aTransaction({ policy: { name: 'by-successor', version: '1.0.1' } }))
    const { text, body } = await read(id)
    const { verdict, checks } = verifyEvidence(text, keySet, { log })
    expect(checks.filter(({ problem }) => problem !== undefined)).toEqual([])
    expect(verdict).toBe('valid')
    expect((body as Bundle).changes).toMatchObject([
      { target: 'by-successor/1.0.1', proposed: { retires: ['1.0.0'] } },
    ])
  })

  test('is checked by the commands of the handbook, as they stand', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
    mkdirSync(join(folder, 'mine'))
    const script = blocks('log.md', 'sh').find((block) => block.includes('?bundle')) ?? ''
    const { status, stdout } = await commanded(forHere(script, service.url), {
      cwd: folder,
      env: { ID: await approved(), KEY: service.key },
    })
    expect([status, stdout.split('\n').includes('valid')], stdout).toEqual([0, true])
    rmSync(folder, { recursive: true })
  })

  test('proves the newest receipt', async () => {
    const id = await executed()
    await read(id)
    const { body: newest } = await service.post('/receipt', { businessTransactionId: id })
    const { text, body } = await read(id)
    expect((body as Bundle).record.receipts.at(-1)).toEqual(newest)
    expect(verifyEvidence(text, keySet, { log }).verdict).toBe('valid')
  })

  test('an execution that failed has one too', async () => {
    const transaction = aTransaction({ intent: { parameters: { amount: 42, fail: true } } })
    expect((await service.post('/execute', transaction)).status).toBe(500)
    const { text } = await read(transaction.businessTransactionId)
    expect(verifyEvidence(text, keySet, { log }).verdict).toBe('valid')
  })

  test('is for its owner and for who may read everything', async () => {
    const id = await executed()
    for (const key of [service.key, auditor.key, maker.key])
      expect((await read(id, { key })).status).toBe(200)
  })

  test('the record without it is answered as before', async () => {
    const id = await executed()
    const { headers, body } = await service.get(`/trust-records/${id}`)
    expect(headers.get('content-type')).toBe('application/json')
    expect(body).toHaveProperty('trustRecordId')
  })
})

describe('GET /trust-records/{id}?bundle 202', () => {
  test('while a part is not under a checkpoint', async () => {
    const sequencer = await database.pool.connect()
    try {
      await sequencer.query('BEGIN')
      // Nothing is sequenced or published while somebody holds it.
      await sequencer.query('SELECT 1 FROM log_state FOR UPDATE')
      const id = await executed()
      const { status, headers, text } = await service.get(`/trust-records/${id}?bundle`)
      expect([status, headers.get('retry-after'), text]).toEqual([202, '1', ''])
      await sequencer.query('COMMIT')
      expect((await read(id)).status).toBe(200)
    } finally {
      sequencer.release(true)
    }
  })
})

describe('GET /trust-records/{id}?bundle 400 invalidQuery', () => {
  test('for a value', async () => {
    const { status, body } = await service.get(`/trust-records/${randomUUID()}?bundle=1`)
    expect([status, body]).toEqual([400, { error: 'bundle must be empty.' }])
  })
})

describe('GET /trust-records/{id}?bundle 404 trustRecordNotFound', () => {
  test('answers the same for an unknown id and for that of another caller', async () => {
    const id = await executed()
    for (const [asked, key] of [
      [id, stranger.key],
      [randomUUID(), service.key],
      ['x', service.key],
    ] as const) {
      const { status, body } = await read(asked, { key })
      expect([status, body]).toEqual([404, { error: 'Execution Trust Record not found.' }])
    }
  })
})

describe('GET /trust-records/{id}?bundle 404 noBundle', () => {
  test.each([
    ['business_transactions', 'authorization'],
    ['execution_evidence', 'newest receipt'],
  ])('for a record of which a row of %s is older than the log', async (table, part) => {
    const id = await executed()
    await database.pool.query(
      `UPDATE ${table} SET log_batch = NULL, log_ordinal = NULL WHERE business_transaction_id = $1::uuid`,
      [id],
    )
    const { status, body } = await read(id)
    const error = `There is no bundle of this record: its ${part} is not in the evidence log, which began later or was off when it was stored.`
    expect([status, body]).toEqual([404, { error, code: 'NOT_LOGGED' }])
  })

  test('where the log is off', async () => {
    const without = await startService({
      databaseUrl: database.url,
      callers: [auditor.entry],
      env: { LOG: 'off' },
    })
    try {
      const { status, body } = await without.get(`/trust-records/${await executed()}?bundle`, {
        key: auditor.key,
      })
      const error = 'There is no bundle of this record: the evidence log is off.'
      expect([status, body]).toEqual([404, { error, code: 'NOT_LOGGED' }])
    } finally {
      expect(await without.stop()).toBe(0)
    }
  })
})
