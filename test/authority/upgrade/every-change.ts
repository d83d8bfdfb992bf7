// Every kind of change in every state, made over HTTP. The release that the fixture is of has run it too (make.ts).
import { keyIdOf } from '../../../src/formats/people/caller.ts'
import { sha256Hex } from '../../../src/store/sha256.ts'
import {
  anApprover,
  anEnrolment,
  aSignedApproval,
  enrolled,
  proposed,
  putInEffect,
  resolved,
  type Human,
} from '../../authority.ts'
import { aPasskeyEnrolment } from '../../passkeys.ts'
import type { TestService } from '../../service.ts'
import { aTransaction } from '../../transactions.ts'
import { passkeys } from '../../vectors/passkeys.ts'

/** Raw keys, whose hashes the changes name. */
export const KEYS = {
  issued: 'csk_issued',
  human: 'csk_human',
  revoked: 'csk_revoked',
  configured: 'csk_configured',
}

/** An entry of SERVICE_API_KEYS, whose key the changes revoke. */
export const configured = { callerId: 'old-bot', keyHash: sha256Hex(KEYS.configured) }

const POLICY = '/policies/limited'
export const document = {
  policyId: 'limited',
  policyVersion: '2.0.0',
  schemaVersion: '1.0.0',
  description: 'Made by a test: "quoted", ünïcode.',
  capabilities: ['sandbox:echo'],
  signals: { approved: 'boolean' },
  rules: [{ id: 'yes', when: 'signals.approved', outcome: 'approve', reason: 'Yes.' }],
}
export const rule = { id: 'paid', when: 'payload.paid == true', transaction: 'payload.id', says: 'executed' }
export const connector = {
  action: 'register',
  capability: 'vendor:pay',
  endpointUrl: 'http://127.0.0.1:9/releases',
  policy: 'vendor-payment',
  allowedParameters: ['amount', 'b', 'a'],
  reason: 'test',
}
export const endpoint = {
  action: 'register',
  url: 'http://127.0.0.1:9/events',
  types: ['change.resolved', 'change.proposed'],
  reason: 'test',
}
export const issue = {
  action: 'issue',
  callerId: 'agent',
  allowedCapabilities: ['sandbox:echo'],
  reason: 'test',
}

const version = (policyVersion: string) => ({
  proposedContent: { ...document, policyVersion },
  reason: 'test',
})

const acme = (says: string) => ({ provider: 'acme', rules: [{ ...rule, says }], reason: 'test' })

const issued = (raw: string, more: object = {}) => ({ ...issue, keyHash: sha256Hex(raw), ...more })

/** The service has the policies `by-one` and `limited` 1.0.0 from its files, and rules of `bank`. */
export async function makeEveryChange(
  service: TestService,
  humans: { maker: Human; checker: Human },
): Promise<void> {
  const { maker, checker } = humans
  const made = (path: string, body: object) => putInEffect(service, humans, path, body)
  const rejected = async (path: string, body: object) => {
    const change = await proposed(service, maker, path, body)
    await resolved(service, checker, change, 'reject', { rejectionReason: 'No.' })
  }
  const pending = (path: string, body: object) => proposed(service, maker, path, body)
  const ok = async (path: string, body: object, status: number) => {
    const answer = await service.post(path, body)
    if (answer.status !== status) throw new Error(answer.text)
  }

  await made(`${POLICY}/2.0.0/pending-changes`, version('2.0.0'))
  await made(`${POLICY}/2.1.0/pending-changes`, { ...version('2.1.0'), retires: ['1.0.0', '2.0.0'] })
  await made(`${POLICY}/2.2.0/pending-changes`, version('2.2.0'))
  await made(`${POLICY}/2.2.0/pending-changes`, { action: 'retire', reason: 'test' })
  await rejected(`${POLICY}/3.0.0/pending-changes`, version('3.0.0'))
  await pending(`${POLICY}/4.0.0/pending-changes`, { ...version('4.0.0'), retires: ['2.1.0'] })

  const alice = anApprover('alice')
  await made('/approvers/changes', anEnrolment(alice))
  await made('/approvers/changes', aPasskeyEnrolment(passkeys.dana))
  await ok('/approvals', aSignedApproval(alice), 201)
  await ok('/execute', aTransaction({ policy: { name: 'by-one' } }), 200)
  const old = anApprover('alice', 'old')
  await enrolled(service, humans, old)
  await ok('/approvals', aSignedApproval(old), 201)
  await ok('/execute', aTransaction({ policy: { name: 'by-one' } }), 200)
  const revocation = { action: 'revoke', approverId: 'alice', keyId: 'old', reason: 'lost' }
  await made('/approvers/changes', revocation)
  await rejected('/approvers/changes', anEnrolment(anApprover('carl')))
  await pending('/approvers/changes', anEnrolment(anApprover('bob')))

  const connectors = '/external-connectors/changes'
  const revokedConnector = { action: 'revoke', capability: 'vendor:pay', reason: 'over' }
  await made(connectors, connector)
  await made(connectors, revokedConnector)
  await made(connectors, { ...connector, readBack: true, timeoutMs: 7000 })
  await made(connectors, { ...connector, capability: 'vendor:refund', allowedParameters: [] })
  await rejected(connectors, { ...connector, capability: 'vendor:rejected' })
  await pending(connectors, { ...revokedConnector, capability: 'vendor:refund' })

  const rules = '/webhook-rules/changes'
  await made(rules, acme('executed'))
  await made(rules, acme('pending'))
  await made(rules, acme('executed'))
  await made(rules, { provider: 'bank', rules: [], reason: 'in the place of the file' })
  await rejected(rules, acme('not_executed'))
  await pending(rules, acme('pending'))

  const endpoints = '/event-endpoints/changes'
  await made(endpoints, { ...endpoint, callerIds: ['tester', 'agent'] })
  await made(endpoints, { action: 'revoke', url: endpoint.url, reason: 'over' })
  await made(endpoints, { ...endpoint, withParameters: true })
  await rejected(endpoints, { ...endpoint, url: `${endpoint.url}/rejected` })
  await pending(endpoints, { action: 'revoke', url: endpoint.url, reason: 'over' })

  const keys = '/caller-keys/changes'
  await made(keys, issued(KEYS.issued, { expiresAt: '2999-01-01T00:00:00Z' }))
  await made(keys, issued(KEYS.revoked))
  await made(keys, {
    action: 'revoke',
    callerId: 'agent',
    keyId: keyIdOf(sha256Hex(KEYS.revoked)),
    reason: 'test',
  })
  await made(keys, {
    action: 'revoke',
    callerId: 'old-bot',
    keyId: keyIdOf(configured.keyHash),
    reason: 'test',
  })
  const { publicKeyPem: stepUpPublicKey } = anApprover('dora')
  const human = { callerId: 'dora', credentialHolderType: 'USER', stepUpPublicKey, approverId: 'alice' }
  await made(keys, issued(KEYS.human, human))
  await rejected(keys, issued('csk_rejected', { callerId: 'rejected' }))
  await pending(keys, {
    action: 'revoke',
    callerId: 'agent',
    keyId: keyIdOf(sha256Hex(KEYS.issued)),
    reason: 'test',
  })
}
