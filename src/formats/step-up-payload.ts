// The payload that a human signs to propose or resolve a change, to act on an event endpoint, or to state how an execution ended. The command
// line and the console share it. Browser-safe.
import { canonicalize, type Json } from './json/canonical.ts'
import type { ChangeKindName } from './schemas/governance.ts'
import type { Resolution } from './schemas/intent-states.ts'

/** The longest lifetime that the service accepts (decisions §7): a human may need a moment to send the step-up. */
export const STEP_UP_MS = 120_000

/**
 * The payload of a step-up authorization (decisions §7), in effect from `now` for `STEP_UP_MS`.
 * @param change the change whose hash was compared with the content shown to the human
 * @param options.nonce 16 to 128 printable characters
 * @param options.impactHash hash of the impact report that the human saw (src/formats/impact-report.ts); undefined: no report
 */
export function stepUpPayload(
  { changeId, changeHash }: { readonly changeId: string; readonly changeHash: string },
  {
    action,
    nonce,
    now,
    impactHash,
  }: {
    readonly action: 'approve' | 'reject'
    readonly nonce: string
    readonly now: Date
    readonly impactHash?: string | undefined
  },
) {
  return {
    version: 1,
    nonce,
    changeId,
    action,
    changeHash,
    ...(impactHash === undefined ? {} : { impactHash }),
    ...timesFrom(now),
  }
}

/** A human's proposal, with the members of the later change. */
export interface Proposed {
  readonly kind: ChangeKindName
  readonly target: string
  readonly proposed: object
  readonly reason: string
}

/** @returns the text whose SHA-256 the step-up of a proposal covers */
export function proposalText({ kind, target, proposed, reason }: Proposed): string {
  return canonicalize({ kind, target, proposed: proposed as Json, reason })
}

/**
 * The payload of a step-up for a proposal (docs/handbook/policies.md), in effect for the same time.
 * @param proposal.proposalHash SHA-256 of `proposalText` of the content shown to the human, hex
 */
export function proposalStepUpPayload(
  proposal: Pick<Proposed, 'kind' | 'target'> & { readonly proposalHash: string },
  { nonce, now }: { readonly nonce: string; readonly now: Date },
) {
  const { kind, target, proposalHash } = proposal
  return { version: 1, nonce, action: 'propose', kind, target, proposalHash, ...timesFrom(now) }
}

/**
 * The payload of a step-up for an event endpoint (docs/handbook/events.md), in effect for the same time.
 * @param act.after cursor of a redelivery, exactly as in the body; undefined: the act has none
 */
export function endpointStepUpPayload(
  act: {
    readonly endpointId: string
    readonly action: 'redeliver' | 'secret'
    readonly after?: string | undefined
  },
  { nonce, now }: { readonly nonce: string; readonly now: Date },
) {
  const { endpointId, action, after } = act
  return {
    version: 1,
    nonce,
    endpointId,
    action,
    ...(after === undefined ? {} : { after }),
    ...timesFrom(now),
  }
}

/**
 * The payload of a step-up for how an execution in doubt ended (docs/handbook/executions.md), in effect for the same time.
 * @param said exactly as in the body, with the hash of the action that the human was shown (src/formats/action-text.ts)
 */
export function resolutionStepUpPayload(
  said: {
    readonly businessTransactionId: string
    readonly businessTransactionHash: string
    readonly resolution: Resolution
    readonly note: string
  },
  { nonce, now }: { readonly nonce: string; readonly now: Date },
) {
  const { businessTransactionId, businessTransactionHash, resolution, note } = said
  return {
    version: 1,
    nonce,
    businessTransactionId,
    businessTransactionHash,
    action: 'resolve',
    resolution,
    note,
    ...timesFrom(now),
  }
}

function timesFrom(now: Date) {
  return {
    authorizedAt: now.toISOString(),
    expiresAt: new Date(now.getTime() + STEP_UP_MS).toISOString(),
  }
}
