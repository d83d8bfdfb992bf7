// A maker/checker change as it is signed, in each of its states (decisions §7).
import { randomUUID } from 'node:crypto'
import { canonicalize, type Json } from '../../src/canonical.ts'
import type { RouteName } from '../../src/routes/index.ts'
import type { Sealed } from '../../src/sealed.ts'
import type { SigningKey } from '../../src/signing/keys.ts'
import { sha256Hex } from '../../src/signing/sha256.ts'
import { signEd25519 } from '../../src/signing/signature.ts'
import type { AuditEventRow } from '../../src/tables/audit-events.ts'
import type { ChangeStatus } from '../../src/tables/pending-changes.ts'
import { shownOf } from '../../src/verifier/governance-change.ts'
import type { Crypto } from '../../src/verifier/trust-record.ts'
import { auditEvent } from '../evidence/audit.ts'
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
  const open = { changeId: randomUUID(), ...asked }
  return { ...open, changeHash: sha256Hex(canonicalize(shownOf(open))), status: 'PENDING_APPROVAL' }
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

/** What brings a change into a state, by its kind. */
const ROUTES = {
  policy: {
    proposed: 'POST /policies/{name}/{version}/pending-changes',
    approved: 'POST /policies/pending-changes/{id}/approve',
    rejected: 'POST /policies/pending-changes/{id}/reject',
  },
  approver: {
    proposed: 'POST /approvers/changes',
    approved: 'POST /approvers/changes/{id}/approve',
    rejected: 'POST /approvers/changes/{id}/reject',
  },
  'external-connector': {
    proposed: 'POST /external-connectors/changes',
    approved: 'POST /external-connectors/changes/{id}/approve',
    rejected: 'POST /external-connectors/changes/{id}/reject',
  },
} as const satisfies Record<ChangeKindName, Record<string, RouteName>>

const DONE = { PENDING_APPROVAL: 'proposed', APPROVED: 'approved', REJECTED: 'rejected' } as const

/** Who brought the change into the state that it is in, and why in their words. */
export function changeEvent(change: Change, key: SigningKey): AuditEventRow {
  const { changeId, kind, target, proposedBy, proposedAt, reason } = change
  const { resolvedBy = proposedBy, resolvedAt = proposedAt, rejectionReason = reason } = change
  const done = DONE[change.status]
  return auditEvent(
    {
      type: `governance.${done}`,
      route: ROUTES[kind][done],
      by: resolvedBy,
      at: resolvedAt,
      reason: rejectionReason,
      detail: { changeId, kind, target },
    },
    key,
  )
}
