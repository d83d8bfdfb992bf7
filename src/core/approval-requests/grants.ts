// Which approvals humans could still give to one transaction. What a refusal says (`approvable`) and what a request may ask for are the
// same question.
import { Check } from 'typebox/value'
import { SignedApproval } from '../../formats/schemas/approval.ts'

/** A signal that the policy verifies by approvals. */
export interface ApprovalSignal {
  readonly signal: string
  readonly quorum: number
  /** Only members of these groups count; undefined: every approver. */
  readonly from?: readonly string[] | undefined
}

/** Sets of more signals than these are not looked through: their number doubles with each. */
export const CHOICES_MAX = 6

/**
 * @returns every set of the signals that may be granted, by signal and the cheapest first, beginning with none and ending with all; of more
 *   than `CHOICES_MAX` signals all of them only
 */
export function grantsOf(signals: readonly ApprovalSignal[]): Readonly<Record<string, boolean>>[] {
  const granted = (isGranted: (i: number) => boolean) =>
    Object.fromEntries(signals.map(({ signal }, i) => [signal, isGranted(i)]))
  if (signals.length > CHOICES_MAX) return [granted(() => true)]
  return Array.from({ length: 2 ** signals.length }, (_, bits) =>
    granted((i) => ((bits >> i) & 1) === 1),
  ).toSorted((a, b) => quorumOf(signals, a) - quorumOf(signals, b))
}

/** How many approvals it takes. One approval stands for one signal. */
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
