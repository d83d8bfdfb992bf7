// Passkeys of the published vectors and what they sign, made without a browser: each byte of an assertion can be another one here.
import { createHash, createPublicKey } from 'node:crypto'
import { p256 } from '@noble/curves/nist.js'
import type { Json, Members } from './edit.ts'
import { preAuthEncoding, publicKeyJson, rawSignatureBy, type Key } from './keys.ts'

export interface PasskeyOwner {
  readonly keyId: string
  readonly algorithm: 'es256' | 'ed25519'
  readonly seed: Uint8Array
  readonly backupEligible: boolean
}

export const RP_ID = 'approve.example'
export const ORIGIN = 'https://approve.example'
const ORIGINS = [ORIGIN, 'https://console.approve.example:8443']

export const passkeys = {
  dana: passkey('dana:passkey', 'es256', true),
  erik: passkey('erik:passkey', 'ed25519', false),
  /** Resolves changes. */
  frank: passkey('frank:step-up', 'es256', false),
  grace: passkey('grace:step-up', 'ed25519', true),
  unpublished: passkey('zoe:passkey', 'es256', false),
}

/** As GET /keys/{approverId}:{keyId} answers each. */
export function passkeysJson(): Members[] {
  const { unpublished: _, ...published } = passkeys
  return Object.values(published).map(passkeyJson)
}

export function passkeyJson(owner: PasskeyOwner): Members {
  const { keyId, algorithm, backupEligible } = owner
  const key = algorithm === 'es256' ? es256Json(owner) : publicKeyJson(rawKeyOf(owner))
  return { ...key, keyId, passkey: { rpId: RP_ID, origins: ORIGINS, backupEligible } }
}

function passkey(keyId: string, algorithm: 'es256' | 'ed25519', backupEligible: boolean): PasskeyOwner {
  const seed = createHash('sha256').update(`countersign vectors ${keyId}`).digest()
  return { keyId, algorithm, seed, backupEligible }
}

/** The same private key as a raw Ed25519 one. */
export function rawKeyOf({ keyId, seed }: PasskeyOwner): Key {
  return { algorithm: 'ed25519', keyId, seed }
}

function es256Json({ keyId, seed }: PasskeyOwner): Members {
  const point = Buffer.from(p256.getPublicKey(seed, false))
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')]
  const jwk = { kty: 'EC', crv: 'P-256', x, y }
  const pem = createPublicKey({ key: jwk, format: 'jwk' }).export({ type: 'spki', format: 'pem' }).toString()
  return {
    keyId,
    algorithm: 'es256',
    use: 'sig',
    pem,
    jwk: { ...jwk, alg: 'ES256', kid: keyId, use: 'sig' },
  }
}

/** An authenticator, a browser or a forger does this otherwise. */
export interface Otherwise {
  readonly artifact?: string
  /** Replaces members of the client data; those that are undefined are left out. */
  readonly clientData?: { readonly [name: string]: Json | undefined }
  /** Changes the text of the client data, before it is signed. */
  readonly clientText?: (text: string) => string | Uint8Array
  readonly rpId?: string
  readonly flags?: number
  /** Changes the authenticator data, before it is signed. */
  readonly authenticatorData?: (bytes: Buffer) => Buffer
  readonly signCount?: number
  /** S above half the order, or below; by default as it comes. */
  readonly highS?: boolean
  readonly signature?: (bytes: Buffer) => Buffer
  readonly algorithm?: string
  /** Replaces members of `webauthn`, after it is signed. */
  readonly webauthn?: { readonly [name: string]: Json | undefined }
}

export const FLAGS = { UP: 0x01, UV: 0x04, BE: 0x08, BS: 0x10, AT: 0x40, ED: 0x80 }

/** `{algorithm, signature, webauthn}` over the canonical text of an artifact. */
export function asserted(artifact: string, text: string, owner: PasskeyOwner, how: Otherwise = {}): Members {
  const challenge = sha256(preAuthEncoding(how.artifact ?? artifact, text)).toString('base64url')
  const data = { type: 'webauthn.get', challenge, origin: ORIGIN, crossOrigin: false, ...how.clientData }
  const given = how.clientText?.(JSON.stringify(data)) ?? JSON.stringify(data)
  const clientDataJSON = Buffer.from(given as string)
  const authenticatorData = authenticatorDataOf(owner, how)
  const signed = Buffer.concat([authenticatorData, sha256(clientDataJSON)])
  const made = signatureBy(owner, signed, how.highS)
  const webauthn = {
    authenticatorData: authenticatorData.toString('base64'),
    clientDataJSON: clientDataJSON.toString('base64'),
    ...how.webauthn,
  }
  return {
    algorithm: how.algorithm ?? `webauthn-${owner.algorithm}`,
    signature: (how.signature?.(made) ?? made).toString('base64'),
    webauthn: Object.fromEntries(Object.entries(webauthn).filter(([, value]) => value !== undefined)),
  }
}

function authenticatorDataOf({ backupEligible }: PasskeyOwner, how: Otherwise): Buffer {
  const { UP, UV, BE, BS } = FLAGS
  const bytes = Buffer.alloc(37)
  sha256(how.rpId ?? RP_ID).copy(bytes)
  bytes[32] = how.flags ?? (backupEligible ? UP | UV | BE | BS : UP | UV)
  bytes.writeUInt32BE(how.signCount ?? 0, 33)
  return how.authenticatorData?.(bytes) ?? bytes
}

function signatureBy(owner: PasskeyOwner, message: Buffer, highS: boolean | undefined): Buffer {
  if (owner.algorithm === 'ed25519') return Buffer.from(rawSignatureBy(message, rawKeyOf(owner)))
  const bytes = p256.sign(message, owner.seed, { format: 'compact', lowS: false })
  const { r, s } = p256.Signature.fromBytes(bytes, 'compact')
  const { ORDER } = p256.Point.Fn
  const isOther = highS !== undefined && highS !== s > ORDER / 2n
  return Buffer.from(new p256.Signature(r, isOther ? ORDER - s : s).toBytes('der'))
}

function sha256(bytes: string | Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest()
}
