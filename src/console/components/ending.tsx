// The open requests for approval that end with a policy version: their number and their amounts.
import { endingWith } from '../../core/policy/ending.ts'
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import { get } from '../api.ts'
import { useFound } from '../hooks.ts'
import { Problem, Said } from './basic.tsx'
import { documentOf } from './policy.tsx'

const reads = {
  page: async (path: string) => {
    const { data, next } = await get<{ requests: ApprovalRequest[] }>(path)
    return { requests: data.requests, next }
  },
  document: documentOf,
}

/** The open requests that end with a version, although somebody waits for them. */
export function Ending({ policyId, version }: { readonly policyId: string; readonly version: string }) {
  const of = { name: policyId, version }
  const { found, problem } = useFound(() => endingWith(of, reads), JSON.stringify(of))
  if (problem !== undefined) return <Problem text={problem} />
  if (found === undefined) return <p class="quiet">Counting the open requests that end with it…</p>
  if (found.count === 0)
    return (
      <p class="quiet">
        <Said text={found.text} />
      </p>
    )
  return (
    <p class="caution">
      <strong>
        <Said text={found.text} />
      </strong>{' '}
      <a
        href={`/console/requests?${new URLSearchParams({ policy: policyId, policyVersion: version }).toString()}`}
      >
        Look at them
      </a>
    </p>
  )
}
