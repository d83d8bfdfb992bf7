// A release, or a question what became of one, verified: signed by the service, for this receiver, for a capability it has, and still in time.
import { createPublicKey, verify, type KeyObject } from 'node:crypto'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import { parseJsonText } from '../../src/formats/json/text.ts'

export interface Release {
  readonly version: 1
  readonly connectorId: string
  readonly audience: string
  readonly businessTransactionId: string
  /** One effect for each. */
  readonly authorizationId: string
  readonly capability: string
  readonly target: string
  readonly parameters: { readonly [name: string]: Json }
  readonly policy: { readonly name: string; readonly version: string; readonly contentHash: string }
  readonly approvedBy: readonly string[]
  readonly issuedAt: string
  readonly expiresAt: string
}

/** The service's Ed25519 keys by keyId. */
export type Keys = ReadonlyMap<string, KeyObject>

/** Refused before anything was done: the service counts every one of these statuses as failed for certain. */
export interface NotVerified {
  readonly status: 400 | 401 | 403
  readonly refused: string
}

export interface VerifyWith {
  readonly keys: Keys
  readonly origin: string
  readonly capability: string
  readonly now: Date
}

const DEPTH_MAX = 80
const CLOCKS_DIFFER_MS = 30_000

/**
 * Runs once, at start: a release cannot choose where its signer is looked up.
 * @param service origin of the service, https unless it runs on this machine
 */
export async function fetchKeys(service: string): Promise<Keys> {
  const response = await fetch(new URL('/.well-known/jwks.json', service), { redirect: 'error' })
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}`)
  return readKeys(await response.json())
}

export function readKeys(jwks: unknown): Keys {
  const { keys } = jwks as {
    keys: readonly { keyId: string; algorithm: string; pem: string; revokedAt?: string }[]
  }
  return new Map(
    keys
      // A colon is in the keyIds of people, whose keys sign approvals: none of them may pass for the service. Somebody else may have a
      // revoked key, and a release is always of now.
      .filter(
        ({ keyId, algorithm, revokedAt }) =>
          algorithm === 'ed25519' && !keyId.includes(':') && revokedAt === undefined,
      )
      .map(({ keyId, pem }) => [keyId, createPublicKey(pem)]),
  )
}

export function verifyRelease(body: Buffer, given: VerifyWith): { release: Release } | NotVerified {
  const verified = verifySigned(body.toString('utf8'), 'release', given)
  // From here on every member is what the service signed, so its shape is the service's.
  return 'refused' in verified ? verified : { release: verified.signed as unknown as Release }
}

/** The question asks what became of a release, by GET, in the header `Countersign-Question`. */
export interface Question {
  readonly businessTransactionId: string
  readonly authorizationId: string
  readonly capability: string
}

/** @param header base64url of `{algorithm, keyId, signature, question}` */
export function verifyQuestion(
  header: string | undefined,
  given: VerifyWith,
): { question: Question } | NotVerified {
  const text = Buffer.from(header ?? '', 'base64url').toString('utf8')
  const verified = verifySigned(text, 'question', given)
  return 'refused' in verified ? verified : { question: verified.signed as unknown as Question }
}

function verifySigned(
  sentText: string,
  member: 'release' | 'question',
  { keys, origin, capability, now }: VerifyWith,
): { signed: { readonly [name: string]: Json } } | NotVerified {
  let sent: { readonly [name: string]: Json } | null
  let text: string
  try {
    // JSON with exactly one reading: of two equal keys a signature could hold for the one and the effect follow the other.
    sent = parseJsonText(sentText, DEPTH_MAX) as typeof sent
    text = canonicalize(sent?.[member] ?? null)
  } catch {
    return { status: 400, refused: 'Not JSON with one reading.' }
  }
  const { algorithm, keyId, signature } = sent ?? {}
  const key = algorithm === 'ed25519' && typeof keyId === 'string' ? keys.get(keyId) : undefined
  if (key === undefined || typeof signature !== 'string') return { status: 401, refused: 'Unknown key.' }
  if (!verify(null, preAuthEncoding(member, text), key, Buffer.from(signature, 'base64')))
    return { status: 401, refused: 'The signature does not hold.' }

  const signed = sent?.[member] as { readonly [name: string]: Json }
  if (signed['version'] !== 1) return { status: 400, refused: 'Unknown version.' }
  if (signed['audience'] !== origin) return { status: 403, refused: 'For another receiver.' }
  if (signed['capability'] !== capability) return { status: 403, refused: 'Another capability.' }
  // Written so that a time that cannot be read refuses: every comparison with NaN is false.
  if (!(timeOf(signed['issuedAt']) <= now.getTime() + CLOCKS_DIFFER_MS))
    return { status: 403, refused: 'Not issued yet.' }
  if (!(now.getTime() < timeOf(signed['expiresAt']))) return { status: 403, refused: 'Expired.' }
  return { signed }
}

const timeOf = (value: Json | undefined) => (typeof value === 'string' ? Date.parse(value) : NaN)

/** DSSE: the signed bytes begin with what they are, so that a signature of anything else is none of a release. */
function preAuthEncoding(member: 'release' | 'question', text: string): Buffer {
  const type = `application/vnd.countersign.connector-${member}.v1+json`
  return Buffer.from(`DSSEv1 ${type.length} ${type} ${Buffer.byteLength(text)} ${text}`)
}
