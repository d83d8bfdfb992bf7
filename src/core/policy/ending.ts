// The open requests for approval that end with a version of a policy, with their number and amounts. The page and the command that signs the
// change use this one computation, so that both report the same. Browser-safe.
import type { ApprovalRequest } from '../../formats/schemas/approval-request.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import { counted } from '../../formats/text/text.ts'
import { amountOf, sumsOf } from './shown.ts'

/** A request is open while it waits for signatures, and while it is approved and not yet used. */
const OPEN = ['PENDING', 'APPROVED']
/** The maximum number in a reply. */
const PAGE_SIZE = 100
/** Ten replies for each status: a page must not load all requests of a busy service. */
const COUNTED_MAX = 1_000

interface Version {
  readonly name: string
  readonly version: string
}

interface Reads {
  /** One page of a list, from its path. */
  readonly page: (
    path: string,
  ) => Promise<{ readonly requests: readonly ApprovalRequest[]; readonly next: string | undefined }>
  /** The document of the version, which names the place of a request's amount; undefined: its hash differs from the hash in the requests. */
  readonly document: (policy: ApprovalRequest['request']['policy']) => Promise<PolicyDocument | undefined>
}

export interface Ending {
  readonly count: number
  /** For example `24 open requests under version 3.0.0 end (59,125.91 EUR, 51,078.31 USD).` */
  readonly text: string
}

/** @throws the errors of `reads` */
export async function endingWith({ name, version }: Version, reads: Reads): Promise<Ending> {
  let isMore = false
  const open: ApprovalRequest[] = []
  for (const status of OPEN) {
    const query = { policy: name, policyVersion: version, status, pageSize: String(PAGE_SIZE) }
    let path: string | undefined = `/approval-requests?${new URLSearchParams(query).toString()}`
    for (let read = 0; path !== undefined && read < COUNTED_MAX; read += PAGE_SIZE) {
      const { requests, next } = await reads.page(path)
      open.push(...requests)
      path = next
    }
    isMore ||= path !== undefined
  }
  const [first] = open
  if (first === undefined) return { count: 0, text: `No open request is under version ${version}.` }
  const document = await reads.document(first.request.policy)
  const sums = sumsOf(open.map(({ request }) => amountOf(document, request)))
  const many = `${isMore ? 'More than ' : ''}${counted(open.length, 'open request')}`
  const verb = open.length === 1 && !isMore ? 'ends' : 'end'
  return {
    count: open.length,
    text: `${many} under version ${version} ${verb}${sums === '' ? '' : ` (${sums})`}.`,
  }
}
