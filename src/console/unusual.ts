// What an approver should look at twice: how a request differs from what its caller has done before, and what else is asked or was declined.
import { canonicalize, type Json } from '../formats/json/canonical.ts'
import type { ApprovalRequest } from '../formats/schemas/approval-request.ts'
import { counted } from '../formats/text/text.ts'
import { shownValue } from './text.ts'

/** An execution that was carried out. */
export interface Done {
  readonly target: string
  readonly parameters: Readonly<Record<string, unknown>>
}

export interface Oddity {
  readonly text: string
  /** A stranger's words about it. */
  readonly said?: string
}

/**
 * @param done what the same caller has carried out of the same capability
 * @param others requests of anybody
 */
export function odditiesOf(
  asked: ApprovalRequest,
  done: readonly Done[],
  others: readonly ApprovalRequest[],
): readonly Oddity[] {
  const { request } = asked
  const { currency } = request.parameters
  // 5,000 is much in euros and little in yen.
  const comparable = done.filter(({ parameters }) => parameters['currency'] === currency)
  const isFirst = !done.some(({ target }) => target === request.target)
  return [
    ...(isFirst ? [{ text: 'First time on this target by this caller' }] : []),
    ...(typeof currency === 'string' && done.length > 0 && comparable.length === 0
      ? [{ text: 'First time in this currency:', said: currency }]
      : []),
    ...higherThanBefore(request.parameters, comparable),
    ...ofOthers(asked, others),
  ]
}

/** Of one request among those that wait, what a list has room for. */
export function chipsOf(asked: ApprovalRequest, others: readonly ApprovalRequest[]): readonly string[] {
  const { request, missing } = asked
  return [
    ...(isAskedTwice(asked, others) ? ['same as another open one'] : []),
    ...(request.quorum > 1 ? [`${request.quorum - missing} of ${request.quorum} signed`] : []),
  ]
}

function higherThanBefore(parameters: Done['parameters'], before: readonly Done[]): Oddity[] {
  return Object.entries(parameters).flatMap(([name, value]) => {
    if (typeof value !== 'number') return []
    const past = numbersOf(before, name)
    const greatest = Math.max(...past)
    if (past.length === 0 || value <= greatest) return []
    const times = greatest > 0 ? value / greatest : 0
    return [
      {
        text:
          times >= 1.1
            ? `${times < 10 ? times.toFixed(1) : Math.round(times)} times the highest before (${shownValue(greatest)}):`
            : `Higher than any before (${shownValue(greatest)}):`,
        said: name,
      },
    ]
  })
}

/** The numbers that executions had in one parameter. */
export function numbersOf(done: readonly Done[], name: string): readonly number[] {
  return done.map(({ parameters }) => parameters[name]).filter((value) => typeof value === 'number')
}

const isOpen = ({ status }: ApprovalRequest) => status === 'PENDING' || status === 'APPROVED'

function onSameTarget({ request }: ApprovalRequest, others: readonly ApprovalRequest[]): ApprovalRequest[] {
  return others.filter(
    (other) =>
      other.request.requestId !== request.requestId &&
      other.request.capability === request.capability &&
      other.request.target === request.target,
  )
}

const parametersText = ({ request }: ApprovalRequest) => canonicalize(request.parameters as Json)

function isAskedTwice(asked: ApprovalRequest, others: readonly ApprovalRequest[]): boolean {
  const text = parametersText(asked)
  return onSameTarget(asked, others).some((other) => isOpen(other) && parametersText(other) === text)
}

function ofOthers(asked: ApprovalRequest, others: readonly ApprovalRequest[]): Oddity[] {
  const same = onSameTarget(asked, others)
  const open = same.filter(isOpen).length
  const declined = same.filter(({ closed }) => closed?.status === 'DECLINED')
  return [
    ...(isAskedTwice(asked, others)
      ? [{ text: 'Another open request asks for exactly the same' }]
      : open > 0
        ? [{ text: `${counted(open, 'other open request')} for this target` }]
        : []),
    ...declined.slice(0, 1).map(({ closed }) => ({
      text: `${counted(declined.length, 'request')} for this target declined, the newest because:`,
      said: closed?.reason ?? '',
    })),
  ]
}
