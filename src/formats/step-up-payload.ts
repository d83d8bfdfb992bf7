// The payload that a human signs to propose or resolve a change, to act on an event endpoint, or to say how an execution ended, on the command line as in the console. Browser-safe.
import { canonicalize, type Json } from './json/canonical.ts'
import type { ChangeKindName } from './schemas/governance.ts'
import type { Resolution } from './schemas/intent-states.ts'

/** The longest that the service takes (decisions §7): a human may need a moment to send it. */
export const STEP_UP_MS = 120_000

/**
 * The payload of a step-up authorization (decisions §7), in effect from `now` for `STEP_UP_MS`.
 * @param change whose hash was compared with what the human was shown
 * @param options.nonce 16 to 128 printable characters
 * @param options.impactHash of the impact report that the human saw (src/formats/impact-report.ts); undefined: of none
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

/** What a human proposes, as the change will have it. */
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
 * The payload of a step-up for a proposal (docs/handbook/policies.md), in effect as long.
 * @param proposal.proposalHash SHA-256 of `proposalText` of what the human was shown, hex
 */
export function proposalStepUpPayload(
  proposal: Pick<Proposed, 'kind' | 'target'> & { readonly proposalHash: string },
  { nonce, now }: { readonly nonce: string; readonly now: Date },
) {
  const { kind, target, proposalHash } = proposal
  return { version: 1, nonce, action: 'propose', kind, target, proposalHash, ...timesFrom(now) }
}

/**
 * The payload of a step-up for an event endpoint (docs/handbook/events.md), in effect as long.
 * @param act.after of a redelivery, exactly as in the body; undefined: it has none
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
 * The payload of a step-up for how an execution in doubt ended (docs/handbook/executions.md), in effect as long.
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
