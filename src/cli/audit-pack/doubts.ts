// Executions that have neither record nor refusal: those in doubt, and those that were closed without a record. Their transactions
// describe the actions and are not signed: the authorization has the hash of the action.
import { actionText } from '../../formats/action-text.ts'
import { actionOf, membersAt } from '../../formats/artifacts/account-text.ts'
import type { Json } from '../../formats/json/canonical.ts'
import { isMembers, type Members } from '../../formats/json/members.ts'
import type { SignedApproval } from '../../formats/schemas/approval.ts'
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import { amountOf, closedText } from '../../formats/verifier/overview.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { get, jsonOf, type ServiceAt } from '../service.ts'
import type { DoubtRow } from '../verify/report.ts'
import { entriesOf } from './lists.ts'

export interface WithoutRecord {
  readonly intent: ExecutionIntent
  /** The transaction; undefined: the service has none. */
  readonly transaction: Members | undefined
  /** The approvers of the execution. */
  readonly approvers: readonly string[]
}

/** Whether it is not known yet how it ended. */
export const isOpen = ({ state }: ExecutionIntent): boolean => state === 'RELEASED'

/** @returns each intent with its transaction and its approvers */
export async function withWhatIsKnown(
  service: ServiceAt,
  intents: readonly ExecutionIntent[],
): Promise<WithoutRecord[]> {
  const found: WithoutRecord[] = []
  for (const intent of intents) {
    const answer = await get(service, `/transactions/${intent.businessTransactionId}`, { accept: [404] })
    const transaction = answer.status === 200 ? (jsonOf(answer) as Json) : undefined
    const used = `/approvals?consumedBy=${intent.businessTransactionId}&pageSize=100`
    const approvers = new Set<string>()
    for await (const entry of entriesOf(service, used, 'approvals'))
      approvers.add((entry as unknown as { approval: SignedApproval }).approval.payload.approverId)
    found.push({
      intent,
      transaction: isMembers(transaction) ? transaction : undefined,
      approvers: [...approvers],
    })
  }
  return found
}

/** The row of the report. */
export function doubtRow(one: WithoutRecord): DoubtRow {
  const { releasedAt, action, target, callerId, businessTransactionId } = one.intent
  const { by, closers, note, at } = endOf(one.intent)
  const both = one.approvers.filter((name) => closers.includes(name))
  return {
    at: releasedAt,
    action,
    target,
    ...askedIn(one),
    callerId,
    state: stateText(one.intent),
    approvedBy: one.approvers.join(', '),
    closedBy: by,
    isBoth: both.length > 0,
    note,
    closedAt: at,
    id: businessTransactionId,
  }
}

/** A line for each execution, for the terminal. @param max how many lines; the rest is counted */
export function closingLines(without: readonly WithoutRecord[], max: number): string[] {
  const lines = without.slice(0, max).map((one) => {
    const { state, id, action, target, amount, closedBy, closedAt, note } = doubtRow(one)
    const what = [`${action} → ${target}`, amount].filter(Boolean).join(', ')
    const end = closedBy === '' ? '' : ` by ${closedBy} at ${closedAt}${note === '' ? '' : `: ${note}`}`
    return `${isOpen(one.intent) ? 'Without an end' : 'Closed without a record'}: ${id}, ${what}: ${state}${end}`
  })
  return without.length > max ? [...lines, `${without.length - max} more are in the report.`] : lines
}

function stateText(intent: ExecutionIntent): string {
  if (intent.inDoubt) return 'in doubt'
  if (isOpen(intent)) return 'still running'
  // A state without a resolution is that of a record, which the pack holds elsewhere.
  return closedText(intent.resolution ?? '') || `closed: ${intent.state.toLowerCase()}`
}

/** The closer, the reason and the time of its end; empty texts where it was not closed. */
function endOf({ transitions }: ExecutionIntent) {
  const transition = transitions.at(-1)?.transition
  const { by = '', agreedWith, note = '', at = '' } = transition ?? {}
  const closers = agreedWith === undefined ? [by] : [agreedWith, by]
  return { by: closers.join(' and '), closers, note, at }
}

/** The amount and the purpose, as they were authorized: parameters with another hash are left out. */
function askedIn({ intent, transaction }: WithoutRecord): Pick<DoubtRow, 'amount' | 'about'> {
  if (transaction === undefined) return { amount: '', about: '' }
  const { businessTransactionId: id, authorization, releasedAt } = intent
  const asked = membersAt(transaction, 'intent')
  const isAction = ['action', 'parameters', 'target'].every((name) => Object.hasOwn(asked, name))
  if (!isAction || sha256Hex(actionText(id, asked)) !== authorization.payload.businessTransactionHash)
    return { amount: 'not as it was authorized', about: '' }
  const action = actionOf(asked, { ending: 'Not done', at: releasedAt })
  return { amount: amountOf(action), about: action.about ?? '' }
}
