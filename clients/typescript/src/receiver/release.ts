// Verifies a release, or a question about its outcome: signed by the service, for this receiver, for a capability it has, and still in time
// (docs/handbook/governing.md "Register an external connector").
import { verify } from 'node:crypto'
import { canonicalize, type Json } from '../../../../src/formats/json/canonical.ts'
import { parseJsonText } from '../../../../src/formats/json/text.ts'
import type { ServiceKeys } from './keys.ts'

/** An action that the service has decided, approved and released, to be carried out once. */
export interface Release {
  readonly version: 1
  readonly connectorId: string
  readonly audience: string
  readonly businessTransactionId: string
  /** One effect for each: the idempotency key for a system behind the receiver. */
  readonly authorizationId: string
  readonly capability: string
  readonly target: string
  readonly parameters: { readonly [name: string]: Json }
  readonly policy: { readonly name: string; readonly version: string; readonly contentHash: string }
  readonly approvedBy: readonly string[]
  readonly issuedAt: string
  readonly expiresAt: string
}

/** A question about the outcome of a release, by GET, in the header `Countersign-Question`. */
export interface Question {
  readonly businessTransactionId: string
  readonly authorizationId: string
  readonly capability: string
}

/** Refused before anything was done: the service counts every one of these statuses as failed for certain. */
interface NotVerified {
  readonly status: 400 | 401 | 403
  readonly refused: string
}

export interface VerifyWith {
  readonly keys: ServiceKeys
  /** Origin, as it was registered: a release for another receiver is refused. */
  readonly audience: string
  readonly capabilities: readonly string[]
  readonly now: Date
}

const DEPTH_MAX = 80
const CLOCKS_DIFFER_MS = 30_000

/** @param body JSON of `{algorithm, keyId, signature, release}` */
export async function verifyRelease(
  body: Uint8Array,
  given: VerifyWith,
): Promise<{ release: Release } | NotVerified> {
  const verified = await verifySigned(body, 'release', given)
  // From here on every member is signed by the service, so its shape is the service's.
  return 'refused' in verified ? verified : { release: verified.signed as unknown as Release }
}

/** @param header base64url of `{algorithm, keyId, signature, question}` */
export async function verifyQuestion(
  header: string | undefined,
  given: VerifyWith,
): Promise<{ question: Question } | NotVerified> {
  const verified = await verifySigned(Buffer.from(header ?? '', 'base64url'), 'question', given)
  return 'refused' in verified ? verified : { question: verified.signed as unknown as Question }
}

async function verifySigned(
  sentBytes: Uint8Array,
  member: 'release' | 'question',
  { keys, audience, capabilities, now }: VerifyWith,
): Promise<{ signed: { readonly [name: string]: Json } } | NotVerified> {
  let sent: { readonly [name: string]: Json } | null
  let text: string
  try {
    // JSON with exactly one reading: with two equal keys, the signature could hold for one value and the effect follow the other.
    const sentText = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(sentBytes)
    sent = parseJsonText(sentText, DEPTH_MAX) as typeof sent
    text = canonicalize(sent?.[member] ?? null)
  } catch {
    return {
      status: 400,
      refused: 'The body is not unambiguous JSON: it does not parse, or repeats a member.',
    }
  }
  const { algorithm, keyId, signature } = sent ?? {}
  const key = algorithm === 'ed25519' && typeof keyId === 'string' ? await keys.find(keyId) : undefined
  if (key === undefined || typeof signature !== 'string') return { status: 401, refused: 'Unknown key.' }
  if (!verify(null, preAuthEncoding(member, text), key, Buffer.from(signature, 'base64')))
    return { status: 401, refused: 'The signature does not hold.' }

  const signed = sent?.[member] as { readonly [name: string]: Json }
  if (signed['version'] !== 1) return { status: 400, refused: 'Unknown version.' }
  if (signed['audience'] !== audience) return { status: 403, refused: 'The release is for another receiver.' }
  if (!capabilities.includes(signed['capability'] as string))
    return { status: 403, refused: 'The release is for another capability.' }
  // Written so that a time that cannot be read refuses: every comparison with NaN is false.
  if (!(timeOf(signed['issuedAt']) <= now.getTime() + CLOCKS_DIFFER_MS))
    return { status: 403, refused: 'Not issued yet.' }
  if (!(now.getTime() < timeOf(signed['expiresAt']))) return { status: 403, refused: 'Expired.' }
  return { signed }
}

const timeOf = (value: Json | undefined) => (typeof value === 'string' ? Date.parse(value) : NaN)

/** DSSE: the signed bytes begin with their type, so that a signature of any other type is not valid for a release. */
function preAuthEncoding(member: 'release' | 'question', text: string): Buffer {
  const type = `application/vnd.countersign.connector-${member}.v1+json`
  return Buffer.from(`DSSEv1 ${type.length} ${type} ${Buffer.byteLength(text)} ${text}`)
}
