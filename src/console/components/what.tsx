// The requested action in one line: in the words of its policy where the policy has some, and with the requester's values set apart.
import type { ApprovalRequestContent } from '../../formats/schemas/approval-request.ts'
import { amountOf, piecesOf, shownMoney, type Action } from '../../core/policy/shown.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import { Said } from './basic.tsx'
import { usePolicyOf } from './policy.tsx'

export function Line({
  of: asked,
  document,
}: {
  readonly of: Action
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

export function Amount({ of: asked }: { readonly of: ApprovalRequestContent }) {
  const { document } = usePolicyOf(asked.policy)
  const money = amountOf(document, asked)
  return money === undefined ? null : <>{shownMoney(money.amount, money.currency ?? undefined)}</>
}
