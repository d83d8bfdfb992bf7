// Looks up the approvals that records hold in their table: each was delivered as it is, and used up by this execution alone. Checks also the
// groups by which they count: the approver was a member at the time of the decision.
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import { list, members, string } from '../../formats/artifacts/evidence.ts'
import { isMembers, type Members } from '../../formats/json/members.ts'
import { membershipsOf, type StatedMembership } from '../../formats/artifacts/approvals.ts'
import { instantMs } from '../../formats/artifacts/instant.ts'
import type { ChangeKindName } from '../../formats/schemas/governance.ts'
import { findAuthority, type AuthorityRow } from '../../store/tables/authority.ts'
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
  // Most records hold no approvals, and need not be parsed once more.
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
  readonly membership: StatedMembership
}

/** @returns groups and stand-ins that a record counts by, and that were not in effect then, or had other content */
async function countedGroups(
  records: Parameters<typeof usedApprovals>[0],
  sql: Tools['sql'],
): Promise<Finding[]> {
  const counted = records.filter(({ recordBody }) => recordBody.includes('"groups":[')).flatMap(groupsIn)
  const ids = counted.flatMap(({ membership: { changeId, standIn } }) =>
    [changeId, standIn?.changeId ?? []].flat(),
  )
  const rows = [
    ...(await findAuthority(sql, 'approver-group', ids)),
    ...(await findAuthority(sql, 'stand-in', ids)),
  ]
  return counted.flatMap(({ transactionId, evaluatedAt, approverId, membership }) => {
    const { group, changeId, standIn } = membership
    const at = instantMs(evaluatedAt)
    const problemOf = (
      kind: ChangeKindName,
      key: string,
      holds: (stated: Members, target: string) => boolean,
    ) => {
      const row = rows.find((one) => one.kind === kind && one.key === key)
      const problem =
        row === undefined
          ? `is missing, but the trust record of ${transactionId} counts a member by it`
          : !wasInEffect(row, at)
            ? `was not in effect at the decision of ${transactionId}, whose trust record counts a member by it`
            : !holds(JSON.parse(row.stated) as Members, row.target)
              ? `does not have ${approverId} count, as the trust record of ${transactionId} does`
              : undefined
      return problem === undefined ? [] : [{ table: 'authority', key: `${kind} ${key}`, problem }]
    }
    const member = standIn?.for ?? approverId
    const ofGroup = problemOf(
      'approver-group',
      changeId,
      ({ members: listed }, target) => target === group && list(listed).includes(member),
    )
    if (standIn === undefined) return ofGroup
    const isThen = ({ for: away, by, from, until }: Members) =>
      away === member && by === approverId && instantMs(string(from)) <= at && at < instantMs(string(until))
    return [...ofGroup, ...problemOf('stand-in', standIn.changeId, isThen)]
  })
}

function wasInEffect({ beganAt, endedAt }: AuthorityRow, at: number): boolean {
  return instantMs(beganAt ?? '') <= at && (endedAt === null || at < instantMs(endedAt))
}

function groupsIn({ id, recordBody }: { id: string; recordBody: string }): Counted[] {
  const record = JSON.parse(recordBody) as Members
  return list(record['executions']).flatMap((execution) => {
    const evaluatedAt = string(members(members(execution)['decision'])['evaluatedAt'])
    return Object.values(verifiedSignals(execution)).flatMap((one) => {
      const verified = members(one)
      const approvals = 'approvals' in verified ? list(verified['approvals']).map(members) : []
      return (membershipsOf(verified) ?? []).map((membership, i) => ({
        membership,
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
