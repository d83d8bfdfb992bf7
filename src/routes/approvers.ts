// The keys of approvers (decisions §7): listed for humans; anyone reads a key itself at GET /keys/{keyId}.
import { readApprovers, type ApproverRow } from '../tables/approvers.ts'
import { json, type Handler } from './route.ts'

/** Every key ever enrolled, the revoked ones too. */
export const approvers: Handler = async (_request, { pool }) =>
  json({ approvers: (await readApprovers(pool)).map(approverJson) })

/** What is not the case is left out, never null (interface §2.7). */
function approverJson({ revokedAt, ...approver }: ApproverRow): object {
  return revokedAt === null ? approver : { ...approver, revokedAt }
}
