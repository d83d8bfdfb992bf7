// The humans who put policies and external connectors into effect as an operator's humans do (decisions §7): one proposes, the other
// resolves with a signature.
import { generateKeyPairSync } from 'node:crypto'
import { newNonce, signedStepUp } from '../src/cli/approver.ts'
import { makeRawKey } from '../src/core/callers/callers.ts'
import { ed25519SigningKey, type SigningKey } from '../src/core/signing/keys.ts'
import { sha256Hex } from '../src/store/sha256.ts'
import { stepUpPayload } from '../src/formats/step-up-payload.ts'
import type { Call, CallRoute } from './calls.ts'

/** @returns a signing key, and its public part as PEM */
export function aSigningKey(keyId: string): { key: SigningKey; publicKeyPem: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    key: ed25519SigningKey(keyId, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }
}

/** @returns a raw API key, its entry of SERVICE_API_KEYS, and the key that signs for this human */
function aHuman(callerId: string) {
  const key = makeRawKey()
  const { key: stepUp, publicKeyPem: stepUpPublicKey } = aSigningKey('step-up')
  const entry = { callerId, keyHash: sha256Hex(key), credentialHolderType: 'USER', stepUpPublicKey }
  return { key, entry, stepUp }
}

/** Callers of every service that the bench starts. */
export const maker = aHuman('bench-maker')
export const checker = aHuman('bench-checker')

interface Change {
  readonly changeId: string
  readonly changeHash: string
}

/** Paths of changes. */
export const AREAS = {
  policy: '/policies/pending-changes',
  approver: '/approvers/changes',
  connector: '/external-connectors/changes',
  rules: '/webhook-rules/changes',
  endpoint: '/event-endpoints/changes',
  'caller key': '/caller-keys/changes',
  group: '/approver-groups/changes',
  'stand-in': '/stand-ins/changes',
} as const
export type Area = keyof typeof AREAS

/** Proposes the change that the maker wants; a policy is changed at a path of its own. */
export async function propose(call: CallRoute, area: Area, { body, ...given }: Call): Promise<Change> {
  const route = area === 'policy' ? '/policies/{name}/{version}/pending-changes' : AREAS[area]
  const sent = { reason: 'measurement', ...(body as object) }
  const { json } = await call(`POST ${route}`, { ...given, body: sent, key: maker.key, expect: 201 })
  return json() as unknown as Change
}

/** The checker resolves a change with a signature of its own. */
export async function resolve(
  call: CallRoute,
  area: Area,
  change: Change,
  action: 'approve' | 'reject',
): Promise<void> {
  const payload = stepUpPayload(change, { action, nonce: newNonce(), now: new Date() })
  const stepUpAuthorization = signedStepUp(payload, checker.stepUp)
  await call(`POST ${AREAS[area]}/{id}/${action}`, {
    params: { id: change.changeId },
    key: checker.key,
    body: { stepUpAuthorization, ...(action === 'reject' ? { rejectionReason: 'Only a measurement.' } : {}) },
  })
}

/** One human proposes, the other approves. */
export async function putIntoEffect(call: CallRoute, area: Area, given: Call): Promise<void> {
  await resolve(call, area, await propose(call, area, given), 'approve')
}

/** @returns the proposal of a policy for `capability` that approves where `signals.approved` is true */
export function aPolicy(name: string, version: string, capability: string, more: object = {}) {
  const proposedContent = {
    policyId: name,
    policyVersion: version,
    schemaVersion: '1.0.0',
    description: 'A policy of the bench.',
    capabilities: [capability],
    signals: { approved: 'boolean', amount: 'number' },
    bindings: { amount: 'intent.parameters.amount' },
    rules: [
      { id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Approved in the bench.' },
    ],
    ...more,
  }
  return { params: { name, version }, body: { proposedContent } }
}

/** @returns the proposal of an external connector */
export function aConnector(capability: string, policy: string, endpointUrl: string) {
  const allowedParameters = ['amount', 'currency', 'reference', 'drop']
  return { body: { action: 'register', capability, endpointUrl, policy, allowedParameters } }
}

/** @returns the proposal of an event endpoint */
export function anEndpoint(url: string) {
  return { body: { action: 'register', url, types: ['change.proposed'] } }
}
