// The saved key set for verifying evidence: GET /.well-known/jwks.json (interface §2.7) or a standard JWKS (RFC 7517). GET
// /keys/{approverId}:{keyId} returns a human's key. The verifier chooses the trusted keys: a key inside the evidence is never used.
import type { EdwardsPoint } from '@noble/curves/abstract/edwards.js'
import { ed25519 } from '@noble/curves/ed25519.js'
import { p256 } from '@noble/curves/nist.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js'
import { canonicalize, type Json } from '../json/canonical.ts'
import type { VerifierKey } from '../log/note.ts'
import { readPasskey, type Passkey } from '../webauthn/assertion.ts'
import { base64, base64url } from '../base64.ts'
import { isMembers, type Members } from '../json/members.ts'
import { instantMs } from '../artifacts/instant.ts'
import { Unusable } from './unusable.ts'

/**
 * DER of an SPKI up to the key's own bytes (RFC 8410 §4, RFC 9881 §4, RFC 5480 §2.1.1 with an uncompressed point). Any other prefix means
 * another kind of key.
 */
const KINDS = [
  { algorithm: 'ed25519', spkiPrefix: hexToBytes('302a300506032b6570032100'), bytes: 32 },
  {
    algorithm: 'ml-dsa-65',
    spkiPrefix: hexToBytes('308207b2300b0609608648016503040312038207a100'),
    bytes: 1952,
  },
  // This key is for passkeys only: no other signer here uses it.
  {
    algorithm: 'es256',
    spkiPrefix: hexToBytes('3059301306072a8648ce3d020106082a8648ce3d03010703420004'),
    bytes: 64,
  },
] as const
type Kind = (typeof KINDS)[number]

type Algorithm = Kind['algorithm']

interface Material {
  /** Read from the key itself, never from a name or a claim. */
  readonly algorithm: Algorithm
  readonly bytes: Uint8Array
}

export interface VerifyingKey extends Material {
  readonly keyId: string
  /** The point of an Ed25519 key. */
  readonly point: EdwardsPoint | undefined
  /** SHA-256 of the SPKI, hex: `openssl pkey -pubin -in key.pem -outform DER | sha256sum` prints it too. */
  readonly fingerprint: string
  /** RFC 3339. Signatures from then on do not count. Null: the key was in effect when it was saved. */
  readonly revokedAt: string | null
  /** A key with this member verifies `webauthn-*` only, and a key without it never does. */
  readonly passkey: Passkey | undefined
}

/** Keyed by the keyId, exactly as written. */
export type KeySet = ReadonlyMap<string, VerifyingKey>

export const NO_KEYS: KeySet = new Map()

/**
 * @param keySet the parsed set, `{keys: [...]}`, a single key from GET /keys/{keyId}, or a list of these, which count as one set
 * @returns its Ed25519 and ML-DSA-65 keys; keys of other types are left out, as RFC 7517 §5 asks
 * @throws Unusable when no such key is left, and for an entry that contradicts itself or another entry, or is cut short
 */
export function readKeySet(keySet: Json): KeySet {
  const keys = oneOfEach(
    entriesOf(keySet).flatMap((entry, i) => readKey(entry, `Key ${i + 1} of the key set`) ?? []),
  )
  if (keys.size === 0)
    throw new Unusable('The key set holds no Ed25519 or ML-DSA-65 key, so nothing can be verified by it.')
  return keys
}

/**
 * The keys of both sets.
 * @throws Unusable when one set contradicts the other
 */
export function combinedKeys(first: KeySet, second: KeySet): KeySet {
  return oneOfEach([...first.values(), ...second.values()])
}

function oneOfEach(found: readonly VerifyingKey[]): KeySet {
  const keys = new Map<string, VerifyingKey>()
  for (const key of found) {
    const same = keys.get(key.keyId)
    if (same !== undefined && !isSameKey(same, key))
      throw new Unusable(`The key set holds two different keys named '${key.keyId}': one of them is false.`)
    keys.set(key.keyId, same === undefined ? key : { ...key, revokedAt: earlier(same, key) })
  }
  refuseSharedKeys([...keys.values()])
  return keys
}

/** The same public key as a passkey and as a raw key, or for another site, counts as two keys. */
export function isSameKey(one: VerifyingKey, other: VerifyingKey): boolean {
  return one.fingerprint === other.fingerprint && passkeyText(one) === passkeyText(other)
}

function passkeyText({ passkey }: VerifyingKey): string {
  return passkey === undefined ? '' : canonicalize(passkey as unknown as Json)
}

/** One key under two approvers' names would count one person twice; under a name of the service, it would make a human the service. */
function refuseSharedKeys(keys: readonly VerifyingKey[]): void {
  const first = new Map<string, VerifyingKey>()
  // A human who resolves changes may use the same key to approve: callers and approvers have different names.
  for (const key of keys.filter(({ keyId }) => !keyId.endsWith(':step-up'))) {
    const other = first.get(key.fingerprint)
    if (other !== undefined && ownerOf(other) !== ownerOf(key))
      throw new Unusable(
        `The key set holds one key under the names '${other.keyId}' and '${key.keyId}': one of them is false.`,
      )
    first.set(key.fingerprint, key)
  }
}

/** The approver to whom the key belongs; empty for the service's own keys. */
function ownerOf({ keyId }: VerifyingKey): string {
  return keyId.includes(':') ? keyId.slice(0, keyId.indexOf(':')) : ''
}

function entriesOf(keySet: Json): readonly Json[] {
  if (Array.isArray(keySet)) return (keySet as readonly Json[]).flatMap(entriesOf)
  const { keys, ...key } = isMembers(keySet) ? keySet : {}
  if (Array.isArray(keys)) return keys as readonly Json[]
  if (keys === undefined && ['pem', 'jwk', 'kty'].some((member) => Object.hasOwn(key, member))) return [key]
  throw new Unusable(
    'The key set has no list `keys` and is no single key: save the answer of GET /.well-known/jwks.json or GET /keys/{keyId}.',
  )
}

/** A copy that was saved before the revocation does not undo it. */
function earlier(one: VerifyingKey, other: VerifyingKey): string | null {
  if (one.revokedAt === null || other.revokedAt === null) return one.revokedAt ?? other.revokedAt
  return instantMs(one.revokedAt) <= instantMs(other.revokedAt) ? one.revokedAt : other.revokedAt
}

function readKey(entry: Json, which: string): VerifyingKey | undefined {
  if (!isMembers(entry)) throw new Unusable(`${which} is not an object.`)
  const { pem, jwk } = entry
  refusePrivate(entry, which)
  if (isMembers(jwk)) refuseDifference(entry, jwk, which)
  const jwks = [jwk, 'kty' in entry ? entry : undefined].filter((one) => one !== undefined)
  if (pem === undefined && jwks.length === 0)
    throw new Unusable(`${which} has neither a \`pem\`, a \`jwk\` nor a \`kty\`.`)
  const claimed = entry['algorithm']
  // A standard JWKS may hold P-256 keys for other purposes, which are left out.
  const mayBeEs256 = 'passkey' in entry || claimed === 'es256'
  const found = [
    ...(pem === undefined ? [] : [ofPem(pem, mayBeEs256, which)]),
    ...jwks.map((one) => ofJwk(one, mayBeEs256, which)),
  ]
  const known = found.filter((one) => one !== undefined)
  const [material] = known
  if (material === undefined) {
    if (KINDS.some(({ algorithm }) => algorithm === claimed))
      throw new Unusable(`${which} is called ${claimed as string} but holds a key of another kind.`)
    return undefined
  }
  if (claimed !== undefined && claimed !== material.algorithm)
    throw new Unusable(
      `${which} is called ${JSON.stringify(claimed)} but holds an ${material.algorithm} key.`,
    )
  const keyId = nameOf([entry, ...jwks.filter((one) => isMembers(one))], which)
  const fingerprint = fingerprintOf(material)
  if (known.length < found.length || known.some((one) => fingerprintOf(one) !== fingerprint))
    throw new Unusable(`${which} holds different keys in its \`pem\` and its \`jwk\`.`)
  const passkey = passkeyOf(entry, material, which)
  const point = pointOf(keyId, material, which)
  return { keyId, ...material, point, fingerprint, revokedAt: revokedAtOf(entry, which), passkey }
}

function passkeyOf(entry: Members, { algorithm }: Material, which: string): Passkey | undefined {
  if (!('passkey' in entry)) {
    if (algorithm === 'es256')
      throw new Unusable(`${which} is an es256 key and no passkey: none is used here.`)
    return undefined
  }
  if (algorithm === 'ml-dsa-65') throw new Unusable(`${which} is an ml-dsa-65 key, and no passkey is one.`)
  try {
    return readPasskey(entry['passkey'])
  } catch (error) {
    throw new Unusable(`${which} is no usable passkey: ${(error as Error).message}.`)
  }
}

/**
 * A human's key as a governance change enrolled it.
 * @param enrolled the proposed content: a `publicKeyPem`, and for a passkey the member `passkey`
 * @param known a key that was read before: if it is the same, it is not examined again
 * @throws Unusable when it is no Ed25519 key and no passkey
 */
export function readEnrolledKey(
  keyId: string,
  enrolled: Members,
  known: VerifyingKey | undefined,
): VerifyingKey {
  const which = `The key '${keyId}'`
  const material = ofPem(enrolled['publicKeyPem'] ?? null, 'passkey' in enrolled, which)
  if (material === undefined || material.algorithm === 'ml-dsa-65')
    throw new Unusable(`${which} is no Ed25519 key.`)
  const fingerprint = fingerprintOf(material)
  const passkey = passkeyOf(enrolled, material, which)
  const key = { keyId, ...material, fingerprint, revokedAt: null, passkey }
  return { ...key, point: known?.fingerprint === fingerprint ? known.point : pointOf(keyId, material, which) }
}

function revokedAtOf({ revokedAt }: Members, which: string): string | null {
  if (revokedAt === undefined) return null
  if (typeof revokedAt !== 'string' || Number.isNaN(instantMs(revokedAt)))
    throw new Unusable(`${which} has a \`revokedAt\` that is no time.`)
  return revokedAt
}

/** The name that every part of the entry gives the key; they must agree. */
function nameOf(parts: readonly Members[], which: string): string {
  const names = parts.flatMap((part) => [part['keyId'], part['kid']]).filter((name) => name !== undefined)
  const [name] = names
  if (typeof name !== 'string' || name === '') throw new Unusable(`${which} has no \`keyId\` or \`kid\`.`)
  if (names.some((other) => other !== name)) throw new Unusable(`${which} has two different names.`)
  if (parts.some(({ use }) => use !== undefined && use !== 'sig'))
    throw new Unusable(`${which} is not for signatures: its \`use\` is not 'sig'.`)
  return name
}

/** RFC 7468 §13: whole lines of base64 between the two boundary lines, then only white space. */
const PEM = /^-----BEGIN PUBLIC KEY-----\r?\n((?:[A-Za-z0-9+/=]+\r?\n)+)-----END PUBLIC KEY-----[ \t\r\n]*$/

/** One SPKI block and nothing else. Undefined: a key of another kind. */
function ofPem(pem: Json, mayBeEs256: boolean, which: string): Material | undefined {
  const block = typeof pem === 'string' ? PEM.exec(pem) : null
  const der = base64(block?.[1]?.replaceAll(/\r?\n/g, '') ?? '')
  if (der === undefined || der.length === 0)
    throw new Unusable(`${which} has a \`pem\` that is no public key.`)
  const kind = KINDS.find(({ spkiPrefix }) => spkiPrefix.every((byte, i) => der[i] === byte))
  if (kind?.algorithm === 'es256' && !mayBeEs256) return undefined
  return kind && materialOf(kind, der.subarray(kind.spkiPrefix.length), which)
}

/** RFC 8037 §2, RFC 9964 §3 and RFC 7518 §6.2.1. Undefined: a key of another kind. */
function ofJwk(jwk: Json, mayBeEs256: boolean, which: string): Material | undefined {
  if (!isMembers(jwk)) throw new Unusable(`${which} has a \`jwk\` that is not an object.`)
  const { kty, crv, alg, x, y, pub } = jwk
  refusePrivate(jwk, which)
  if (kty === 'OKP' && crv === 'Ed25519') {
    if (alg !== undefined && alg !== 'EdDSA' && alg !== 'Ed25519')
      throw new Unusable(`${which} is an Ed25519 key with an \`alg\` that is not Ed25519's.`)
    return materialOf(KINDS[0], bytesOf(x, which), which)
  }
  if (kty === 'AKP' && alg === 'ML-DSA-65') return materialOf(KINDS[1], bytesOf(pub, which), which)
  if (mayBeEs256 && kty === 'EC' && crv === 'P-256') {
    if (alg !== undefined && alg !== 'ES256')
      throw new Unusable(`${which} is a P-256 key with an \`alg\` that is not ES256.`)
    const coordinates = [bytesOf(x, which), bytesOf(y, which)]
    if (coordinates.some(({ length }) => length !== 32))
      throw new Unusable(`${which} has coordinates that do not have 32 bytes.`)
    return materialOf(KINDS[2], concatBytes(...coordinates), which)
  }
  return undefined
}

const JWK_MEMBERS = ['kty', 'crv', 'x', 'y', 'pub', 'alg'] as const

/** Entries of a key set also have the members of their `jwk` at the top level, and a reader may use either. */
function refuseDifference(entry: Members, jwk: Members, which: string): void {
  const different = JWK_MEMBERS.find(
    (member) =>
      member in entry && member in jwk && (typeof jwk[member] !== 'string' || entry[member] !== jwk[member]),
  )
  if (different !== undefined)
    throw new Unusable(`${which} has another \`${different}\` beside its \`jwk\` than in it.`)
}

/** The private members: `d` of RFC 8037 §2, `priv` of RFC 9964 §3. */
function refusePrivate(part: Members, which: string): void {
  if ('d' in part || 'priv' in part)
    throw new Unusable(
      `${which} holds a private key: treat it as compromised, and save the public keys only.`,
    )
}

function bytesOf(text: Json | undefined, which: string): Uint8Array {
  const bytes = typeof text === 'string' ? base64url(text) : undefined
  if (bytes === undefined) throw new Unusable(`${which} has key bytes that are not base64url.`)
  return bytes
}

function materialOf(kind: Kind, bytes: Uint8Array, which: string): Material {
  if (bytes.length !== kind.bytes)
    throw new Unusable(`${which} has ${bytes.length} bytes; an ${kind.algorithm} key has ${kind.bytes}.`)
  return { algorithm: kind.algorithm, bytes }
}

/** Size of the precomputed table of a point, 4 bits of a scalar at a time: it pays for itself within half a dozen signatures. */
const TABLE_BITS = 4

/** @throws Unusable for another encoding, and for points of small or mixed order, which the service refuses too */
function pointOf(keyId: string, { algorithm, bytes }: Material, which: string): EdwardsPoint | undefined {
  if (algorithm === 'es256' && !p256.utils.isValidPublicKey(uncompressed(bytes), false))
    throw new Unusable(`${which} is not a point of P-256.`)
  if (algorithm !== 'ed25519') return undefined
  const point = ed25519Point(bytes)
  if (point === undefined || point.is0() || !point.isTorsionFree())
    throw new Unusable(`${which} is a point that no private key has: some of those verify anything.`)
  // A human's key verifies few signatures, so precomputing does not pay.
  return keyId.includes(':') ? point : point.precompute(TABLE_BITS)
}

/** SEC 1 §2.3.3, from the two coordinates. */
export function uncompressed(coordinates: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(4), coordinates)
}

/** Undefined if it is not the canonical encoding of a point. */
export function ed25519Point(bytes: Uint8Array): EdwardsPoint | undefined {
  try {
    return ed25519.Point.fromBytes(bytes)
  } catch {
    return undefined
  }
}

function fingerprintOf({ algorithm, bytes }: Material): string {
  const { spkiPrefix } = KINDS.find((kind) => kind.algorithm === algorithm) ?? KINDS[0]
  return bytesToHex(sha256(concatBytes(spkiPrefix, bytes)))
}

/** The key of a log or of a witness as a report names it; these keys sign notes and no evidence. */
export function describedLogKey({ name, keyId, type, publicKey }: VerifierKey) {
  const algorithm = type === 'ml-dsa-44-cosignature' ? 'ml-dsa-44' : 'ed25519'
  const spkiPrefix = algorithm === 'ed25519' ? KINDS[0].spkiPrefix : ML_DSA_44_SPKI_PREFIX
  const fingerprint = bytesToHex(sha256(concatBytes(spkiPrefix, publicKey)))
  return { keyId: `${name}+${keyId}`, algorithm, fingerprint } as const
}

const ML_DSA_44_SPKI_PREFIX = hexToBytes('30820532300b06096086480165030403110382052100')
