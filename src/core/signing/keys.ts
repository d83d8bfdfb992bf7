// Signing keys and the folder that holds them: <keyId>.private.pem and <keyId>.public.pem (decisions §1, interface §2.7).
import { algorithms, type Algorithm } from '../../formats/schemas/signature.ts'
import { createPrivateKey, createPublicKey, randomBytes, type KeyObject } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ifThere } from '../files/read-if-there.ts'
import * as ed25519 from './ed25519.ts'
import { keyAccess, type KeyAccess } from './key-access.ts'
import { mlDsa44, mlDsa65 } from './ml-dsa.ts'
import { readRevocation, REVOCATION_SUFFIX, withRevocation } from './revocation.ts'
import { writeWholeFile } from '../files/whole-file.ts'

/** Algorithms of any folder of keys; the log's folder (src/core/signing/log-keys.ts) has other ones than the service's. */
type KeyAlgorithm = Algorithm | 'ml-dsa-44'
const implementations: Readonly<Record<KeyAlgorithm, Implementation>> = {
  ed25519,
  'ml-dsa-44': mlDsa44,
  'ml-dsa-65': mlDsa65,
}

interface Implementation {
  /** Hex of the PKCS#8 DER up to the 32-byte seed that ends it. */
  readonly pkcs8Prefix: string
  readonly publicKeyBytes: number
  readonly jwk: (publicKey: Buffer) => Record<string, string>
  readonly signer: (key: KeyObject) => SigningKey['sign']
  readonly verifier: (publicKey: { key: KeyObject; bytes: Buffer }) => PublicKey['verifies']
}

export interface PublicKey<Known extends KeyAlgorithm = Algorithm> {
  readonly keyId: string
  /** Read from the key material, never from a name or a claim (interface §2.7). */
  readonly algorithm: Known
  readonly use: 'sig'
  /** SPKI. */
  readonly pem: string
  /** OKP (RFC 8037) or AKP (RFC 9964), with kid, alg and use. */
  readonly jwk: Readonly<Record<string, string>>
  /** 32 bytes (Ed25519), 1312 (ML-DSA-44) or 1952 (ML-DSA-65). */
  readonly bytes: Uint8Array
  /** False for anything other than this key's signature of the message, including a wrong length; never throws. */
  readonly verifies: (message: Buffer, signature: Buffer) => boolean
  /** ISO 8601 (src/core/signing/revocation.ts). Only signing keys of the service can have it. */
  readonly revokedAt?: string | undefined
}

/** The secret exists only in the closure of `sign`, so it cannot be logged, serialised or posted to another thread. */
export interface SigningKey<Known extends KeyAlgorithm = Algorithm> {
  readonly public: PublicKey<Known>
  /** Ed25519 returns the signature at once, ML-DSA a promise. */
  readonly sign: (message: Buffer) => Buffer | Promise<Buffer>
}

export interface SigningKeys {
  /** Signs everything except records and receipts (decisions §4 "Receipt"). */
  readonly ed25519: SigningKey
  /** Sign records and receipts, in the order of RECEIPT_ALGORITHMS. */
  readonly receipt: readonly SigningKey[]
}

/**
 * The keys that sign: the key with the greatest keyId of each algorithm.
 * @throws Error with the file's name when any private key cannot be read or does not belong to its public key; with the command that makes
 *   a key when an algorithm has no key or its greatest key is revoked
 */
export function readSigningKeys(dir: string, receiptAlgorithms: readonly Algorithm[]): SigningKeys {
  const greatest = new Map(readPrivateKeys(dir, algorithms).map((key) => [key.public.algorithm, key]))
  const signerOf = (algorithm: Algorithm): SigningKey => {
    const key = greatest.get(algorithm)
    if (key === undefined)
      throw new Error(`No ${algorithm} key in ${dir}. To make one: countersign keys generate --dir ${dir}`)
    const { keyId } = key.public
    const revokedAt = readRevocation(dir, keyId)
    if (revokedAt === undefined) return key
    throw new Error(
      `The newest ${algorithm} key in ${dir}, ${keyId}, is revoked since ${revokedAt}, and what it signs counts nowhere. ` +
        `To make a newer one: countersign keys rotate --dir ${dir}`,
    )
  }
  return { ed25519: signerOf('ed25519'), receipt: receiptAlgorithms.map(signerOf) }
}

/**
 * The private keys of a folder, by keyId in ascending order: the last key of an algorithm signs.
 * @param known the algorithms that a key of this folder may have
 * @throws Error with the file's name when any private key can be written by others, cannot be read or does not belong to its public key
 */
export function readPrivateKeys<Known extends KeyAlgorithm>(
  dir: string,
  known: readonly Known[],
): SigningKey<Known>[] {
  const [problem] = privateKeyAccess(dir).writable
  if (problem !== undefined) throw new Error(problem)
  return keyIds(dir, 'private').map((keyId) => readSigningKey(dir, keyId, known))
}

/**
 * Finds whether others may write or read the private keys of a folder, or write revocations.
 * @param shown name of the folder in the sentences, if it is not the path
 */
export function privateKeyAccess(dir: string, shown?: string): KeyAccess {
  return keyAccess(
    dir,
    ['.private.pem', REVOCATION_SUFFIX].flatMap((suffix) =>
      idsOf(dir, suffix).map((keyId) => keyId + suffix),
    ),
    shown,
  )
}

/** Every public key of the folder, including revoked keys and keys that no longer sign, by keyId in ascending order. */
export function readPublicKeys(dir: string): Map<string, PublicKey> {
  return new Map(
    keyIds(dir, 'public').map((keyId) => [keyId, withRevocation(dir, readPublicKey(dir, keyId, algorithms))]),
  )
}

/** @returns the keyIds of all public or all private key files in ascending order; none when the folder does not exist */
export function keyIds(dir: string, half: 'public' | 'private'): string[] {
  return idsOf(dir, `.${half}.pem`)
}

function idsOf(dir: string, suffix: string): string[] {
  const names = ifThere(() => readdirSync(dir)) ?? []
  return names.flatMap((name) => (name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : [])).toSorted()
}

/** @throws Error with the file's name when it is not an SPKI key of a known algorithm, or its name does not fit the key */
export function readPublicKey<Known extends KeyAlgorithm>(
  dir: string,
  keyId: string,
  known: readonly Known[],
): PublicKey<Known> {
  const file = join(dir, `${keyId}.public.pem`)
  const pem = readFileSync(file, 'utf8')
  // createPublicKey would also accept a private key or a certificate, and derive the public key from it.
  if (!pem.includes('-----BEGIN PUBLIC KEY-----')) throw new Error(`${file} is not a PEM public key (SPKI).`)
  const key = parse(file, () => createPublicKey(pem))
  const algorithm = algorithmOf(file, key, known)
  if (createdAt(keyId, algorithm) === undefined)
    throw new Error(
      `${file} holds an ${algorithm} key: its name must be like 20261121T010000Z-${algorithm}.public.pem.`,
    )
  return publicKeyOf(keyId, algorithm, key)
}

/** The block must stand alone: another block after it might hold a private key, or make it unclear which key is meant. */
export const ONE_PUBLIC_KEY = /^\s*-----BEGIN PUBLIC KEY-----[A-Za-z0-9+/=\s]+-----END PUBLIC KEY-----\s*$/

/**
 * Parses a human's public key, for approvals and step-ups.
 * @throws Error when `pem` is not exactly one Ed25519 public key (SPKI), or no private key can belong to it
 */
export function ed25519PublicKey(keyId: string, pem: string): PublicKey {
  if (!ONE_PUBLIC_KEY.test(pem)) throw new Error('Not a PEM public key (SPKI).')
  const key = createPublicKey(pem)
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('Not an Ed25519 key.')
  const publicKey = publicKeyOf(keyId, 'ed25519', key)
  if (!ed25519.isValidPublicKey(Buffer.from(publicKey.bytes)))
    throw new Error('Not a point that a private key has.')
  return publicKey
}

function publicKeyOf<Known extends KeyAlgorithm>(
  keyId: string,
  algorithm: Known,
  key: KeyObject,
): PublicKey<Known> {
  const { publicKeyBytes, jwk, verifier } = implementations[algorithm]
  const bytes = key.export({ type: 'spki', format: 'der' }).subarray(-publicKeyBytes)
  return {
    keyId,
    algorithm,
    use: 'sig',
    pem: key.export({ type: 'spki', format: 'pem' }).toString(),
    jwk: { ...jwk(bytes), kid: keyId, use: 'sig' },
    bytes,
    verifies: verifier({ key, bytes }),
  }
}

/**
 * Parses a human's private key, which signs approvals or step-ups.
 * @throws Error, which quotes nothing of the key, when `pem` is not an unencrypted Ed25519 private key (PKCS#8)
 */
export function ed25519SigningKey(keyId: string, pem: string): SigningKey {
  const key = parse('The key', () => createPrivateKey(pem))
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('The key is not an Ed25519 key.')
  return { public: publicKeyOf(keyId, 'ed25519', createPublicKey(key)), sign: ed25519.signer(key) }
}

function readSigningKey<Known extends KeyAlgorithm>(
  dir: string,
  keyId: string,
  known: readonly Known[],
): SigningKey<Known> {
  const publicKey = readPublicKey(dir, keyId, known)
  const file = join(dir, `${keyId}.private.pem`)
  const pem = readFileSync(file)
  const key = parse(file, () => createPrivateKey(pem))
  if (!createPublicKey(key).equals(createPublicKey(publicKey.pem)))
    throw new Error(`${file} is not the private half of ${keyId}.public.pem.`)
  return { public: publicKey, sign: implementations[publicKey.algorithm].signer(key) }
}

/** The parser's error is left out: no error of a function that has read a private key goes into a message. */
function parse(file: string, read: () => KeyObject): KeyObject {
  try {
    return read()
  } catch {
    throw new Error(`${file} cannot be read as an unencrypted PEM key (PKCS#8 or SPKI).`)
  }
}

function algorithmOf<Known extends KeyAlgorithm>(
  file: string,
  key: KeyObject,
  known: readonly Known[],
): Known {
  const algorithm = known.find((name) => name === key.asymmetricKeyType)
  if (algorithm !== undefined) return algorithm
  throw new Error(`${file} holds a key of type ${key.asymmetricKeyType}; known are ${known.join(' and ')}.`)
}

interface NewKeys<Known extends KeyAlgorithm> {
  readonly dir: string
  /** The time in the keyIds. If a newer key of the algorithm exists, a later time is used, so that the new key signs. */
  readonly now: Date
  /** Default: `algorithms`. */
  readonly algorithms?: readonly Known[]
}

/** `generateKeys` for every algorithm that has no private key yet: also completes the work of a crashed call. */
export function generateMissingKeys<Known extends KeyAlgorithm = Algorithm>(
  request: NewKeys<Known>,
): PublicKey<Known>[] {
  const present = keyIds(request.dir, 'private')
  const missing = wanted(request).filter((name) => !present.some((keyId) => keyId.endsWith(`-${name}`)))
  return generateKeys({ ...request, algorithms: missing })
}

/**
 * Makes a key of each algorithm and returns the public halves. Creates the folder, overwrites nothing.
 * @throws the file system's error, which names the path
 */
export function generateKeys<Known extends KeyAlgorithm = Algorithm>(
  request: NewKeys<Known>,
): PublicKey<Known>[] {
  mkdirSync(request.dir, { recursive: true, mode: 0o700 })
  return wanted(request).map((algorithm) => generateKey(request.dir, algorithm, request.now))
}

function wanted<Known extends KeyAlgorithm>(request: NewKeys<Known>): readonly Known[] {
  return request.algorithms ?? (algorithms as readonly KeyAlgorithm[] as readonly Known[])
}

function generateKey<Known extends KeyAlgorithm>(dir: string, algorithm: Known, now: Date): PublicKey<Known> {
  const der = Buffer.concat([Buffer.from(implementations[algorithm].pkcs8Prefix, 'hex'), randomBytes(32)])
  const publicKey = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }))
  const taken = [...keyIds(dir, 'public'), ...keyIds(dir, 'private')].map(
    (keyId) => createdAt(keyId, algorithm) ?? 0,
  )
  for (let at = Math.max(now.getTime(), ...taken.map((time) => time + 1000)); ; at += 1000) {
    const keyId = keyIdOf(at, algorithm)
    const key = publicKeyOf(keyId, algorithm, publicKey)
    // The public half is written first: it claims the id, and after a crash before the private half the key has never signed.
    if (!writeWholeFile(join(dir, `${keyId}.public.pem`), key.pem, 0o644)) continue
    writeWholeFile(join(dir, `${keyId}.private.pem`), privatePem(der), 0o600)
    return key
  }
}

/** RFC 7468. */
function privatePem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n')
}

function keyIdOf(timeMs: number, algorithm: KeyAlgorithm): string {
  return `${new Date(timeMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z-${algorithm}`
}

/** Milliseconds since 1970; undefined if it is not a keyId of this algorithm. */
function createdAt(keyId: string, algorithm: KeyAlgorithm): number | undefined {
  const time = Date.parse(keyId.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-.*$/, '$1-$2-$3T$4:$5:$6Z'))
  return !Number.isNaN(time) && keyIdOf(time, algorithm) === keyId ? time : undefined
}
