// When a policy has approvers notified of an open request again (docs/handbook/policy-language.md "Reminder and escalation").
import { didYouMean } from '../../formats/text/nearest.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import type { Found } from '../cel/mistakes.ts'
import { windowMs } from './counting.ts'

export interface Ask {
  /** Milliseconds after the first notification of the approvers; undefined: they are not reminded. */
  readonly remindAfterMs?: number
  /** Undefined: every approver whose approval counts is asked at once. */
  readonly escalation?: { readonly afterMs: number; readonly to: string }
}

const DAY_MS = 86_400_000

/** @returns the mistakes of `ask`, and its compiled form if there are none */
export function compileAsk({ ask, verify = {} }: Pick<PolicyDocument, 'ask' | 'verify'>): {
  readonly ask: Ask
  readonly mistakes: readonly Found[]
} {
  if (ask === undefined) return { ask: {}, mistakes: [] }
  const mistakes: Found[] = []
  const add = (member: string, what: string) =>
    mistakes.push({ path: ['ask', member], message: `ask.${member} ${what}.` })
  const { remindAfter, escalateAfter, escalateTo } = ask
  if (remindAfter === undefined && escalateAfter === undefined && escalateTo === undefined)
    mistakes.push({
      path: ['ask'],
      message: 'ask must have remindAfter, or escalateAfter and escalateTo, or all three.',
    })
  const approvals = Object.values(verify).filter((verifier) => verifier.by === 'approval')
  if (approvals.length === 0)
    mistakes.push({
      path: ['ask'],
      message: 'ask is about approvals, and no signal of this policy is verified by approval.',
    })
  for (const [member, after] of Object.entries({ remindAfter, escalateAfter }))
    if (after !== undefined && windowMs(after) >= DAY_MS)
      add(member, 'must be less than 24h: no approval request is open for longer than a day')
  if (escalateAfter !== undefined && escalateTo === undefined)
    add('escalateAfter', 'needs escalateTo, the group that is asked then')
  if (escalateTo !== undefined && escalateAfter === undefined)
    add('escalateTo', 'needs escalateAfter, the time after which the group is asked')
  const groups = approvals.map(({ from = [] }) => from)
  const named = new Set(groups.flat())
  if (escalateTo !== undefined && approvals.length > 0 && !named.has(escalateTo))
    add('escalateTo', `names no group of verify: its members could not sign${didYouMean(escalateTo, named)}`)
  else if (
    escalateTo !== undefined &&
    named.has(escalateTo) &&
    !groups.some((from) => isEscalated(from, escalateTo))
  )
    add(
      'escalateTo',
      `names ${escalateTo}, the only group of every signal that its members may sign for: nobody else would be asked first`,
    )
  if (mistakes.length > 0) return { ask: {}, mistakes }
  return {
    ask: {
      ...(remindAfter === undefined ? {} : { remindAfterMs: windowMs(remindAfter) }),
      ...(escalateAfter === undefined || escalateTo === undefined
        ? {}
        : { escalation: { afterMs: windowMs(escalateAfter), to: escalateTo } }),
    },
    mistakes,
  }
}

/** Whether other groups are asked for the signal before this group. */
function isEscalated(from: readonly string[], escalateTo: string): boolean {
  return from.includes(escalateTo) && from.length > 1
}

/**
 * The groups that are asked for a signal before its escalation.
 * @param from the groups whose members' approvals count; undefined: the approvals of every approver count
 */
export function askedFirst(
  from: readonly string[] | undefined,
  escalateTo: string,
): readonly string[] | undefined {
  return from !== undefined && isEscalated(from, escalateTo)
    ? from.filter((group) => group !== escalateTo)
    : from
}
