// People in tests: humans who propose and approve changes, and approvers who sign single actions (decisions §7). They sign with
// node:crypto, which nothing in src does: what it accepts of them it would accept of anyone's tools.
import { generateKeyPairSync, randomBytes, randomUUID, sign, type KeyObject } from 'node:crypto'
import { expect } from 'vitest'
import { canonicalize, type Json } from '../src/formats/json/canonical.ts'
import type { ApprovalRequest } from '../src/formats/schemas/approval-request.ts'
import { changePaths } from '../src/formats/change-paths.ts'
import type { ChangeKindName } from '../src/formats/schemas/governance.ts'
import { proposalText, type Proposed } from '../src/formats/step-up-payload.ts'
import { preAuthEncoding } from '../src/core/signing/dsse.ts'
import { sha256Hex } from '../src/store/sha256.ts'
import { aCaller, type Called, type TestService } from './service.ts'

export interface KeyPair {
  readonly privateKey: KeyObject
  readonly privateKeyPem: string
  /** SPKI. */
  readonly publicKeyPem: string
}

/** Ed25519. */
export function aKeyPair(): KeyPair {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return {
    privateKey,
    privateKeyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  }
}

/** A caller that is a human with a step-up key; stands for itself as the options of a call. */
export interface Human extends KeyPair {
  readonly callerId: string
  /** For SERVICE_API_KEYS. */
  readonly entry: object
  /** Raw. */
  readonly key: string
}

export function aHuman(callerId: string, members: object = {}): Human {
  const pair = aKeyPair()
  const caller = aCaller(callerId, {
    credentialHolderType: 'USER',
    stepUpPublicKey: pair.publicKeyPem,
    ...members,
  })
  return { callerId, ...pair, ...caller }
}

/** As a service answers one. */
export interface Change {
  readonly changeId: string
  readonly kind: ChangeKindName
  readonly changeHash: string
  readonly [member: string]: unknown
}

type Action = 'approve' | 'reject'
type Payload = Readonly<Record<string, Json>>

/**
 * A step-up that is valid for a minute from now.
 * @param members replace those of the payload
 */
export function aStepUp(
  { privateKey }: Pick<Human, 'privateKey'>,
  { changeId, changeHash }: Pick<Change, 'changeId' | 'changeHash'>,
  action: Action = 'approve',
  members: Payload = {},
) {
  return signedStepUp(privateKey, { ...once(), changeId, action, changeHash, ...members })
}

/**
 * A step-up for a proposal, valid as long.
 * @param members replace those of the payload
 */
export function aProposalStepUp(
  { privateKey }: Pick<Human, 'privateKey'>,
  said: Proposed,
  members: Payload = {},
) {
  const { kind, target } = said
  const proposalHash = sha256Hex(proposalText(said))
  return signedStepUp(privateKey, { ...once(), action: 'propose', kind, target, proposalHash, ...members })
}

/**
 * A step-up for what is done with an event endpoint, valid as long.
 * @param members replace those of the payload
 */
export function anEndpointStepUp(
  { privateKey }: Pick<Human, 'privateKey'>,
  act: { endpointId: string; action: 'redeliver' | 'secret'; after?: string },
  members: Payload = {},
) {
  return signedStepUp(privateKey, { ...once(), ...act, ...members })
}

/**
 * A step-up for how an execution in doubt ended, valid as long.
 * @param members replace those of the payload
 */
export function aResolutionStepUp(
  { privateKey }: Pick<Human, 'privateKey'>,
  said: {
    businessTransactionId: string
    businessTransactionHash: string
    resolution: string
    note: string
  },
  members: Payload = {},
) {
  return signedStepUp(privateKey, { ...once(), action: 'resolve', ...said, ...members })
}

function once(): Payload {
  const now = Date.now()
  return {
    version: 1,
    nonce: randomBytes(16).toString('hex'),
    authorizedAt: new Date(now - 1000).toISOString(),
    expiresAt: new Date(now + 60_000).toISOString(),
  }
}

function signedStepUp(privateKey: KeyObject, payload: Payload) {
  return {
    payload,
    keyId: 'step-up',
    algorithm: 'ed25519',
    signature: signed('step-up', payload, privateKey),
  }
}

/**
 * @param path `/approvers/changes` or the like
 * @throws unless the answer is 201
 */
export async function proposed(
  service: TestService,
  maker: Human,
  path: string,
  body: object,
): Promise<Change> {
  const { status, text, body: change } = await service.post(path, body, { key: maker.key })
  expect(status, text).toBe(201)
  return change as Change
}

/**
 * Approves or rejects with a step-up of its own.
 * @param more further members of the body, such as `rejectionReason`
 */
export function resolved(
  service: TestService,
  checker: Human,
  change: Change,
  action: Action,
  more: object = {},
): Promise<Called> {
  const body = { stepUpAuthorization: aStepUp(checker, change, action), ...more }
  return service.post(`${changePaths[change.kind]}/${change.changeId}/${action}`, body, { key: checker.key })
}

/**
 * Proposes as `maker` and approves as `checker`.
 * @returns the approved change, in effect on this instance
 */
export async function putInEffect(
  service: TestService,
  { maker, checker }: { maker: Human; checker: Human },
  path: string,
  body: object,
): Promise<Change> {
  const change = await proposed(service, maker, path, body)
  const { status, text, body: approved } = await resolved(service, checker, change, 'approve')
  expect(status, text).toBe(200)
  return approved as Change
}

/** An approver's signature counts once their key is enrolled. */
export interface Approver extends KeyPair {
  readonly approverId: string
  readonly keyId: string
}

export function anApprover(approverId: string, keyId = 'k1'): Approver {
  return { approverId, keyId, ...aKeyPair() }
}

/** The body of POST /approvers/changes that enrols a key. */
export function anEnrolment({ approverId, keyId, publicKeyPem }: Approver) {
  return { action: 'add', approverId, keyId, publicKeyPem, reason: 'test' }
}

/** Enrols a key for real: two humans, one change. */
export function enrolled(
  service: TestService,
  humans: { maker: Human; checker: Human },
  approver: Approver,
): Promise<Change> {
  return putInEffect(service, humans, '/approvers/changes', anEnrolment(approver))
}

/**
 * A SignedApproval that is valid from a minute ago for ten minutes.
 * @param members replace those of its payload; by default it approves any amount up to 1000 that is echoed to `test`
 */
export function aSignedApproval({ approverId, keyId, privateKey }: Approver, members: Payload = {}) {
  const now = Date.now()
  const payload: Payload = {
    version: 1,
    approvalId: randomUUID(),
    approverId,
    keyId,
    capability: 'sandbox:echo',
    target: 'test',
    scope: { limits: [{ path: 'amount', max: 1000 }] },
    issuedAt: new Date(now - 60_000).toISOString(),
    expiresAt: new Date(now + 600_000).toISOString(),
    nonce: randomBytes(16).toString('hex'),
    ...members,
  }
  return { payload, algorithm: 'ed25519', signature: signed('approval', payload, privateKey) }
}

/**
 * A SignedApproval of version 2, for a request as the service shows it.
 * @param members replace those of its payload
 */
export function anApprovalOf(
  approver: Approver,
  { request, requestHash }: Pick<ApprovalRequest, 'request' | 'requestHash'>,
  members: Payload = {},
) {
  const { capability, target, parameters } = request
  const scope = { parametersHash: sha256Hex(canonicalize(parameters as Json)) }
  return aSignedApproval(approver, { version: 2, capability, target, scope, requestHash, ...members })
}

function signed(artifact: 'step-up' | 'approval', payload: Payload, privateKey: KeyObject): string {
  return sign(null, preAuthEncoding(artifact, canonicalize(payload)), privateKey).toString('base64')
}
