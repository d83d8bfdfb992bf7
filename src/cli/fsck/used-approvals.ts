// The approvals that records hold, looked up in their table: each is the one that was delivered, and used up by this execution alone. And the
// groups by which they count: the approver was a member when it was decided.
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import { list, members, string } from '../../formats/artifacts/evidence.ts'
import { isMembers, type Members } from '../../formats/json/members.ts'
import { membershipsOf } from '../../formats/artifacts/approvals.ts'
import { instantMs } from '../../formats/artifacts/instant.ts'
import { findAuthority } from '../../store/tables/authority.ts'
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
  const ofApprovals = used.flatMap(({ transactionId, approvalId, text }) => {
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
  return [...ofApprovals, ...(await countedGroups(records, sql))]
}

interface Counted {
  readonly transactionId: string
  readonly evaluatedAt: string
  readonly approverId: string
  readonly group: string
  readonly changeId: string
}

/** @returns groups that a record counts a member of, and that were not in effect then, or without that member */
async function countedGroups(
  records: Parameters<typeof usedApprovals>[0],
  sql: Tools['sql'],
): Promise<Finding[]> {
  const counted = records.filter(({ recordBody }) => recordBody.includes('"groups":[')).flatMap(groupsIn)
  const rows = await findAuthority(
    sql,
    'approver-group',
    counted.map(({ changeId }) => changeId),
  )
  return counted.flatMap(({ transactionId, evaluatedAt, approverId, group, changeId }) => {
    const row = rows.find(({ key, target }) => key === changeId && target === group)
    const at = instantMs(evaluatedAt)
    const wasInEffect = () =>
      instantMs(row?.beganAt ?? '') <= at && (typeof row?.endedAt !== 'string' || at < instantMs(row.endedAt))
    const { members: listed = [] } = JSON.parse(row?.stated ?? '{}') as { members?: readonly string[] }
    const problem =
      row === undefined
        ? `is missing, but the trust record of ${transactionId} counts a member of it`
        : !wasInEffect()
          ? `was not in effect at the decision of ${transactionId}, whose trust record counts a member of it`
          : !listed.includes(approverId)
            ? `has no member ${approverId}, whom the trust record of ${transactionId} counts as one`
            : undefined
    return problem === undefined ? [] : [{ table: 'authority', key: `approver-group ${changeId}`, problem }]
  })
}

function groupsIn({ id, recordBody }: { id: string; recordBody: string }): Counted[] {
  const record = JSON.parse(recordBody) as Members
  return list(record['executions']).flatMap((execution) => {
    const evaluatedAt = string(members(members(execution)['decision'])['evaluatedAt'])
    return Object.values(verifiedSignals(execution)).flatMap((one) => {
      const verified = members(one)
      const approvals = 'approvals' in verified ? list(verified['approvals']).map(members) : []
      return (membershipsOf(verified) ?? []).map((membership, i) => ({
        ...membership,
        transactionId: id,
        evaluatedAt,
        approverId: string(members(approvals[i]!['payload'])['approverId']),
      }))
    })
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
