// The common parts of all checks of evidence: the outcome, the cryptography, and the reading of members that may
// be missing or of any type (decisions §4). Browser-safe, as all of this folder: hashing and signatures are arguments.
import { isMembers, type Members } from '../json/members.ts'
import { canonicalize, type Json } from '../json/canonical.ts'

export interface Check {
  readonly name: string
  /** Undefined: the check passes. Otherwise a sentence: the failure, or the reason why it cannot be checked. */
  readonly problem: string | undefined
  /** Ids of keys that are not given. Set only if nothing else in the check fails: with these keys it may pass or fail. */
  readonly missingKeys?: readonly string[]
  /** The origin of the log whose keys are not given; otherwise as `missingKeys`. */
  readonly missingLog?: string
  /** Paths of members that no signature covers and this verifier does not know; otherwise as `missingKeys`. */
  readonly unknownMembers?: readonly string[]
  /** Notes on valid evidence: facts that a reader should know. */
  readonly notes?: readonly string[]
}

/** @throws Error with the problems of the checks */
export function mustHold(checks: readonly Check[]): true {
  const problems = checks.flatMap(({ problem }) => problem ?? [])
  if (problems.length > 0) throw new Error(problems.join('; '))
  return true
}

/** Whether the check cannot be completed: with more keys, or by a newer verifier, it may pass or fail. */
export function isOpen({ missingKeys, missingLog, unknownMembers }: Check): boolean {
  return [missingKeys, missingLog, unknownMembers].some((lacking) => lacking !== undefined)
}

/** One signature in the form in which artifacts contain it. */
export interface CarriedSignature {
  readonly algorithm: string
  readonly keyId: string
  readonly value: string
  /** The artifact's position in its batch, of any shape (src/formats/merkle/batch-head.ts). */
  readonly batch?: Json | undefined
  /** The assertion that a passkey signed around the artifact, of any shape (src/formats/webauthn/assertion.ts). */
  readonly webauthn?: Json | undefined
}

/** The names under which evidence is signed: those of the payload types in decisions §4. */
export type SignedArtifact =
  | 'trust-record'
  | 'execution-authorization'
  | 'receipt'
  | 'refusal-record'
  | 'audit-event'
  | 'governance-change'
  | 'intent-transition'
  | 'provider-confirmation'
  | 'approval'
  | 'approval-request'
  | 'approval-request-close'
  | 'approval-request-note'
  | 'step-up'

/**
 * Whether a key of this name may verify this artifact. Humans' keys are named `{approverId}:{keyId}` and sign humans' statements, the
 * service's have no colon and sign the rest: neither ever passes for the other (decisions §7). The offline
 * verifier asks this; the service has a lookup for each sort of key.
 */
export function mayVerify(artifact: SignedArtifact, keyId: string): boolean {
  return keyId.includes(':') === (artifact === 'approval' || artifact === 'step-up')
}

/** The cryptography that the checks use. Keys come from published sources, never from the evidence. */
export interface Crypto {
  readonly sha256Hex: (text: string) => string
  /**
   * False, or an error with the reason, for anything other than a signature of this text as this artifact. Undefined when the
   * named key is not given; the service, which has every published key, returns false.
   */
  readonly verifySignature: (
    artifact: SignedArtifact,
    canonicalText: string,
    signature: CarriedSignature,
  ) => boolean | undefined
  /** A valid signature can have a note on its key, a sentence. */
  readonly noteOn?: (artifact: SignedArtifact, canonicalText: string, keyId: string) => string | undefined
  /** A human's key by `{approverId}:{keyId}`; `revokedAt` is RFC 3339, null while the key is in effect. Undefined: unknown. */
  readonly humanKey: (keyId: string) => { readonly revokedAt: string | null } | undefined
}

/** The crypto within a check: a signature by a key that is not given counts as true, and the check records the key. */
export interface CheckCrypto extends Crypto {
  readonly verifySignature: (
    artifact: SignedArtifact,
    canonicalText: string,
    signature: CarriedSignature,
  ) => boolean
}

/** A check whose `holds` may throw: evidence that cannot be read fails the check that reads it. */
export function check(name: string, problem: string, holds: () => boolean): Check {
  try {
    return { name, problem: holds() ? undefined : problem }
  } catch (error) {
    return { name, problem: `${problem} (${error instanceof Error ? error.message : 'unreadable'})` }
  }
}

/**
 * As `check`, for signatures. A key that is not given leaves the check open, but hides nothing: everything else in it is still
 * checked, and any failure makes it fail.
 */
export function checkSigned(
  name: string,
  problem: string,
  crypto: Crypto,
  holds: (crypto: CheckCrypto) => boolean,
): Check {
  const missing = new Set<string>()
  const notes = new Set<string>()
  const verifySignature: CheckCrypto['verifySignature'] = (artifact, text, signature) => {
    const verdict = crypto.verifySignature(artifact, text, signature)
    if (verdict === undefined) missing.add(signature.keyId)
    const note = crypto.noteOn?.(artifact, text, signature.keyId)
    if (note !== undefined) notes.add(note)
    return verdict !== false
  }
  const made = check(name, problem, () => holds({ ...crypto, verifySignature }))
  if (made.problem !== undefined) return made
  if (missing.size === 0) return notes.size === 0 ? made : { ...made, notes: [...notes] }
  const missingKeys = [...missing]
  const named = missingKeys.map((keyId) => JSON.stringify(keyId)).join(', ')
  return { name, problem: `It cannot be checked: key ${named} is not given.`, missingKeys }
}

/** Undefined for evidence without a canonical form: such evidence has no hash and no signature. */
export function canonicalText(value: Json): string | undefined {
  try {
    return canonicalize(value)
  } catch {
    return undefined
  }
}

export function members(value: Json | undefined): Members {
  if (!isMembers(value)) throw new Error('an object is missing')
  return value
}

export function list(value: Json | undefined): readonly Json[] {
  if (!Array.isArray(value)) throw new Error('a list is missing')
  return value as readonly Json[]
}

/** The items of a list; none for any other value. */
export function itemsOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : []
}

export function string(value: Json | undefined): string {
  if (typeof value !== 'string') throw new Error('a string is missing')
  return value
}
