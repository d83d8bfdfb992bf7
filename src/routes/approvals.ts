// Signed approvals of single actions (decisions §7): delivered by anyone who is authenticated, read by humans.
import { failures, Failure } from '../errors.ts'
import {
  approvalStatuses,
  approvalText,
  listApprovals,
  readApproval,
  type ApprovalStatus,
} from '../tables/approvals.ts'
import { readPage } from './paging.ts'
import type { Handler } from './route.ts'

export const deliverApproval: Handler = async ({ body, callerIndex }, { dispatcher }) => {
  const reply = await dispatcher.submit('deliver-approval', body, callerIndex)
  return { ...reply, status: reply.status === 200 ? 201 : reply.status }
}

export const approvals: Handler = async ({ query }, { pool }) => {
  const page = readPage(query)
  if (page instanceof Failure) return page
  const status = query.get('status')
  if (status !== null && !isStatus(status))
    return failures.invalidQuery(`status must be one of ${approvalStatuses.join(', ')}.`)
  const listed = await listApprovals(pool, { ...page, status })
  return { status: 200, body: `{"approvals":[${listed.map(approvalText).join(',')}]}` }
}

export const approval: Handler = async ({ params }, { pool }) => {
  const id = params['id'] ?? ''
  // No PostgreSQL text holds a NUL.
  const found = id.includes('\0') ? null : await readApproval(pool, id)
  return found === null ? failures.approvalNotFound() : { status: 200, body: approvalText(found) }
}

function isStatus(text: string): text is ApprovalStatus {
  return approvalStatuses.some((status) => status === text)
}
