// Signed approvals of single actions (decisions §7), read by humans.
import { failures, Failure } from '../../core/errors.ts'
import { approvalText } from '../../core/sealed.ts'
import { approvalStatuses, listApprovals, readApproval } from '../../core/tables/approvals.ts'
import { readChoice, readPage } from './paging.ts'
import type { Handler } from './route.ts'

export const approvals: Handler = async ({ query }, { pool }) => {
  const page = readPage(query)
  if (page instanceof Failure) return page
  const status = readChoice(query, 'status', approvalStatuses)
  if (status instanceof Failure) return status
  const listed = await listApprovals(pool, { ...page, status })
  return { status: 200, body: `{"approvals":[${listed.map(approvalText).join(',')}]}` }
}

export const approval: Handler = async ({ params }, { pool }) => {
  const id = params['id'] ?? ''
  // No PostgreSQL text holds a NUL.
  const found = id.includes('\0') ? null : await readApproval(pool, id)
  return found === null ? failures.approvalNotFound() : { status: 200, body: approvalText(found) }
}
