// Finds the approvals that humans could still give to one transaction. A refusal (`approvable`) and a request for approvals rely on the
// same answer.
import { Check } from 'typebox/value'
import { SignedApproval } from '../../formats/schemas/approval.ts'

/** A signal that the policy verifies by approvals. */
export interface ApprovalSignal {
  readonly signal: string
  readonly quorum: number
  /** Only members of these groups count; undefined: every approver. */
  readonly from?: readonly string[] | undefined
}

/** With more signals the sets are not enumerated: each signal doubles their number. */
export const CHOICES_MAX = 6

/**
 * @returns every set of the signals that may be granted, by signal, cheapest first, from no signal to all signals; with more than
 *   `CHOICES_MAX` signals, only the set of all signals
 */
export function grantsOf(signals: readonly ApprovalSignal[]): Readonly<Record<string, boolean>>[] {
  const granted = (isGranted: (i: number) => boolean) =>
    Object.fromEntries(signals.map(({ signal }, i) => [signal, isGranted(i)]))
  if (signals.length > CHOICES_MAX) return [granted(() => true)]
  return Array.from({ length: 2 ** signals.length }, (_, bits) =>
    granted((i) => ((bits >> i) & 1) === 1),
  ).toSorted((a, b) => quorumOf(signals, a) - quorumOf(signals, b))
}

/** Number of approvals that the granted signals need. One approval counts for one signal. */
export function quorumOf(
  signals: readonly ApprovalSignal[],
  granted: Readonly<Record<string, boolean>>,
): number {
  return signals.reduce((sum, { signal, quorum }) => (granted[signal] === true ? sum + quorum : sum), 0)
}

/** Whether an approval, which is signed text on one line, can name the action and its target. */
export function canBeNamed({
  action,
  target,
}: {
  readonly action: string
  readonly target: string
}): boolean {
  const { payload } = SignedApproval.properties
  return Check(payload.properties.capability, action) && Check(payload.properties.target, target)
}
