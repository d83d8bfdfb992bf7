// The TypeScript client in the hands of humans, and of the machines that ask them (decisions §7 to §9), against the real service.
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  ConnectionLostError,
  createCountersign,
  deterministicId,
  OtherRequestError,
  type Countersign,
  type Schemas,
} from '../../clients/typescript/src/index.ts'
import { actionCode } from '../../src/formats/approval-requests/action-code.ts'
import { requestHash } from '../../src/formats/approval-requests/request-hash.ts'
import type { ApprovalRequest } from '../../src/formats/schemas/approval-request.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import {
  aHuman,
  anApprovalOf,
  anApprover,
  anEnrolment,
  aSignedApproval,
  aStepUp,
  type Human,
} from '../authority.ts'
import type { TestDatabase } from '../database.ts'
import { putInDoubt } from '../intents.ts'
import type { TestService } from '../service.ts'
import { aTransaction, type Changes } from '../transactions.ts'
import { loseReply, openFlakyNetwork } from './flaky-network.ts'
import { withDatabase } from '../with-service.ts'

const maker = aHuman('maker')
/** This human is the approver too. */
const checker = aHuman('checker', { approverId: 'alice' })
const alice = anApprover('alice')
let database: TestDatabase
let service: TestService
/** The callers are a machine and two humans. */
let machine: Countersign
let making: Countersign
let checking: Countersign

withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start({ callers: [maker.entry, checker.entry] })
  machine = createCountersign({ baseUrl: service.url, apiKey: service.key })
  making = createCountersign({ baseUrl: service.url, apiKey: maker.key })
  checking = createCountersign({ baseUrl: service.url, apiKey: checker.key })
})

type Change = Schemas['Change']
type Document = Schemas['PolicyDocument']

function stepUp(change: Change, action: 'approve' | 'reject' = 'approve', by: Human = checker) {
  return { stepUpAuthorization: aStepUp(by, change, action) as unknown as Schemas['StepUpAuthorization'] }
}

const rejection = (change: Change) => ({ rejectionReason: 'No.', ...stepUp(change, 'reject') })

/** Approves what a human has approved. */
function aPolicy(policyId: string, members: Partial<Document> = {}) {
  return {
    policyId,
    policyVersion: '1.0.0',
    schemaVersion: '1.0.0' as const,
    description: 'Made by a test.',
    capabilities: ['sandbox:echo'],
    signals: { approved: 'boolean' as const },
    verify: { approved: { by: 'approval' as const, quorum: 1 } },
    rules: [{ id: 'approved', when: 'signals.approved', outcome: 'approve' as const, reason: 'Approved.' }],
    ...members,
  }
}

const versionOf = ({ policyId, policyVersion }: Document) => ({
  name: policyId,
  version: policyVersion,
})

const propose = (document: Document) =>
  making.proposePolicyChange(versionOf(document), { reason: 'test', proposedContent: document })

function aSubmission(changes: Changes = {}): Schemas['SubmittedTransaction'] {
  return aTransaction(changes) as Schemas['SubmittedTransaction']
}

async function executed(): Promise<string> {
  return (await machine.execute(aSubmission())).businessTransactionId
}

describe('changes of policies', () => {
  test('are proposed by one human and approved by another', async () => {
    const document = aPolicy('approved-by-two')
    const change = await propose(document)
    expect(await checking.policyChange(change.changeId)).toEqual(change)
    expect((await checking.policyChanges({ status: 'PENDING_APPROVAL' })).changes).toContainEqual(change)
    const approved = await checking.approvePolicyChange(change.changeId, stepUp(change))
    expect(approved).toMatchObject({ status: 'APPROVED', resolvedBy: 'checker' })
    const { toSend, document: stored } = await machine.policy(versionOf(document))
    expect(stored).toEqual(document)
    expect(toSend).toEqual([{ signal: 'approved', type: 'boolean', verified: document.verify.approved }])
    const { policies } = await machine.policiesInEffect({ capability: 'sandbox:echo', pageSize: 1 })
    expect(policies).toMatchObject([versionOf(document)])
    expect((await machine.policies({ pageSize: 100 })).policies).toContainEqual(policies[0])
  })

  test('are rejected with a reason', async () => {
    const document = aPolicy('rejected')
    const change = await propose(document)
    const rejected = await checking.rejectPolicyChange(change.changeId, rejection(change))
    expect(rejected).toMatchObject({ status: 'REJECTED', rejectionReason: 'No.' })
    await expect(machine.policy(versionOf(document))).rejects.toMatchObject({ status: 404 })
  })

  test('are for humans, and not for the one who proposed them', async () => {
    await expect(machine.policyChanges()).rejects.toMatchObject({
      status: 403,
      code: 'NON_HUMAN_CALLER_DENIED',
    })
    const change = await propose(aPolicy('of-one'))
    const own = making.approvePolicyChange(change.changeId, stepUp(change, 'approve', maker))
    await expect(own).rejects.toMatchObject({ status: 403, code: 'SAME_ACTOR_CANNOT_APPROVE_OWN_CHANGE' })
  })

  test('an approval whose answer is lost is not sent again: its step-up held once', async () => {
    const change = await propose(aPolicy('unheard'))
    const network = await openFlakyNetwork(service.url)
    const route = `POST /policies/pending-changes/${change.changeId}/approve`
    network.plan(route, loseReply)
    const unsure = createCountersign({ baseUrl: network.url, apiKey: checker.key })
    await expect(unsure.approvePolicyChange(change.changeId, stepUp(change))).rejects.toThrow(
      ConnectionLostError,
    )
    expect(network.seen).toEqual([route])
    expect(await unsure.policyChange(change.changeId)).toMatchObject({ status: 'APPROVED' })
    await network.close()
  })
})

describe('an execution that needs a human', () => {
  const document = aPolicy('needs-a-human')
  const submitted = aSubmission({ policy: { name: document.policyId }, signals: { amount: undefined } })

  beforeAll(async () => {
    const policy = await propose(document)
    await checking.approvePolicyChange(policy.changeId, stepUp(policy))
  })

  test('an approver is enrolled by two humans', async () => {
    const proposal = anEnrolment(alice) as Schemas['ApproverProposal']
    const first = await making.proposeApproverChange(proposal)
    await checking.rejectApproverChange(first.changeId, rejection(first))
    const change = await making.proposeApproverChange(proposal)
    expect(await checking.approverChange(change.changeId)).toEqual(change)
    await checking.approveApproverChange(change.changeId, stepUp(change))
    const { changes } = await making.approverChanges()
    expect(changes.map(({ status }) => status)).toEqual(['APPROVED', 'REJECTED'])
    const { approvers } = await making.approvers()
    expect(approvers).toMatchObject([{ approverId: 'alice', publicKeyPem: alice.publicKeyPem }])
    expect(await machine.key('alice:k1')).toMatchObject({ keyId: 'alice:k1', pem: alice.publicKeyPem })
  })

  test('the sandbox says which approval it waits for', async () => {
    const { valid, decision } = await machine.evaluate(submitted)
    expect(valid).toBe(true)
    expect(decision?.pendingVerification).toMatchObject([{ signal: 'approved', by: 'approval', quorum: 1 }])
  })

  test('a delivered approval lets it through, and is used up', async () => {
    const approval = aSignedApproval(alice) as unknown as Schemas['SignedApproval']
    const { approvalId, status } = await machine.deliverApproval(approval)
    expect(status).toBe('UNUSED')
    const record = await machine.execute(submitted)
    expect(record.executions[0]?.status).toBe('COMPLETED')
    const used = await checking.approval(approvalId)
    expect(used).toMatchObject({ status: 'USED', consumedBy: submitted.businessTransactionId })
    expect(await checking.approvals({ status: 'USED' })).toEqual({ approvals: [used] })
    await expect(machine.execute({ ...submitted, ...ids() })).rejects.toMatchObject({
      status: 403,
      code: 'POLICY_DENIED',
    })
  })

  test('what a policy would have decided is simulated', async () => {
    const strict = aPolicy(document.policyId, {
      policyVersion: '1.1.0',
      rules: [{ id: 'never', when: 'signals.approved', outcome: 'reject', reason: 'Never.' }],
    })
    const {
      mistakes,
      document: read,
      wouldAnswer,
    } = await making.checkPolicy({ policy: JSON.stringify(strict) })
    expect([mistakes, read, wouldAnswer]).toEqual([[], strict, { status: 201 }])
    expect(await machine.policyText(versionOf(document))).toContain(`policyId: ${document.policyId}\n`)
    const { complete, flips } = await machine.simulatePolicy({ policy: strict })
    expect(complete).toBe(true)
    expect(flips).toMatchObject([
      { businessTransactionId: submitted.businessTransactionId, wouldBe: { outcome: 'REJECTED' } },
    ])
  })

  test('asks the human, waits, and is executed under an id that follows from the refused one', async () => {
    const asking = aSubmission({
      policy: { name: document.policyId },
      intent: { target: 'asked-for' },
      signals: { amount: undefined },
    })
    const asked = Promise.withResolvers<Schemas['ApprovalRequest']>()
    const executing = machine.execute(asking, {
      onApprovalNeeded: 'ask',
      note: 'Please.',
      onAsked: asked.resolve,
    })
    const { request, actionCode: code } = await asked.promise
    expect(request).toMatchObject({ note: 'Please.', target: 'asked-for', quorum: 1 })
    const { requests } = await checking.approvalRequests({ waitingFor: 'me', status: 'PENDING' })
    expect(requests).toMatchObject([
      { request, actionCode: code, status: 'PENDING', missing: 1, eligible: ['alice'] },
    ])
    const approval = anApprovalOf(alice, requests[0] as ApprovalRequest)
    await machine.deliverApproval(approval as unknown as Schemas['SignedApproval'])
    const record = await executing
    expect(record.businessTransactionId).toBe(deterministicId(asking.businessTransactionId, 'approved'))
    expect(record.executions[0]?.decision.verifiedSignals).toMatchObject({ approved: { request } })
    expect(await machine.approvalRequest(request.requestId)).toMatchObject({ status: 'USED' })
    const { decision } = await machine.approvalRequestJudgement(request.requestId)
    expect(decision).toMatchObject({ outcome: 'APPROVED' })
  })

  test('fails where the human declines, where nobody is asked, and is not waited for longer than said', async () => {
    await expect(machine.execute(needing('not-asked'))).rejects.toMatchObject({
      status: 403,
      needsApproval: true,
    })
    const declined = machine.execute(needing('declined'), {
      onApprovalNeeded: 'ask',
      onAsked: ({ request }) => void checking.declineApprovalRequest(request.requestId, 'Too much.'),
    })
    await expect(declined).rejects.toThrow('The approval request is DECLINED by checker: Too much.')
    const { request } = await machine.requestApproval(needing('withdrawn'), { expiresInSeconds: 60 })
    const waited = await machine.waitForApproval(request.requestId, { timeoutMs: 1 })
    expect(waited).toMatchObject({ status: 'PENDING', request })
    await checking.noteApprovalRequest(request.requestId, 'Which one?')
    expect(await machine.noteApprovalRequest(request.requestId, 'The first.')).toMatchObject({
      status: 'PENDING',
      notes: [
        { by: 'checker', text: 'Which one?' },
        { by: 'tester', text: 'The first.' },
      ],
    })
    expect(await machine.withdrawApprovalRequest(request.requestId)).toMatchObject({ status: 'WITHDRAWN' })
    expect(await machine.waitForApproval(request.requestId)).toMatchObject({ status: 'WITHDRAWN' })
  })

  test('an id that was refused for another reason asks nobody', async () => {
    const refused = needing('refused')
    const { approved: _, ...others } = refused.signals ?? {}
    const wrong = { ...refused, signals: { ...others, approved: false } }
    const first = machine.execute(wrong, { onApprovalNeeded: 'ask' })
    await expect(first).rejects.toMatchObject({ status: 500, needsApproval: false })
    const again = machine.execute(wrong, { onApprovalNeeded: 'ask' })
    await expect(again).rejects.toMatchObject({ status: 500, needsApproval: false })
    const { requests } = await machine.approvalRequests({ pageSize: 100 })
    expect(requests.filter(({ request }) => request.target === 'refused')).toEqual([])
  })

  test('an approval that is used up by another work of the same content leaves the first one refused, and it asks anew', async () => {
    const [one, other] = [needing('shared'), needing('shared')]
    const asking = await machine.requestApproval(one)
    const shown = Promise.withResolvers<string>()
    const warn = vi.spyOn(console, 'warn').mockImplementation(shown.resolve)
    onTestFinished(() => warn.mockRestore())
    const ofOne = machine.execute(one, { onApprovalNeeded: 'ask' })
    // Without `onAsked` its operator sees the code all the same.
    expect(await shown.promise).toContain(`Action code: ${asking.actionCode}`)
    await sign(asking)
    expect((await ofOne).executions[0]?.status).toBe('COMPLETED')
    // It shares the content, not the work: what was approved once is executed once.
    const ofOther = machine.execute(other, {
      onApprovalNeeded: 'ask',
      onAsked: ({ request }) => {
        expect(request.requestId).not.toBe(asking.request.requestId)
        void checking.declineApprovalRequest(request.requestId, 'Paid already.')
      },
    })
    await expect(ofOther).rejects.toThrow('Paid already.')
  })

  // proves abuse: A request changed after it was shown
  test('a reply that asks for something else than was sent is refused', async () => {
    const changed = createCountersign({
      baseUrl: service.url,
      apiKey: service.key,
      fetch: async (sent) => {
        const reply = await fetch(sent)
        if (!reply.url.endsWith('/approval-requests')) return reply
        const body = (await reply.json()) as Schemas['ApprovalRequest']
        const request = { ...body.request, target: 'elsewhere' }
        return Response.json({
          ...body,
          request,
          requestHash: requestHash(request, sha256Hex),
          actionCode: actionCode(request, sha256Hex),
        })
      },
    })
    const asking = aSubmission({ policy: { name: document.policyId }, signals: { amount: undefined } })
    await expect(changed.requestApproval(asking)).rejects.toBeInstanceOf(OtherRequestError)
  })
})

/** Alice looks and signs. */
async function sign(asked: Schemas['ApprovalRequest']): Promise<void> {
  const approval = anApprovalOf(alice, asked)
  await machine.deliverApproval(approval as unknown as Schemas['SignedApproval'])
}

const needing = (target: string) =>
  aSubmission({ policy: { name: 'needs-a-human' }, intent: { target }, signals: { amount: undefined } })

/** Makes the ids of a new transaction for the same intent. */
function ids() {
  const { businessTransactionId, metadata } = aSubmission()
  return { businessTransactionId, metadata }
}

test('an external connector is registered by two humans, and revoked by two', async () => {
  const proposal = {
    action: 'register' as const,
    capability: 'vendor:pay',
    endpointUrl: 'https://1.1.1.1/releases',
    policy: 'vendor-payment',
    allowedParameters: ['amount'],
    reason: 'test',
  }
  const first = await making.proposeExternalConnectorChange(proposal)
  await checking.rejectExternalConnectorChange(first.changeId, rejection(first))
  const change = await making.proposeExternalConnectorChange(proposal)
  expect(await checking.externalConnectorChange(change.changeId)).toEqual(change)
  await checking.approveExternalConnectorChange(change.changeId, stepUp(change))
  const { changeId } = change
  expect((await making.externalConnectors()).externalConnectors).toMatchObject([
    { changeId, capability: 'vendor:pay' },
  ])
  const revocation = await making.proposeExternalConnectorChange({
    action: 'revoke',
    capability: 'vendor:pay',
    reason: 'test',
  })
  await checking.approveExternalConnectorChange(revocation.changeId, stepUp(revocation))
  expect((await making.externalConnectors()).externalConnectors).toEqual([])
  expect((await making.externalConnectorChanges({ status: 'APPROVED' })).changes).toHaveLength(2)
})

test('webhook rules are put in effect by two humans, and any caller reads them', async () => {
  const proposal = {
    provider: 'acme',
    rules: [
      { id: 'paid', when: 'payload.paid == true', transaction: 'payload.id', says: 'executed' as const },
    ],
    reason: 'test',
  }
  const first = await making.proposeWebhookRulesChange(proposal)
  await checking.rejectWebhookRulesChange(first.changeId, rejection(first))
  const change = await making.proposeWebhookRulesChange(proposal)
  expect(await checking.webhookRulesChange(change.changeId)).toEqual(change)
  await checking.approveWebhookRulesChange(change.changeId, stepUp(change))
  const anybody = createCountersign({ baseUrl: service.url, apiKey: service.key })
  const [acme] = (await anybody.webhookRules()).webhookRules
  expect(acme).toMatchObject({ provider: 'acme', status: 'IN_EFFECT', approvedByChange: change.changeId })
  expect((await making.webhookRulesChanges({ status: 'APPROVED' })).changes).toHaveLength(1)
})

test('a key of a caller is issued by two humans, by its hash, and revoked', async () => {
  const keyHash = sha256Hex('a key of somebody')
  const proposal = { action: 'issue' as const, callerId: 'newcomer', keyHash, reason: 'test' }
  const first = await making.proposeCallerKeyChange(proposal)
  await checking.rejectCallerKeyChange(first.changeId, rejection(first))
  const change = await making.proposeCallerKeyChange(proposal)
  expect(await checking.callerKeyChange(change.changeId)).toEqual(change)
  await checking.approveCallerKeyChange(change.changeId, stepUp(change))
  const newcomer = async () =>
    (await making.callerKeys()).callerKeys.find(({ callerId }) => callerId === 'newcomer')
  const keyId = keyHash.slice(0, 16)
  expect(await newcomer()).toMatchObject({ keyId, status: 'IN_EFFECT', issuedByChange: change.changeId })
  const revocation = { action: 'revoke' as const, callerId: 'newcomer', keyId, reason: 'test' }
  const over = await making.proposeCallerKeyChange(revocation)
  await checking.approveCallerKeyChange(over.changeId, stepUp(over))
  expect(await newcomer()).toMatchObject({ status: 'REVOKED', revokedByChange: over.changeId })
  expect((await making.callerKeyChanges({ status: 'APPROVED' })).changes).toHaveLength(2)
})

test('a group of approvers is set by two humans, and removed', async () => {
  const proposal = { action: 'set' as const, group: 'managers', members: ['alice'], reason: 'test' }
  const first = await making.proposeApproverGroupChange(proposal)
  await checking.rejectApproverGroupChange(first.changeId, rejection(first))
  const change = await making.proposeApproverGroupChange(proposal)
  expect(await checking.approverGroupChange(change.changeId)).toEqual(change)
  await checking.approveApproverGroupChange(change.changeId, stepUp(change))
  expect((await making.approverGroups()).approverGroups).toMatchObject([
    { group: 'managers', members: ['alice'], approvedByChange: change.changeId },
  ])
  const over = await making.proposeApproverGroupChange({
    action: 'remove',
    group: 'managers',
    reason: 'test',
  })
  await checking.approveApproverGroupChange(over.changeId, stepUp(over))
  expect((await making.approverGroups()).approverGroups).toEqual([])
  expect((await making.approverGroupChanges({ status: 'APPROVED' })).changes).toHaveLength(2)
})

test('a stand-in is set by two humans, and removed', async () => {
  const standIn = { for: 'alice', from: '2027-01-01T00:00:00.000Z' }
  const set = {
    action: 'set' as const,
    ...standIn,
    by: 'bob',
    until: '2027-01-15T00:00:00.000Z',
    reason: 'test',
  }
  const first = await making.proposeStandInChange(set)
  await checking.rejectStandInChange(first.changeId, rejection(first))
  const change = await making.proposeStandInChange(set)
  expect(await checking.standInChange(change.changeId)).toEqual(change)
  await checking.approveStandInChange(change.changeId, stepUp(change))
  expect((await making.standIns()).standIns).toMatchObject([
    { ...standIn, approvedByChange: change.changeId },
  ])
  const over = await making.proposeStandInChange({ action: 'remove', ...standIn, reason: 'test' })
  await checking.approveStandInChange(over.changeId, stepUp(over))
  expect((await making.standIns()).standIns).toEqual([])
  expect((await making.standInChanges({ status: 'APPROVED' })).changes).toHaveLength(2)
})

test('an event endpoint is registered by two humans, gets a secret and is served again', async () => {
  const proposal = {
    action: 'register' as const,
    url: 'http://127.0.0.1:9/events',
    types: ['change.resolved' as const],
    reason: 'test',
  }
  const first = await making.proposeEventEndpointChange(proposal)
  await checking.rejectEventEndpointChange(first.changeId, rejection(first))
  const change = await making.proposeEventEndpointChange(proposal)
  expect(await checking.eventEndpointChange(change.changeId)).toEqual(change)
  await checking.approveEventEndpointChange(change.changeId, stepUp(change))
  const { changeId: endpointId } = change
  const { publicKeys, eventEndpoints } = await making.eventEndpoints()
  expect(publicKeys).toEqual([expect.stringMatching(/^whpk_/)])
  expect(eventEndpoints).toMatchObject([{ endpointId, url: proposal.url }])
  expect(await making.makeEventEndpointSecret(endpointId)).toEqual({
    secret: expect.stringMatching(/^whsec_/) as string,
  })
  expect(await making.redeliverEvents(endpointId)).toEqual({
    endpointId,
    result: expect.stringContaining('delivery begins at once') as string,
  })
  expect((await making.eventEndpointChanges({ status: 'APPROVED' })).changes).toHaveLength(1)
})

describe('execution intents', () => {
  test('tell how far an execution came', async () => {
    const id = await executed()
    expect(await machine.executionIntent(id)).toMatchObject({ state: 'FINALIZED', inDoubt: false })
  })

  test('in doubt, are waited for until somebody closes them', async () => {
    const { next: after } = await machine.eventPage({ after: 'now' })
    const id = await executed()
    await putInDoubt(database, id, 'kept')
    const closed = machine.waitForClosed(id)
    const types: string[] = []
    for await (const event of machine.events({ after })) {
      // The acts of other tests may be logged only now.
      if (event.businessTransactionId !== id) continue
      types.push(event.type)
      if (event.type === 'execution.completed') await checking.finalizeIntent(id)
      if (event.type === 'execution.closed') break
    }
    expect(types[0]).toBe('execution.completed')
    expect(await closed).toMatchObject({ businessTransactionId: id, state: 'FINALIZED', inDoubt: false })
    expect(await machine.waitForClosed(id)).toEqual(await closed)
  })

  test('in doubt, are closed by the stored evidence or by a human’s word', async () => {
    const [kept, lost] = [await executed(), await executed()]
    await putInDoubt(database, kept, 'kept')
    await putInDoubt(database, lost, 'lost')
    const { intents } = await checking.unfinalizedIntents()
    expect(new Set(intents.map((intent) => intent.businessTransactionId))).toEqual(new Set([kept, lost]))
    expect(await checking.finalizeIntent(kept)).toMatchObject({ state: 'FINALIZED', inDoubt: false })
    const resolved = await checking.resolveIntent(lost, { resolution: 'NOT_EXECUTED', note: 'Asked them.' })
    expect(resolved).toMatchObject({ state: 'RESOLVED', resolution: 'NOT_EXECUTED' })
    expect(await checking.unfinalizedIntents()).toEqual({ intents: [] })
  })
})
