// The approvals that records hold, looked up in their table: each is the one that was delivered, and used up by this execution alone.
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import { list, members, string } from '../../formats/artifacts/evidence.ts'
import { isMembers, type Members } from '../../formats/json/members.ts'
import type { Finding } from './check.ts'
import type { Tools } from './tools.ts'

interface Used {
  readonly transactionId: string
  readonly approvalId: string
  readonly text: string
}

/** @param records those that verify */
export async function usedApprovals(
  records: readonly { readonly id: string; readonly recordBody: string }[],
  { sql }: Pick<Tools, 'sql'>,
): Promise<Finding[]> {
  // Most records hold none, and are not parsed once more for it.
  const used = records.filter(({ recordBody }) => recordBody.includes('"approvals":[')).flatMap(approvalsIn)
  if (used.length === 0) return []
  const { rows } = await sql.query<{ id: string; body: string; consumedBy: string | null }>({
    text: `
      SELECT approval_id AS id, body, consumed_by AS "consumedBy"
      FROM approvals WHERE approval_id = ANY($1::text[])`,
    values: [used.map(({ approvalId }) => approvalId)],
  })
  const stored = new Map(rows.map((row) => [row.id, row]))
  return used.flatMap(({ transactionId, approvalId, text }) => {
    const row = stored.get(approvalId)
    const problem =
      row === undefined
        ? `is missing, but the trust record of ${transactionId} contains it`
        : row.consumedBy !== transactionId
          ? `is not marked as consumed by ${transactionId}, whose trust record contains it`
          : row.body !== text
            ? `differs from the one in the trust record of ${transactionId}`
            : undefined
    return problem === undefined ? [] : [{ table: 'approvals', key: approvalId, problem }]
  })
}

function approvalsIn({ id, recordBody }: { id: string; recordBody: string }): Used[] {
  const record = JSON.parse(recordBody) as Members
  return list(record['executions'])
    .flatMap((execution) => Object.values(verifiedSignals(execution)))
    .flatMap((verified) =>
      isMembers(verified) && 'approvals' in verified ? list(verified['approvals']) : [],
    )
    .map((approval) => ({
      transactionId: id,
      approvalId: string(members(members(approval)['payload'])['approvalId']),
      text: canonicalize(approval),
    }))
}

function verifiedSignals(execution: Json): Members {
  return members(members(members(execution)['decision'])['verifiedSignals'])
}
