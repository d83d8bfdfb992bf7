// The examples of the OpenAPI document are real: posted and asked for as they stand, each gets the success it is shown with.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { approvalRequest } from '../../src/server/openapi/examples/approval-requests.ts'
import * as changeExamples from '../../src/server/openapi/examples/changes.ts'
import addCheckpoint from '../../src/server/openapi/examples/add-checkpoint.json' with { type: 'json' }
import approval from '../../src/server/openapi/examples/approval.json' with { type: 'json' }
import refusalRecord from '../../src/server/openapi/examples/refusal-record.json' with { type: 'json' }
import signingKey from '../../src/server/openapi/examples/signing-key.json' with { type: 'json' }
import trustRecord from '../../src/server/openapi/examples/trust-record.json' with { type: 'json' }
import { canonicalize } from '../../src/formats/json/canonical.ts'
import { exampleEndpointId } from '../../src/server/routes/event-endpoints.ts'
import { inDoubtExamples } from '../../src/server/routes/execution-intents.ts'
import { routes } from '../../src/server/routes/index.ts'
import { deliveryExamples } from '../../src/server/routes/webhook-events.ts'
import { readPublicKeys, readSigningKeys } from '../../src/core/signing/keys.ts'
import type { Change } from '../../workers/authority/change.ts'
import { signed } from '../../workers/evidence/recording.ts'
import { governanceChange } from '../../src/formats/artifacts/governance-change.ts'
import { inTransaction } from '../../src/store/postgres/transaction.ts'
import { insertApprovalRequest } from '../../src/store/tables/approval-requests.ts'
import { openDeliveries } from '../../src/store/tables/event-deliveries.ts'
import { unlogged } from '../../src/store/tables/log-queue.ts'
import type { TestDatabase } from '../database.ts'
import { storeInEffect } from '../in-effect.ts'
import { expectEvidence } from '../evidence.ts'
import { examplePath } from './example-path.ts'
import { aCaller, until, type TestService } from '../service.ts'
import { putInDoubt } from '../intents.ts'
import { witnessEnvironment } from '../witness.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { aDelivery, env } from '../webhooks.ts'
import { makeKeys } from '../signing-keys.ts'
import { withDatabase } from '../with-service.ts'

/** The key of the human who resolves the example changes; the private half is gone. */
const STEP_UP_KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAnUw1kH0A1LevJmsKuYCaAcZ4tvLOj+jRywbjwcZ/1ig=
-----END PUBLIC KEY-----
`
/** The key of the same human, under another credential, for the changes of webhook rules. */
const RULES_STEP_UP_KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAUhs1bk7bgCBpGWhSMkQUllL9NA+Yz8J0MGP64T28dgQ=
-----END PUBLIC KEY-----
`
/** And for the changes of event endpoints. */
const ENDPOINTS_STEP_UP_KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAUuINWDCq1QEOui1nBnh7nlnkS6WnQVFWs0E/w+lUC38=
-----END PUBLIC KEY-----
`
/** And for the changes of callers’ keys. */
const CALLER_KEYS_STEP_UP_KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAtuHbsC8cvSK7ufB33PxPY1ksdz5GbdpQEPq+U48PreA=
-----END PUBLIC KEY-----
`
/** And for the changes of groups of approvers. */
const GROUPS_STEP_UP_KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAb4f60Vcd3A6IizcsgcoyMIC84688Jd3zHK63rOUCvlU=
-----END PUBLIC KEY-----
`
/** And for the changes of stand-ins. */
const STAND_INS_STEP_UP_KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEA4VJglQCLkOArs93m2h29WfDugDL0oOP9Op2CNT/FF3o=
-----END PUBLIC KEY-----
`
const EXAMPLE_APPROVER_KEY = `-----BEGIN PUBLIC KEY-----
MCowBQYDK2VwAyEAR39FlMQ1hoUS+TaWF+gM70UXcRRNFzDM5CgRNmUlmgY=
-----END PUBLIC KEY-----
`
/** As who tries them at home: the examples are of the caller that an embedded start makes, here a human. */
const local = aCaller('local-dev', {
  credentialHolderType: 'USER',
  stepUpPublicKey: STEP_UP_KEY,
})
/** The approver of the examples: another person than the one who asks. */
const approver = aCaller('alice', {
  credentialHolderType: 'USER',
  approverId: approval.approval.payload.approverId,
})
const localForRules = aCaller('local-dev', {
  credentialHolderType: 'USER',
  stepUpPublicKey: RULES_STEP_UP_KEY,
})
const localForEndpoints = aCaller('local-dev', {
  credentialHolderType: 'USER',
  stepUpPublicKey: ENDPOINTS_STEP_UP_KEY,
})
/** As `countersign callers issue --read-all` makes one. */
const auditor = aCaller('auditor', { readAll: true, allowedCapabilities: [] })
/** The POST routes of an auditor: they compute an answer and store nothing, or what they take is authenticated by a signature of its own. */
const NOTHING_CHANGED_BY_THE_KEY = [
  '/replay',
  '/policies/validate',
  '/sandbox/evaluate',
  '/sandbox/policies/simulate',
  '/refusal/verify',
  '/audit/verify',
  '/webhooks/{provider}',
  '/log/completeness',
  '/log/witness/add-checkpoint',
]
const localForCallerKeys = aCaller('local-dev', {
  credentialHolderType: 'USER',
  stepUpPublicKey: CALLER_KEYS_STEP_UP_KEY,
})
const localForGroups = aCaller('local-dev', {
  credentialHolderType: 'USER',
  stepUpPublicKey: GROUPS_STEP_UP_KEY,
})
const localForStandIns = aCaller('local-dev', {
  credentialHolderType: 'USER',
  stepUpPublicKey: STAND_INS_STEP_UP_KEY,
})
const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-examples-'))

let database: TestDatabase
let service: TestService

withDatabase(async ({ database: made, start }) => {
  makeKeys(signingKeyDir)
  // The key of the example evidence, as one that signs no more.
  writeFileSync(join(signingKeyDir, `${signingKey.keyId}.public.pem`), signingKey.pem)
  database = made
  const witnessing = witnessEnvironment(signingKeyDir, [addCheckpoint.vkey])
  await registerExampleConnector()
  service = await start({
    signingKeyDir,
    callers: [
      local,
      approver,
      localForRules,
      localForEndpoints,
      localForCallerKeys,
      localForGroups,
      localForStandIns,
      auditor,
    ].map(({ entry }) => entry),
    env: { ...env, ...witnessing },
  })
  for (const change of Object.values(changeExamples)) await storeChange(change)
  await registerExampleEndpoint()
  await storeInDoubt(inDoubtExamples.toResolve, 'lost')
  await storeInDoubt(inDoubtExamples.toFinalize, 'kept')
  await enrolExampleApprover()
  for (const request of Object.values(approvalRequest)) await storeRequest(request)
  for (const id of Object.values(deliveryExamples)) await storeDelivery(id)
  const { businessTransactionId } = refusalRecord
  const rejected = aRejectedTransaction()
  await service.post(
    '/execute',
    {
      ...rejected,
      businessTransactionId,
      metadata: { businessTransactionId },
      authority: { ...rejected.authority, principalId: 'local-dev' },
    },
    local,
  )
})

afterAll(() => {
  rmSync(signingKeyDir, { recursive: true })
})

/** Executed, and its intent RELEASED again, past its deadline; with its record or without. */
async function storeInDoubt(businessTransactionId: string, evidence: 'kept' | 'lost'): Promise<void> {
  const transaction = aTransaction({ businessTransactionId, authority: { principalId: 'local-dev' } })
  await service.post('/execute', transaction, local)
  await putInDoubt(database, businessTransactionId, evidence)
}

/** Processed before this service began. */
async function storeDelivery(id: string): Promise<void> {
  await database.pool.query(
    `INSERT INTO webhook_events (event_key, provider, event_id, body_sha256, body, received_at, processed_at)
     SELECT $1::uuid, 'razorpay', $2, encode(sha256(convert_to($2, 'UTF8')), 'hex'), convert_to($2, 'UTF8'), now(), now()`,
    [id, id],
  )
}

/** The example approval carries the signature of this approver. */
async function enrolExampleApprover(): Promise<void> {
  const { approverId, keyId } = approval.approval.payload
  const enrolment = { action: 'add', approverId, keyId, publicKeyPem: EXAMPLE_APPROVER_KEY }
  await storeInEffect(database.pool, 'approver', enrolment)
}

/** Registers the connector that the example approval request asks to use. */
async function registerExampleConnector(): Promise<void> {
  await storeInEffect(database.pool, 'external-connector', {
    action: 'register',
    capability: approvalRequest.pending.request.capability,
    endpointUrl: 'http://127.0.0.1:9/',
    policy: approvalRequest.pending.request.policy.name,
    allowedParameters: [],
    timeoutMs: 1_000,
  })
}

/** As it was when nobody had closed it. */
async function storeRequest({ request, requestHash }: typeof approvalRequest.pending): Promise<void> {
  const { requestId, requestedBy, principalId, quorum, createdAt, expiresAt } = request
  const row = {
    requestId,
    requestHash,
    requestedBy,
    principalId,
    quorum,
    status: 'OPEN',
    policyName: request.policy.name,
    policyVersion: request.policy.version,
    createdAt,
    expiresAt,
    noticeAt: createdAt,
    neededSignals: null,
    remindAt: null,
    escalateAt: null,
    escalateTo: null,
    askNextAt: null,
    askedHash: requestId,
    body: canonicalize(request),
    seal: canonicalize(approvalRequest.pending.signature),
    ...unlogged,
  }
  await inTransaction(database.pool, (sql) => insertApprovalRequest(sql, row))
}

/** That a secret is made for, and that events are delivered to again: nobody listens there. */
async function registerExampleEndpoint(): Promise<void> {
  await storeInEffect(
    database.pool,
    'event-endpoint',
    { action: 'register', url: 'http://127.0.0.1:9/', types: ['change.resolved'], withParameters: false },
    { changeId: exampleEndpointId },
  )
  await openDeliveries(database.pool, exampleEndpointId, null)
}

interface ExampleChange {
  readonly rejected: { readonly signature: object; readonly warnings: readonly string[] }
}

/** Signed by the service of this test, and resolved already, so that the same can be proposed. */
async function storeChange({ rejected }: ExampleChange): Promise<void> {
  const { signature: _, warnings, ...members } = rejected
  const change = members as unknown as Change
  const { changeId, kind, target, proposedAt, status } = change
  const { body, seal } = signed(governanceChange, change, {
    key: readSigningKeys(signingKeyDir, ['ed25519']).ed25519,
    at: proposedAt,
  })
  await database.pool.query(`INSERT INTO pending_changes VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $6, $7)`, [
    changeId,
    kind,
    target,
    proposedAt,
    status,
    body,
    seal,
    canonicalize({ warnings }),
  ])
}

const postRoutes = routes.filter(({ method }) => method === 'POST')

/** In the order of the table: POST /execute leaves what the later requests name. */
test.each(postRoutes)('POST $path takes its example, and of an auditor nothing', async (route) => {
  const { path, answers, body: shown } = route
  const body =
    shown?.anyBytes && typeof shown.example !== 'string' ? JSON.stringify(shown.example) : shown?.example
  const { headers } = typeof body === 'string' ? aDelivery({ body }) : { headers: {} }
  const ofWhat = path.split('/')[1] ?? ''
  const others = {
    'webhook-rules': localForRules,
    'event-endpoints': localForEndpoints,
    'caller-keys': localForCallerKeys,
    'approver-groups': localForGroups,
    'stand-ins': localForStandIns,
  }
  const by = others[ofWhat as keyof typeof others] ?? local
  const { key } = path.endsWith('/decline') ? approver : by
  const posted = (as = key) => service.post(examplePath(route), body, { key: as, headers })
  if (!NOTHING_CHANGED_BY_THE_KEY.includes(path)) expect((await posted(auditor.key)).status).toBe(403)
  // An execution reaches the log a moment later.
  if (path === '/log/completeness') await until(async () => (await posted()).status === 200, 'the stream')
  const answer = await posted()
  // A step-up holds for two minutes: that they are over is all that is wrong with the examples.
  if (/\/(approve|reject)$/.test(path)) return expect(answer.body.error).toContain('it has expired')
  expect(Object.keys(answers), answer.text).toContain(String(answer.status))
  if (path.endsWith('/verify') && path !== '/verify') expect(answer.body).toMatchObject({ valid: true })
})

/** Without the moment at which it was asked for. */
const steady = ({ text }: { readonly text: string }) =>
  text.replaceAll(/"(completeUntil|since|until|start|evaluatedAt)":"[^"]*"/g, '')

const getRoutes = routes.filter(({ method }) => method === 'GET')

test.each(getRoutes)(
  'GET $path finds its example, and tells an auditor what it tells a human',
  async (route) => {
    const read = (key: string) => service.get(examplePath(route), { key })
    // The artifact that POST left is under a checkpoint soon.
    if (route.tag === 'Log') await until(async () => (await read(local.key)).status === 200, 'the checkpoint')
    const [found, byAuditor] = [await read(local.key), await read(auditor.key)]
    expect([found.status, byAuditor.status]).toEqual([200, 200])
    // It tells each caller its own scope.
    if (route.path === '/callers/me') return
    // Both see things that happen meanwhile, such as audit events, a moment later.
    const agree = async () => steady(await read(auditor.key)) === steady(await read(local.key))
    if (steady(byAuditor) !== steady(found)) await until(agree, 'the same reply')
  },
)

test('each path of an auditor that changes nothing is one of the table', () => {
  expect(postRoutes.map(({ path }) => path)).toEqual(expect.arrayContaining(NOTHING_CHANGED_BY_THE_KEY))
})

test('the example record holds, checked with the example key alone', () => {
  expectEvidence(trustRecord, readPublicKeys(signingKeyDir))
})
