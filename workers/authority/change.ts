// A maker/checker change as it is signed, in each of its states (decisions §7).
import { randomUUID } from 'node:crypto'
import { canonicalize, type Json } from '../../src/formats/json/canonical.ts'
import type { ChangeKindName, ChangeStatus, ProposalStepUp } from '../../src/formats/schemas/governance.ts'
import type { ImpactReport } from '../../src/formats/schemas/impact-report.ts'
import type { Sealed } from '../../src/store/tables/sealed.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import type { LogPosition } from '../../src/store/tables/log-queue.ts'
import { governanceChange, shownOf } from '../../src/formats/artifacts/governance-change.ts'
import type { Crypto } from '../../src/formats/artifacts/evidence.ts'
import type { Recording, RoutePattern } from '../evidence/recording.ts'
import type { Proposal } from './change-kind.ts'

/** The signed members; `warnings` and `diff` are unsigned advice. */
export interface Change extends Proposal {
  readonly changeId: string
  readonly kind: ChangeKindName
  readonly reason: string
  readonly proposedBy: string
  /** ISO 8601, as `resolvedAt`. */
  readonly proposedAt: string
  /** The hash of the members above, which a checker is shown. */
  readonly changeHash: string
  readonly status: ChangeStatus
  readonly resolvedBy?: string
  readonly resolvedAt?: string
  readonly rejectionReason?: string
  readonly stepUpAuthorization?: Json
  /** The report that the human saw whose step-up covers its hash. */
  readonly impactReport?: ImpactReport
}

export function openChange(
  proposal: Proposal & Pick<Change, 'kind' | 'reason' | 'proposedBy' | 'proposedAt'>,
): Change {
  const open = { changeId: randomUUID(), ...proposal }
  return { ...open, changeHash: sha256Hex(canonicalize(shownOf(open))), status: 'PENDING_APPROVAL' }
}

/**
 * Each signed state of a change is an entry of its own, and has its audit event: the human who brought it into its state, and the
 * reason in their words.
 * @param proposedWith the step-up of the proposer, which the change does not carry: the audit event of the proposal keeps it
 * @returns the row of this state
 */
export function recordChange(
  change: Change,
  recording: Recording,
  proposedWith?: ProposalStepUp,
): Sealed & LogPosition {
  const { changeId, kind, target, proposedBy, proposedAt, reason } = change
  const { resolvedBy = proposedBy, resolvedAt = proposedAt, rejectionReason = reason } = change
  const done = DONE[change.status]
  recording.audit({
    type: `governance.${done}`,
    route: ROUTES[kind][done],
    by: resolvedBy,
    at: resolvedAt,
    reason: rejectionReason,
    detail: {
      changeId,
      kind,
      target,
      ...(proposedWith === undefined ? {} : { stepUpAuthorization: proposedWith }),
    },
  })
  return recording.record(governanceChange, change, { at: new Date().toISOString() })
}

/**
 * Reads a stored change.
 * @throws Error where this service did not sign it: somebody wrote to the database
 */
export function readSigned({ body, seal }: Sealed, crypto: Pick<Crypto, 'verifySignature'>): Change {
  const change = JSON.parse(body) as Change
  const { signature } = JSON.parse(seal) as { signature: Parameters<Crypto['verifySignature']>[2] }
  if (!crypto.verifySignature('governance-change', body, signature))
    throw new Error(`the stored change ${change.changeId} does not verify`)
  return change
}

const changesAt = (
  path: `/${string}`,
): Readonly<Record<'proposed' | 'approved' | 'rejected', RoutePattern>> => ({
  proposed: `POST ${path}`,
  approved: `POST ${path}/{id}/approve`,
  rejected: `POST ${path}/{id}/reject`,
})

/** These routes bring a change into a state, by its kind. */
const ROUTES: Readonly<Record<ChangeKindName, ReturnType<typeof changesAt>>> = {
  policy: {
    ...changesAt('/policies/pending-changes'),
    proposed: 'POST /policies/{name}/{version}/pending-changes',
  },
  approver: changesAt('/approvers/changes'),
  'external-connector': changesAt('/external-connectors/changes'),
  'webhook-rules': changesAt('/webhook-rules/changes'),
  'event-endpoint': changesAt('/event-endpoints/changes'),
  'caller-key': changesAt('/caller-keys/changes'),
  'approver-group': changesAt('/approver-groups/changes'),
  'stand-in': changesAt('/stand-ins/changes'),
}

const DONE = { PENDING_APPROVAL: 'proposed', APPROVED: 'approved', REJECTED: 'rejected' } as const
