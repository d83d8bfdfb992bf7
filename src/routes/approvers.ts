// The keys of approvers, and changes of them (decisions §7): for humans, but for the keys themselves (GET /keys/{keyId}).
import { readApprovers, type ApproverRow } from '../tables/approvers.ts'
import { listChanges, proposeChange, resolveChange, showChange } from './governance.ts'
import { json, type Handler } from './route.ts'

/** Every key ever enrolled, the revoked ones too. */
export const approvers: Handler = async (_request, { pool }) =>
  json({ approvers: (await readApprovers(pool)).map(approverJson) })

/** What is not the case is left out, never null (interface §2.7). */
function approverJson({ revokedAt, ...approver }: ApproverRow): object {
  return revokedAt === null ? approver : { ...approver, revokedAt }
}

export const proposeApprover = proposeChange('approver')
export const approverChanges = listChanges('approver')
export const approverChange = showChange('approver')
export const approveApprover = resolveChange('approver', 'approve')
export const rejectApprover = resolveChange('approver', 'reject')
