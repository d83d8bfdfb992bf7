// A maker/checker change as it is signed, in each of its states (decisions §7).
import { randomUUID } from 'node:crypto'
import { canonicalize, type Json } from '../../src/canonical.ts'
import type { Audited } from '../../src/errors.ts'
import type { Sealed } from '../../src/sealed.ts'
import type { SigningKey } from '../../src/signing/keys.ts'
import { sha256Hex } from '../../src/signing/sha256.ts'
import { signEd25519 } from '../../src/signing/signature.ts'
import type { ChangeStatus } from '../../src/tables/pending-changes.ts'
import type { Crypto } from '../../src/verifier/trust-record.ts'
import type { ChangeKindName, Proposal } from './change-kind.ts'

/** The signed members; `warnings` and `diff` stand beside them as advice. */
export interface Change extends Proposal {
  readonly changeId: string
  readonly kind: ChangeKindName
  readonly reason: string
  readonly proposedBy: string
  /** ISO 8601, as `resolvedAt`. */
  readonly proposedAt: string
  /** Of the members above, that is, of what a checker is shown. */
  readonly changeHash: string
  readonly status: ChangeStatus
  readonly resolvedBy?: string
  readonly resolvedAt?: string
  readonly rejectionReason?: string
  readonly stepUpAuthorization?: Json
}

export function openChange(
  asked: Proposal & Pick<Change, 'kind' | 'reason' | 'proposedBy' | 'proposedAt'>,
): Change {
  const { kind, target, proposed, reason, proposedBy, proposedAt } = asked
  const shown = { changeId: randomUUID(), kind, target, proposed, reason, proposedBy, proposedAt }
  return { ...shown, changeHash: sha256Hex(canonicalize(shown)), status: 'PENDING_APPROVAL' }
}

export function signChange(change: Change, key: SigningKey): Sealed {
  const body = canonicalize({ ...change })
  const signature = { ...signEd25519('governance-change', body, key), signedAt: new Date().toISOString() }
  return { body, seal: canonicalize({ signature }) }
}

/** A change as it was stored. fails Error where this service did not sign it: somebody wrote to the database */
export function readSigned({ body, seal }: Sealed, crypto: Pick<Crypto, 'verifySignature'>): Change {
  const change = JSON.parse(body) as Change
  const { signature } = JSON.parse(seal) as { signature: Parameters<Crypto['verifySignature']>[2] }
  if (!crypto.verifySignature('governance-change', body, signature))
    throw new Error(`the stored change ${change.changeId} does not verify`)
  return change
}

/** in  reason  why it was done, in the words of whoever did it */
export function auditedChange(
  { changeId, kind, target }: Change,
  type: Extract<Audited['type'], `governance.${string}`>,
  reason: string,
): Audited {
  return { type, reason, detail: { changeId, kind, target } }
}
