// What an approval request wants done, in one line: in the words of its policy where it has some, and with the requester's values set apart.
import type { ApprovalRequestContent } from '../../formats/schemas/approval-request.ts'
import { displayOf, moneyOf } from '../../core/policy/display.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import { oneLine, shownMoney, shownValue } from '../text.ts'
import { Said } from './basic.tsx'
import { usePolicyOf } from './policy.tsx'

interface Piece {
  readonly text: string
  /** The requester wrote it. */
  readonly said: boolean
}

function piecesOf(document: PolicyDocument | undefined, asked: ApprovalRequestContent): readonly Piece[] {
  const pieces = document && displayOf(document, asked)
  if (pieces !== undefined)
    return pieces.map((piece) =>
      'words' in piece
        ? { text: oneLine(piece.words).replace(/\.$/, ''), said: false }
        : { text: shownValue(piece.value), said: true },
    )
  return [
    { text: asked.capability, said: true },
    { text: ' → ', said: false },
    { text: asked.target, said: true },
  ]
}

/** The line as a text, for titles. */
export function lineOf(document: PolicyDocument | undefined, asked: ApprovalRequestContent): string {
  return oneLine(
    piecesOf(document, asked)
      .map(({ text }) => text)
      .join(''),
  )
}

export function Line({
  of: asked,
  document,
}: {
  readonly of: ApprovalRequestContent
  readonly document: PolicyDocument | undefined
}) {
  return (
    <span class="line-of-words">
      {piecesOf(document, asked).map(({ text, said }, i) => (said ? <Said key={i} text={text} /> : text))}
    </span>
  )
}

/** The line of a request in a list, which loads the policy that has the words. */
export function ListedLine({ of: asked }: { readonly of: ApprovalRequestContent }) {
  return <Line of={asked} document={usePolicyOf(asked.policy).document} />
}

/** The amount of an action: where its policy says, else under the names that parameters of money mostly have. */
export function Amount({ of: asked }: { readonly of: ApprovalRequestContent }) {
  const { document } = usePolicyOf(asked.policy)
  const { amount = null, currency = null } = document === undefined ? {} : moneyOf(document, asked)
  if (amount !== null) return <>{shownMoney(Number(amount), currency)}</>
  const { parameters } = asked
  if (typeof parameters['amount'] !== 'number') return null
  return <>{shownMoney(parameters['amount'], parameters['currency'])}</>
}
