// The keys of the published vectors and how they sign (decisions §4 "Signature"), by OpenSSL, noble and a second
// implementation of canonical JSON: deterministic, so that the same files come out every time.
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  sign as cryptoSign,
  type KeyObject,
} from 'node:crypto'
import { ml_dsa65 as mlDsa65 } from '@noble/post-quantum/ml-dsa.js'
import jcs from 'canonicalize'
import * as serviceEd25519 from '../../src/core/signing/ed25519.ts'
import { mlDsa65 as serviceMlDsa65 } from '../../src/core/signing/ml-dsa.ts'
import type { Json, Members } from './edit.ts'

type Algorithm = 'ed25519' | 'ml-dsa-65'

export interface Key {
  readonly algorithm: Algorithm
  readonly keyId: string
  readonly seed: Uint8Array
}

export type Signature = { algorithm: string; keyId: string; value: string } & Members

/** A forger does this otherwise than the server when it signs. */
export interface Forgery {
  /** Signs in place of the key that is due; keyId and algorithm stay those of the one that is due. */
  readonly key?: Key
  readonly keyId?: string
  readonly algorithm?: string
  /** The artifact named in the signed bytes. */
  readonly artifact?: string
  /** The bytes that are signed, made of the canonical text. */
  readonly message?: (canonicalText: string) => string
  /** The base64 that is carried in place of the signature's. */
  readonly value?: (base64: string) => string
  /** Members that stand beside the value. */
  readonly beside?: Members
}

/** Those of the key set: the older two are rotated out, and still resolvable. */
export const keys = {
  oldEd25519: key('ed25519', '20260601T000000Z'),
  ed25519: key('ed25519', '20261101T000000Z'),
  oldMlDsa65: key('ml-dsa-65', '20260601T000000Z'),
  mlDsa65: key('ml-dsa-65', '20261101T000000Z'),
}

/** In the key set too. */
export const revokedKey = key('ed25519', '20260801T000000Z')

/** Those of humans, `{approverId}:{keyId}`: each published by itself. */
export const humans = {
  dana: human('dana:laptop'),
  erik: human('erik:laptop'),
  /** Another device of the same human. */
  danaPhone: human('dana:phone'),
  revoked: human('greta:laptop'),
  treasury: human('treasury:laptop'),
  caller: human('agent-7:laptop'),
  /** Read as `dana` with the key `desk:laptop`, or as another human, `dana:desk`. */
  ambiguous: human('dana:desk:laptop'),
  aliceStepUp: human('alice:step-up'),
  bobByKeyId: human('bob:card'),
  /** Not of the algorithm that humans sign with. */
  mlDsa65: named('ml-dsa-65', 'quinn:laptop'),
}

/** When the revoked ones were revoked. */
export const REVOKED_AT = '2026-11-21T01:01:00.000Z'

/** As GET /keys/{approverId}:{keyId} answers each. */
export function humanKeysJson(): Json[] {
  return Object.values(humans).map((one) => {
    const json = publicKeyJson(one)
    return one === humans.revoked ? { ...json, revokedAt: REVOKED_AT } : json
  })
}

/** Made as the others are, and never published. */
export const unpublished = {
  ed25519: key('ed25519', '20261201T000000Z'),
  mlDsa65: key('ml-dsa-65', '20261201T000000Z'),
  human: human('zoe:laptop'),
}

export const modes = {
  ed25519: [keys.ed25519],
  'ml-dsa-65': [keys.mlDsa65],
  hybrid: [keys.ed25519, keys.mlDsa65],
} as const satisfies Record<string, readonly Key[]>
export type Mode = keyof typeof modes

function key(algorithm: Algorithm, createdAt: string): Key {
  return named(algorithm, `${createdAt}-${algorithm}`)
}

function human(keyId: string): Key {
  return named('ed25519', keyId)
}

function named(algorithm: Algorithm, keyId: string): Key {
  return { algorithm, keyId, seed: createHash('sha256').update(`countersign vectors ${keyId}`).digest() }
}

/** As GET /.well-known/jwks.json answers it (interface §2.7). */
export function publicKeyJson({ algorithm, keyId, seed }: Key): Members {
  const { pkcs8Prefix, publicKeyBytes, jwk } = algorithm === 'ed25519' ? serviceEd25519 : serviceMlDsa65
  const publicKey = createPublicKey(privateKey(pkcs8Prefix, seed))
  const bytes = publicKey.export({ type: 'spki', format: 'der' }).subarray(-publicKeyBytes)
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  return { keyId, algorithm, use: 'sig', pem, jwk: { ...jwk(bytes), kid: keyId, use: 'sig' } }
}

/** As GET /.well-known/jwks.json answers it: the members of `jwk` beside the others too. */
export function keySetEntry(published: Key): Members {
  const json = publicKeyJson(published)
  return { ...json, ...(json['jwk'] as Members) }
}

/** RFC 8785 text. */
export function canonical(value: Json): string {
  const text = jcs(value)
  if (text === undefined) throw new Error('no canonical form')
  return text
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

export function sign(artifact: string, text: string, due: Key, forgery: Forgery = {}): Signature {
  const message = forgery.message?.(text) ?? preAuthEncoding(forgery.artifact ?? artifact, text)
  const value = Buffer.from(rawSignature(message, forgery.key ?? due)).toString('base64')
  return { ...claimed(due, forgery), value: forgery.value?.(value) ?? value, ...forgery.beside }
}

/** The key that the evidence names. */
export function claimed(due: Key, forgery: Forgery = {}): { algorithm: string; keyId: string } {
  return { algorithm: forgery.algorithm ?? due.algorithm, keyId: forgery.keyId ?? due.keyId }
}

export function preAuthEncoding(artifact: string, text: string): string {
  const type = `application/vnd.countersign.${artifact}.v1+json`
  return `DSSEv1 ${type.length} ${type} ${Buffer.byteLength(text)} ${text}`
}

function rawSignature(message: string, by: Key): Uint8Array {
  return rawSignatureBy(Buffer.from(message), by)
}

/** The bare signature of these bytes. */
export function rawSignatureBy(bytes: Buffer, { algorithm, seed }: Key): Uint8Array {
  if (algorithm === 'ed25519') return cryptoSign(null, bytes, privateKey(serviceEd25519.pkcs8Prefix, seed))
  // OpenSSL's are different each time.
  return mlDsa65.sign(bytes, mlDsa65.keygen(seed).secretKey, { extraEntropy: false })
}

/** An Ed25519 key by its seed, for what is signed without an algorithm's name. */
export function rawEd25519(seed: Uint8Array): {
  readonly publicKey: Uint8Array
  readonly sign: (message: Uint8Array) => Uint8Array
} {
  const secret = privateKey(serviceEd25519.pkcs8Prefix, seed)
  const spki = createPublicKey(secret).export({ type: 'spki', format: 'der' })
  return {
    publicKey: new Uint8Array(spki.subarray(-serviceEd25519.publicKeyBytes)),
    sign: (message) => new Uint8Array(cryptoSign(null, message, secret)),
  }
}

function privateKey(pkcs8Prefix: string, seed: Uint8Array): KeyObject {
  const der = Buffer.concat([Buffer.from(pkcs8Prefix, 'hex'), seed])
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}
