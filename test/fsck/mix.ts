// A database with everything in it that a service ever stores, made over HTTP; and ways to look at it, damaged or not.
import { rmSync } from 'node:fs'
import type { Client } from 'pg'
import { expect } from 'vitest'
import { connect } from '../../src/cli/fsck/check-database.ts'
import type { Finding } from '../../src/cli/fsck/check.ts'
import { fsck, type Summary } from '../../src/cli/fsck/run.ts'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { keyIdOf } from '../../src/formats/people/caller.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { readLogStatus } from '../../src/store/tables/log-state.ts'
import {
  aHuman,
  anApprovalOf,
  anApprover,
  anEnrolment,
  aSignedApproval,
  enrolled,
  proposed,
  putInEffect,
  resolved,
} from '../authority.ts'
import { aBankDelivery, bankEnv, deliverFromBank, outcomeOf } from '../bank.ts'
import { aChallenge, atConsole, CONSOLE_ORIGIN, logIn } from '../console.ts'
import type { TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import { aLoginRegistration } from '../passkeys.ts'
import { addPolicy, aPolicyFolder } from '../policies.ts'
import { startService, until, type TestService } from '../service.ts'
import { aMismatchedTransaction, aRejectedTransaction, aTransaction } from '../transactions.ts'
import { passkeys } from '../vectors/passkeys.ts'
import { aDelivery, deliver, env, poisoned, storedEvents } from '../webhooks.ts'

const LIMITED = { name: 'limited', version: '1.0.0', capability: 'sandbox:echo' }

const byOne = () => aTransaction({ policy: { name: 'by-one' } })

/** The database holds these by name: ids of transactions, but for the last eight. */
export interface Mix {
  readonly approved: string
  readonly other: string
  readonly verifiedTwice: string
  readonly rejected: string
  readonly denied: string
  readonly failed: string
  readonly unknownPolicy: string
  readonly limited: string
  readonly byApproval: string
  readonly hanging: string
  readonly inDoubt: string
  readonly resolved: string
  readonly finalizedByHand: string
  /** In doubt, closed by a provider and then contradicted. */
  readonly confirmed: string
  readonly usedApproval: string
  readonly unusedApproval: string
  readonly byRequest: string
  readonly approvalOfRequest: string
  readonly usedRequest: string
  readonly declinedRequest: string
  readonly policyChange: string
  /** The change that retires the version of `policyChange`. */
  readonly retirement: string
  readonly enrolment: string
  readonly connector: string
  readonly rulesChange: string
  readonly endpoint: string
  /** The change that set the group `managers`, and the execution that counts by it. */
  readonly group: string
  readonly byManager: string
  /** The change that issued `callerKey`. */
  readonly issue: string
  /** The keyIds of two keys of `agent`. */
  readonly callerKey: string
  readonly revokedKey: string
  /** It logs `maker` in to the console. */
  readonly loginPasskey: string
}

export interface MixedService {
  readonly service: TestService
  readonly mix: Mix
  /** Removes its policies, once it has stopped. */
  readonly remove: () => void
}

export async function startMixed(
  database: TestDatabase,
  {
    receiptAlgorithms = 'ed25519',
    signingKeyDir,
    log = 'on',
    env: more = {},
  }: {
    receiptAlgorithms?: string
    signingKeyDir: string
    log?: 'on' | 'off'
    env?: Readonly<Record<string, string>>
  },
): Promise<MixedService> {
  const policyDir = aPolicyFolder()
  addPolicy(policyDir, {
    name: 'by-one',
    version: '1.0.0',
    capability: 'sandbox:echo',
    verify: { approved: { by: 'approval', quorum: 1 } },
  })
  addPolicy(policyDir, {
    name: 'by-manager',
    version: '1.0.0',
    capability: 'sandbox:echo',
    verify: { approved: { by: 'approval', quorum: 1, from: ['managers'] } },
  })
  addPolicy(policyDir, {
    ...LIMITED,
    signals: { before: 'number', alike: 'number' },
    verify: {
      before: { by: 'history', window: '1h' },
      alike: { by: 'history', window: '1h', per: ['target'], where: 'intent.action == "sandbox:echo"' },
    },
    rules: [{ id: 'few', when: 'signals.before < 9.0', outcome: 'approve', reason: 'Few enough.' }],
  })
  const [maker, checker] = [aHuman('maker', { approverId: 'alice' }), aHuman('checker')]
  const humans = { maker, checker }
  const service = await startService({
    databaseUrl: database.url,
    signingKeyDir,
    callers: [maker.entry, checker.entry],
    env: {
      ...env,
      ...bankEnv,
      CONSOLE_ORIGIN,
      POLICY_DIR: policyDir,
      RECEIPT_ALGORITHMS: receiptAlgorithms,
      LOG: log,
      ...more,
    },
  })
  const execute = async (transaction: ReturnType<typeof aTransaction>, status: number) => {
    const answer = await service.post('/execute', transaction)
    expect(answer.status, answer.text).toBe(status)
    return transaction.businessTransactionId
  }

  const [approved, other, verifiedTwice] = [
    await execute(aTransaction(), 200),
    await execute(
      aTransaction({ intent: { parameters: { amount: 42, note: 'ünïcode \u0000 \u0001 "quoted"' } } }),
      200,
    ),
    await execute(aTransaction(), 200),
  ]
  for (const path of ['/verify', '/receipt', '/verify', '/receipt'])
    expect((await service.post(path, { businessTransactionId: verifiedTwice })).status).toBe(200)
  const rejected = await execute(aRejectedTransaction(), 500)
  const failed = await execute(aTransaction({ intent: { parameters: { amount: 42, fail: true } } }), 500)
  await execute(aMismatchedTransaction(), 403)
  const unknownPolicy = await execute(aTransaction({ policy: { name: 'nobody-knows' } }), 404)
  const limited = await execute(aTransaction({ policy: { name: 'limited' }, signals: { before: 0 } }), 200)

  const alice = anApprover('alice')
  const revoked = anApprover('alice', 'old')
  const { changeId: enrolment } = await enrolled(service, humans, alice)
  await enrolled(service, humans, revoked)
  await putInEffect(service, humans, '/approvers/changes', {
    action: 'revoke',
    approverId: revoked.approverId,
    keyId: revoked.keyId,
    reason: 'lost\u0000',
  })
  const denied = await execute(byOne(), 403)
  const approvals = await Promise.all(
    [aSignedApproval(alice), aSignedApproval(alice, { target: 'elsewhere' })].map(async (approval) => {
      expect((await service.post('/approvals', approval)).status).toBe(201)
      return approval.payload['approvalId'] as string
    }),
  )
  const byApproval = await execute(byOne(), 200)
  const ask = async (target: string) => {
    const transaction = aTransaction({ policy: { name: 'by-one' }, intent: { target } })
    const { status, text, body } = await service.post('/approval-requests', { transaction })
    expect(status, text).toBe(201)
    return { transaction, request: body as ApprovalRequest }
  }
  const { transaction: requested, request: used } = await ask('asked-for')
  const approvalOfRequest = anApprovalOf(alice, used)
  expect((await service.post('/approvals', approvalOfRequest)).status).toBe(201)
  const byRequest = await execute(requested, 200)
  const { request: declined } = await ask('not-this-one')
  expect(
    (await service.post(`${declined.url}/notes`, { text: 'Which?\u0000' }, { key: maker.key })).status,
  ).toBe(201)
  expect(
    (await service.post(`${declined.url}/decline`, { reason: 'No.\u0000' }, { key: maker.key })).status,
  ).toBe(200)

  const document = {
    policyId: 'limited',
    policyVersion: '2.0.0',
    schemaVersion: '1.0.0',
    description: 'Made by a test.',
    capabilities: ['sandbox:echo'],
    signals: { approved: 'boolean' },
    rules: [{ id: 'yes', when: 'signals.approved', outcome: 'approve', reason: 'Yes.\u0000' }],
  }
  const { changeId: policyChange } = await putInEffect(
    service,
    humans,
    '/policies/limited/2.0.0/pending-changes',
    {
      proposedContent: document,
      reason: 'newer\u0000',
    },
  )
  const { changeId: retirement } = await putInEffect(
    service,
    humans,
    '/policies/limited/2.1.0/pending-changes',
    {
      proposedContent: { ...document, policyVersion: '2.1.0' },
      retires: ['2.0.0'],
      reason: 'in its place',
    },
  )
  const third = await proposed(service, maker, '/policies/limited/3.0.0/pending-changes', {
    proposedContent: { ...document, policyVersion: '3.0.0' },
    reason: 'newer still',
  })
  expect(
    (await resolved(service, checker, third, 'reject', { rejectionReason: 'too new\u0000' })).status,
  ).toBe(200)
  await proposed(service, maker, '/approvers/changes', anEnrolment(anApprover('bob')))
  const registration = {
    action: 'register',
    capability: 'vendor:pay',
    endpointUrl: 'https://1.1.1.1/releases',
    policy: 'vendor-payment',
    allowedParameters: ['amount'],
    reason: 'test',
  }
  const connectors = '/external-connectors/changes'
  await putInEffect(service, humans, connectors, registration)
  await putInEffect(service, humans, connectors, {
    action: 'revoke',
    capability: 'vendor:pay',
    reason: 'over\u0000',
  })
  const { changeId: connector } = await putInEffect(service, humans, connectors, registration)
  const { changeId: rulesChange } = await putInEffect(service, humans, '/webhook-rules/changes', {
    provider: 'acme',
    rules: [{ id: 'paid', when: 'payload.paid == true', transaction: 'payload.id', says: 'executed' }],
    reason: 'test',
  })
  const endpoints = '/event-endpoints/changes'
  const endpointOf = { url: 'http://127.0.0.1:9/events', reason: 'test' }
  const follows = { action: 'register', types: ['change.resolved'], callerIds: ['tester'], ...endpointOf }
  await putInEffect(service, humans, endpoints, follows)
  await putInEffect(service, humans, endpoints, { action: 'revoke', ...endpointOf, reason: 'over\u0000' })
  const { changeId: endpoint } = await putInEffect(service, humans, endpoints, follows)

  const groups = '/approver-groups/changes'
  const managers = { action: 'set', group: 'managers', members: ['alice', 'carol'], reason: 'test' }
  await putInEffect(service, humans, groups, { ...managers, members: ['alice'] })
  const { changeId: group } = await putInEffect(service, humans, groups, managers)
  const directors = { ...managers, group: 'directors' }
  await putInEffect(service, humans, groups, directors)
  await putInEffect(service, humans, groups, { action: 'remove', group: 'directors', reason: 'test\u0000' })
  const carol = anApprover('carol')
  await enrolled(service, humans, carol)
  const ofManager = aTransaction({ policy: { name: 'by-manager' }, intent: { target: 'of-manager' } })
  expect((await service.post('/approvals', aSignedApproval(carol, { target: 'of-manager' }))).status).toBe(
    201,
  )
  const byManager = await execute(ofManager, 200)

  const callerKeys = '/caller-keys/changes'
  const [callerKey = '', revokedKey = ''] = ['issued', 'revoked'].map((name) => sha256Hex(name))
  const issued = { action: 'issue', callerId: 'agent', allowedCapabilities: ['sandbox:echo'], reason: 'test' }
  const { changeId: issue } = await putInEffect(service, humans, callerKeys, {
    ...issued,
    keyHash: callerKey,
  })
  await putInEffect(service, humans, callerKeys, {
    ...issued,
    keyHash: revokedKey,
    expiresAt: '2999-01-01T00:00:00Z',
  })
  await putInEffect(service, humans, callerKeys, {
    action: 'revoke',
    callerId: 'agent',
    keyId: keyIdOf(revokedKey),
    reason: 'test',
  })

  const loginPasskey = await aLoginPasskey(service, maker.key)

  const lost = await Promise.all(
    [aTransaction(), aTransaction(), aTransaction()].map((one) => execute(one, 200)),
  )
  for (const id of lost) await putInDoubt(database, id, 'lost')
  const finalizedByHand = await execute(aTransaction(), 200)
  await putInDoubt(database, finalizedByHand, 'kept')
  const [inDoubt = '', resolvedId = '', confirmed = ''] = lost
  const byHand = { key: maker.key }
  const said = { resolution: 'EXECUTED', note: 'The provider says so.\u0000' }
  expect((await service.post(`/execution-intents/${resolvedId}/resolve`, said, byHand)).status).toBe(200)
  expect(
    (await service.post(`/execution-intents/${finalizedByHand}/finalize`, undefined, byHand)).status,
  ).toBe(200)

  // The first closes it, the second contradicts that.
  for (const event of ['paid', 'refused'] as const) {
    const delivery = aBankDelivery(event, confirmed)
    await deliverFromBank(service, delivery)
    await until(async () => (await outcomeOf(database, delivery)).outcome, 'the word of the bank')
  }

  await poisoned(database)
  for (const eventId of ['evt_done', 'poison_waits']) await deliver(service, aDelivery({ eventId }))
  await until(async () => (await storedEvents(database, ['evt_done']))[0]?.processed_at, 'the delivery')

  const hanging = aTransaction({ intent: { parameters: { amount: 42, hang: true } } })
  void service.post('/execute', hanging).catch(() => undefined)
  await until(
    async () =>
      (
        await database.pool.query('SELECT FROM released_batches WHERE $1 = ANY (ids)', [
          hanging.businessTransactionId,
        ])
      ).rowCount,
    'the release',
  )
  const [usedApproval = '', unusedApproval = ''] = approvals
  return {
    service,
    remove: () => rmSync(policyDir, { recursive: true }),
    mix: {
      approved,
      other,
      verifiedTwice,
      rejected,
      denied,
      failed,
      unknownPolicy,
      limited,
      byApproval,
      hanging: hanging.businessTransactionId,
      inDoubt,
      resolved: resolvedId,
      finalizedByHand,
      confirmed,
      usedApproval,
      unusedApproval,
      byRequest,
      approvalOfRequest: approvalOfRequest.payload['approvalId'] as string,
      usedRequest: used.request.requestId,
      declinedRequest: declined.request.requestId,
      policyChange,
      retirement,
      enrolment,
      connector,
      rulesChange,
      endpoint,
      group,
      byManager,
      issue,
      callerKey: keyIdOf(callerKey),
      revokedKey: keyIdOf(revokedKey),
      loginPasskey,
    },
  }
}

/** Registers two for the human `maker`, and removes the second. @returns the id of the first */
async function aLoginPasskey(service: TestService, key: string): Promise<string> {
  const path = '/console/data/login-passkeys'
  const session = await logIn(service, key)
  for (const owner of [passkeys.erik, passkeys.grace]) {
    const challenge = await aChallenge(service)
    const body = aLoginRegistration(owner, { key, callerId: 'maker', origin: CONSOLE_ORIGIN, challenge })
    expect((await atConsole(service, 'POST', path, { ...session, body })).status).toBe(204)
  }
  const { body } = await atConsole(service, 'GET', path, session)
  const [first, second] = body.loginPasskeys as { loginPasskeyId: string }[]
  const removal = `${path}/${second!.loginPasskeyId}/remove`
  expect((await atConsole(service, 'POST', removal, { ...session, body: {} })).status).toBe(204)
  return first!.loginPasskeyId
}

/** Waits until everything is under a checkpoint of the log. */
export async function published({ pool }: Pick<TestDatabase, 'pool'>): Promise<void> {
  await until(async () => {
    const status = await readLogStatus(pool)
    return status !== undefined && !status.queued && status.size === status.publishedSize
  }, 'everything to be under a checkpoint')
}

export interface Checked {
  /** As the command prints them, sorted. */
  readonly lines: string[]
  readonly summary: Summary
}

type Damage = (sql: Client) => Promise<unknown>

/**
 * A connection as the commands that check a database have it.
 * @param damage what is done on it first. It is undone with the snapshot in which the check reads: the check's BEGIN finds this
 *   transaction, and its ROLLBACK ends it.
 */
export async function connectDamaged(database: TestDatabase, damage?: Damage): Promise<Client> {
  const client = await connect(database.url)
  if (damage === undefined) return client
  // No trigger fires: the tables of the release before do not follow what is damaged.
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SET LOCAL session_replication_role = replica')
  await damage(client)
  await client.query('SET LOCAL session_replication_role = origin')
  return client
}

/** Runs fsck in this process, on a connection of its own. @param damage as of `connectDamaged` */
export async function checked(
  database: TestDatabase,
  signingKeyDir: string,
  damage?: Damage,
): Promise<Checked> {
  const client = await connectDamaged(database, damage)
  const findings: Finding[] = []
  try {
    const summary = await fsck({
      sql: client,
      keys: readPublicKeys(signingKeyDir),
      onFinding: (finding) => findings.push(finding),
    })
    return {
      summary,
      lines: findings.map(({ table, key, problem }) => `${table} ${key}: ${problem}`).toSorted(),
    }
  } finally {
    await client.end()
  }
}
