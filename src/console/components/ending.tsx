// The open requests for approval that end with a policy version, counted and in money.
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import { counted } from '../../formats/text/text.ts'
import { useLoaded } from '../hooks.ts'
import { Problem, Said } from './basic.tsx'
import { usePolicyOf } from './policy.tsx'
import { amountOf, sumsOf } from './what.tsx'

/** As many as a reply may hold. */
const COUNTED_MAX = 100

/** The requests that end with a version, which somebody waits for. */
export function Ending({ policyId, version }: { readonly policyId: string; readonly version: string }) {
  const asked = ['PENDING', 'APPROVED'].map((status) => {
    const of = { policy: policyId, policyVersion: version, status, pageSize: String(COUNTED_MAX) }
    return `/approval-requests?${new URLSearchParams(of).toString()}`
  })
  const lists = [
    useLoaded<{ requests: ApprovalRequest[] }>(asked[0]),
    useLoaded<{ requests: ApprovalRequest[] }>(asked[1]),
  ]
  const problem = lists.find((list) => list.problem !== undefined)?.problem
  if (problem !== undefined) return <Problem text={problem} />
  if (lists.some(({ data }) => data === undefined)) return null
  const open = lists.flatMap(({ data }) => data?.requests ?? [])
  const [first] = open
  if (first === undefined)
    return (
      <p class="quiet">
        No open request is under version <Said text={version} />.
      </p>
    )
  const isMore = lists.some(({ next }) => next !== undefined)
  return (
    <p class="caution">
      <strong>
        {isMore ? 'More than ' : ''}
        {counted(open.length, 'open request')}
      </strong>{' '}
      under version <Said text={version} /> {open.length === 1 && !isMore ? 'ends' : 'end'}
      <Sums of={open} policy={first.request.policy} />.{' '}
      <a
        href={`/console/requests?${new URLSearchParams({ policy: policyId, policyVersion: version }).toString()}`}
      >
        Look at them
      </a>
    </p>
  )
}

/** What requests under one version ask for together. */
function Sums({
  of: open,
  policy,
}: {
  readonly of: readonly ApprovalRequest[]
  readonly policy: ApprovalRequest['request']['policy']
}) {
  const { document } = usePolicyOf(policy)
  const sums = sumsOf(open.map(({ request }) => amountOf(document, request)))
  return sums === '' ? null : <> ({sums})</>
}
