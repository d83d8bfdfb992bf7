// Executions that have neither record nor refusal: those in doubt, and those that were closed without a record. What they were to do
// stands in their transactions, which are not signed: the authorization has the hash of the action.
import { actionText } from '../../formats/action-text.ts'
import { actionOf, membersAt } from '../../formats/artifacts/account-text.ts'
import type { Json } from '../../formats/json/canonical.ts'
import { isMembers, type Members } from '../../formats/json/members.ts'
import type { ExecutionIntent } from '../../formats/schemas/execution-intent.ts'
import { amountOf } from '../../formats/verifier/overview.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { get, jsonOf, type ServiceAt } from '../service.ts'
import type { DoubtRow } from '../verify/report.ts'

export interface WithoutRecord {
  readonly intent: ExecutionIntent
  /** As the service has it; undefined: it has none. */
  readonly transaction: Members | undefined
}

/** Whether nobody has said yet how it ended. */
export const isOpen = ({ state }: ExecutionIntent): boolean => state === 'RELEASED'

/** @returns each intent with its transaction */
export async function withTransactions(
  service: ServiceAt,
  intents: readonly ExecutionIntent[],
): Promise<WithoutRecord[]> {
  const found: WithoutRecord[] = []
  for (const intent of intents) {
    const answer = await get(service, `/transactions/${intent.businessTransactionId}`, { accept: [404] })
    const transaction = answer.status === 200 ? (jsonOf(answer) as Json) : undefined
    found.push({ intent, transaction: isMembers(transaction) ? transaction : undefined })
  }
  return found
}

/** The row of the report. */
export function doubtRow(one: WithoutRecord): DoubtRow {
  const { releasedAt, action, target, callerId, businessTransactionId } = one.intent
  const { by, note, at } = endOf(one.intent)
  return {
    at: releasedAt,
    action,
    target,
    amount: amountIn(one),
    callerId,
    state: stateText(one.intent),
    closedBy: by,
    note,
    closedAt: at,
    id: businessTransactionId,
  }
}

/** A line about each, for the terminal. @param max how many lines; those that are left are counted */
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
  return [intent.state, intent.resolution].filter(Boolean).join(' ')
}

/** Who closed it, why and when; empty texts where nobody did. */
function endOf({ transitions }: ExecutionIntent) {
  const transition = transitions.at(-1)?.transition
  const { by = '', agreedWith, note = '', at = '' } = transition ?? {}
  return { by: agreedWith === undefined ? by : `${agreedWith} and ${by}`, note, at }
}

/** How much it was to move, as it was authorized: parameters of another hash are not those. */
function amountIn({ intent, transaction }: WithoutRecord): string {
  if (transaction === undefined) return ''
  const { businessTransactionId: id, authorization, releasedAt } = intent
  const asked = membersAt(transaction, 'intent')
  const isAction = ['action', 'parameters', 'target'].every((name) => Object.hasOwn(asked, name))
  if (!isAction || sha256Hex(actionText(id, asked)) !== authorization.payload.businessTransactionHash)
    return 'not as it was authorized'
  return amountOf(actionOf(asked, { ending: 'Not done', at: releasedAt }))
}
