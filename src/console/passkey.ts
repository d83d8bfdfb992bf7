// Makes passkeys in the page and has them sign (Web Authentication Level 3). The page computes each payload from the content that it shows;
// the service never supplies a payload to sign.
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, randomBytes } from '@noble/hashes/utils.js'
import { approvalPayload } from '../formats/approval-requests/approval-payload.ts'
import { loginPayload, registrationPayload } from '../formats/console-login.ts'
import { canonicalize, type Json } from '../formats/json/canonical.ts'
import type { ApprovalRequest } from '../formats/schemas/approval-request.ts'
import {
  endpointStepUpPayload,
  proposalStepUpPayload,
  proposalText,
  resolutionStepUpPayload,
  stepUpPayload,
  type Proposed,
} from '../formats/step-up-payload.ts'
import { base64url, toBase64 } from '../formats/base64.ts'
import { preAuthEncoding } from '../formats/verifier/pre-auth-encoding.ts'
import type { PasskeyAlgorithm } from '../formats/webauthn/assertion.ts'
import { sha256Hex } from './hashing.ts'

/** COSE algorithms (RFC 9053) and the names under which they sign here. */
const ALGORITHMS: Readonly<Record<string, PasskeyAlgorithm>> = {
  '-7': 'webauthn-es256',
  '-8': 'webauthn-ed25519',
}

type PasskeySignature = Readonly<{
  algorithm: PasskeyAlgorithm
  /** Base64, as are the members of `webauthn`. */
  signature: string
  webauthn: Readonly<{ authenticatorData: string; clientDataJSON: string }>
}>

/** The passkey that is asked to sign, and its algorithm. */
interface OwnPasskey {
  readonly rpId: string
  readonly algorithm: PasskeyAlgorithm
  /** base64url; undefined: the browser lets the human choose. */
  readonly credentialId?: string
}

/** @returns the passkey algorithm of a public key: the SPKI of P-256 names its curve, so it is longer than the SPKI of Ed25519 */
export function algorithmOfPem(publicKeyPem: string): PasskeyAlgorithm {
  const spki = publicKeyPem.replaceAll(/-----[A-Z ]+-----|\s/g, '')
  return atob(spki).length > ED25519_SPKI_BYTES ? 'webauthn-es256' : 'webauthn-ed25519'
}

const ED25519_SPKI_BYTES = 44

/**
 * Signs the approval of a request (decisions §7).
 * @param asked the request as the page shows it, after its hash was compared
 * @param reason '' for none
 * @returns the body of POST /approvals
 * @throws the errors that `problemOfPasskey` explains
 */
export async function approvalBy(
  passkey: OwnPasskey & { readonly approverId: string; readonly keyId: string },
  { request }: ApprovalRequest,
  reason: string,
): Promise<object> {
  const { approverId, keyId } = passkey
  const by = { approverId, keyId, approvalId: crypto.randomUUID(), nonce: aNonce(), now: new Date(), reason }
  const payload = approvalPayload(request, by, sha256Hex)
  return { payload, ...(await sign('approval', payload, passkey)) }
}

/** A name that no key of an approver has: offline, a step-up is checked by the human's key of the name that it states, too. */
const STEP_UP_KEY_ID = 'step-up'

/**
 * Signs the approval or rejection of a change (decisions §7).
 * @param change its hash was compared with the hash of the content that the page shows
 * @param options.impactHash of the impact report that the page shows, where the signature covers one
 * @throws as `approvalBy`
 */
export async function stepUpBy(
  passkey: OwnPasskey,
  change: { readonly changeId: string; readonly changeHash: string },
  { action, impactHash }: { readonly action: 'approve' | 'reject'; readonly impactHash?: string | undefined },
): Promise<object> {
  const payload = stepUpPayload(change, { action, nonce: aNonce(), now: new Date(), impactHash })
  return { payload, keyId: STEP_UP_KEY_ID, ...(await sign('step-up', payload, passkey)) }
}

/**
 * Signs the proposal of a human.
 * @param proposed as the page shows it
 * @throws as `approvalBy`
 */
export async function proposalBy(passkey: OwnPasskey, proposed: Proposed): Promise<object> {
  const proposalHash = sha256Hex(proposalText(proposed))
  const payload = proposalStepUpPayload({ ...proposed, proposalHash }, { nonce: aNonce(), now: new Date() })
  return { payload, keyId: STEP_UP_KEY_ID, ...(await sign('step-up', payload, passkey)) }
}

/**
 * Signs a statement of how an execution in doubt ended.
 * @param said with the hash of the action, which the page computed from the content that it shows
 * @throws as `approvalBy`
 */
export async function resolutionBy(
  passkey: OwnPasskey,
  said: Parameters<typeof resolutionStepUpPayload>[0],
): Promise<object> {
  const payload = resolutionStepUpPayload(said, { nonce: aNonce(), now: new Date() })
  return { payload, keyId: STEP_UP_KEY_ID, ...(await sign('step-up', payload, passkey)) }
}

/**
 * Signs an operation on an event endpoint.
 * @throws as `approvalBy`
 */
export async function endpointActBy(
  passkey: OwnPasskey,
  act: Parameters<typeof endpointStepUpPayload>[0],
): Promise<object> {
  const payload = endpointStepUpPayload(act, { nonce: aNonce(), now: new Date() })
  return { payload, keyId: STEP_UP_KEY_ID, ...(await sign('step-up', payload, passkey)) }
}

/**
 * Signs a login with the passkey of this host that the human chooses.
 * @param challenge of the service, which is a part of the signed payload
 * @throws as `approvalBy`
 */
export async function loginBy(challenge: string): Promise<object> {
  const payload = loginPayload({ challenge, origin: location.origin })
  return { challenge, ...(await ask('console-login', payload, { rpId: location.hostname })) }
}

/** The members of a new passkey that are enrolled, under a name that its owner chose. */
export interface Enrolment {
  readonly publicKeyPem: string
  readonly passkey: {
    readonly rpId: string
    readonly origins: readonly string[]
    readonly credentialId: string
    readonly backupEligible: boolean
    readonly proof: object
  }
}

/**
 * Makes a passkey on the human's authenticator, and has it sign that it belongs to this name.
 * @throws as `approvalBy`
 */
export async function makePasskey(approverId: string, keyId: string): Promise<Enrolment> {
  const { rpId, spki, publicKeyPem, credentialId, backupEligible, by } = await create(
    `${approverId}:${keyId}`,
    approverId,
  )
  const payload = { version: 1, approverId, keyId, spki, rpId, origin: location.origin }
  const proof = { payload, ...(await sign('key-proof', payload, by)) }
  return { publicKeyPem, passkey: { rpId, origins: [location.origin], credentialId, backupEligible, proof } }
}

/**
 * Makes a passkey that logs in and does nothing else.
 * @param challenge of the service
 * @returns the registration that the service takes, without the API key
 * @throws as `approvalBy`
 */
export async function makeLoginPasskey(callerId: string, name: string, challenge: string): Promise<object> {
  const { spki, publicKeyPem, credentialId, backupEligible, by } = await create(
    `${callerId}, login: ${name}`,
    `${callerId}, to log in`,
  )
  const payload = registrationPayload({ challenge, origin: location.origin, callerId, name, spki })
  const proof = await sign('console-login', payload, by)
  return { name, challenge, publicKeyPem, credentialId, backupEligible, proof }
}

/** @param name of the passkey in the authenticator's own list */
async function create(name: string, displayName: string) {
  const rpId = location.hostname
  const made = await navigator.credentials.create({
    publicKey: {
      rp: { id: rpId, name: 'Countersign' },
      user: { id: randomBytes(32), name, displayName },
      // No attestation is requested, so nothing reads this challenge; the challenge of the later assertion counts.
      challenge: randomBytes(32),
      pubKeyCredParams: Object.keys(ALGORITHMS).map((alg) => ({ type: 'public-key', alg: Number(alg) })),
      authenticatorSelection: {
        residentKey: 'required',
        requireResidentKey: true,
        userVerification: 'required',
      },
      attestation: 'none',
    },
  })
  if (!(made instanceof PublicKeyCredential) || !(made.response instanceof AuthenticatorAttestationResponse))
    throw new NoPasskey('The browser made no passkey.')
  const key = made.response.getPublicKey()
  const algorithm = ALGORITHMS[made.response.getPublicKeyAlgorithm()]
  if (key === null || algorithm === undefined)
    throw new NoPasskey('The passkey has a key that is neither P-256 nor Ed25519.')
  const spki = toBase64(new Uint8Array(key))
  const flags = new Uint8Array(made.response.getAuthenticatorData())[FLAGS_AT] ?? 0
  return {
    rpId,
    spki,
    publicKeyPem: `-----BEGIN PUBLIC KEY-----\n${spki.replaceAll(/.{64}(?=.)/g, '$&\n')}\n-----END PUBLIC KEY-----\n`,
    credentialId: made.id,
    backupEligible: (flags & BACKUP_ELIGIBLE) !== 0,
    by: { rpId, algorithm, credentialId: made.id },
  }
}

/** The offset of the flags in the authenticator data (§6.1). */
const FLAGS_AT = 32
const BACKUP_ELIGIBLE = 0x08

class NoPasskey extends Error {}

/** The challenge is the SHA-256 of the bytes that a raw key would sign. */
async function sign(
  artifact: Signed,
  payload: object,
  { algorithm, ...asked }: OwnPasskey,
): Promise<PasskeySignature> {
  const { credentialId: _, ...signed } = await ask(artifact, payload, asked)
  return { ...signed, algorithm }
}

type Signed = 'approval' | 'step-up' | 'key-proof' | 'console-login'

/** @returns the signature, and the id of the passkey that made it; the passkey's algorithm is not known here */
async function ask(
  artifact: Signed,
  payload: object,
  { rpId, credentialId }: Omit<OwnPasskey, 'algorithm'>,
): Promise<Omit<PasskeySignature, 'algorithm'> & { readonly credentialId: string }> {
  const id = credentialId === undefined ? undefined : base64url(credentialId)
  const challenge = sha256(preAuthEncoding(artifact, canonicalize(payload as Json)))
  const given = await navigator.credentials.get({
    publicKey: {
      rpId,
      challenge: challenge,
      userVerification: 'required',
      ...(id === undefined ? {} : { allowCredentials: [{ type: 'public-key', id: id as BufferSource }] }),
    },
  })
  if (!(given instanceof PublicKeyCredential) || !(given.response instanceof AuthenticatorAssertionResponse))
    throw new NoPasskey('The browser gave no signature.')
  const { signature, authenticatorData, clientDataJSON } = given.response
  return {
    credentialId: given.id,
    signature: text(signature),
    webauthn: { authenticatorData: text(authenticatorData), clientDataJSON: text(clientDataJSON) },
  }
}

function text(bytes: ArrayBuffer): string {
  return toBase64(new Uint8Array(bytes))
}

function aNonce(): string {
  return bytesToHex(randomBytes(16))
}

/** @returns why nothing was signed; undefined where the passkey is not the reason */
export function problemOfPasskey(error: unknown): string | undefined {
  if (error instanceof NoPasskey) return error.message
  if (!(error instanceof DOMException)) return undefined
  // The specification lets a browser say no more than this, so that no page learns which passkeys somebody has.
  if (error.name === 'NotAllowedError')
    return 'Nothing was signed: you cancelled, took too long, this device has not the passkey that was asked for, or it makes only keys that are not taken here (RSA, as some Windows Hello do).'
  if (error.name === 'NotSupportedError')
    return 'No passkey was made: this device makes only keys that are not taken here (RSA, as some Windows Hello do). Use a phone or a security key.'
  if (error.name === 'SecurityError')
    return `Nothing was signed: a passkey of another host cannot be used at ${location.host}.`
  return `Nothing was signed: ${error.message}`
}
