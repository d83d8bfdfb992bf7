// The keys of approvers (decisions §7): listed for humans; anyone reads a key itself at GET /keys/{keyId}.
import { Failure } from '../../core/errors.ts'
import { readApprovers, type ApproverRow } from '../../core/tables/approvers.ts'
import { readEntries } from './paging.ts'
import type { Handler } from './route.ts'

/** Every key ever enrolled, the revoked ones too. */
export const approvers: Handler = async ({ query }, { pool }) => {
  const entries = (await readApprovers(pool)).map((row) => ({
    // A space sorts before every character of the two names: so the keys of one approver stand together.
    key: `${row.approverId} ${row.keyId}`,
    text: JSON.stringify(approverJson(row)),
  }))
  const page = readEntries('/approvers', query, entries)
  if (page instanceof Failure) return page
  const { texts, ...headers } = page
  return { status: 200, ...headers, body: `{"approvers":[${texts.join(',')}]}` }
}

/** What is not the case is left out, never null (interface §2.7). */
function approverJson({ revokedAt, ...approver }: ApproverRow): object {
  return revokedAt === null ? approver : { ...approver, revokedAt }
}
