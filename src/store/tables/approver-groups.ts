// Groups of approvers, as `authority` states them: a policy may ask for approvals of their members (docs/handbook/policy-language.md).
import type { Sql } from '../postgres/sql.ts'
import { inEffect, type AuthorityRow } from './authority.ts'
import { standsIn } from './stand-ins.ts'

export interface ApproverGroupRow {
  readonly group: string
  /** approverIds, as the change lists them. */
  readonly members: readonly string[]
  readonly approvedBy: string
  /** ISO 8601. */
  readonly approvedAt: string
  readonly approvedByChange: string
}

function approverGroupOf({ target, stated, beganBy, beganAt, key }: AuthorityRow): ApproverGroupRow {
  const { members } = JSON.parse(stated) as { members: readonly string[] }
  return {
    group: target,
    members,
    approvedBy: beganBy ?? '',
    approvedAt: beganAt ?? '',
    approvedByChange: key,
  }
}

/** Reads the groups in effect, by name. */
export async function readApproverGroups(sql: Sql): Promise<ApproverGroupRow[]> {
  return (await inEffect(sql, 'approver-group')).map(approverGroupOf)
}

/** Why an approver's approval counts where a policy names groups: the evidence of it in a decision. */
export type Membership = {
  readonly group: string
  /** The change that set the group as it is. */
  readonly changeId: string
  /** The member in whose place the approver counts, and the change that says so; left out where the approver is a member. */
  readonly standsInFor?: string
  readonly standInChangeId?: string
}

/**
 * @returns undefined for an approver who counts in none of the groups; an approver's own membership goes before a stand-in's, the
 *   first group before the others
 */
export type Memberships = (groups: readonly string[], approverId: string) => Membership | undefined

interface StandIn {
  readonly for: string
  readonly by: string
  readonly changeId: string
}

/**
 * Reads which approvers count in which group. An execution holds APPROVERS_IN_EFFECT from before the reading until its claim has
 * committed.
 * @param options.at ISO 8601: a change that another instance has put in effect later, by its own clock, is not in effect yet
 * @param options.isBehind whether an approver is a person behind the execution, in whose place no stand-in counts
 */
export async function readMemberships(
  sql: Sql,
  options: {
    readonly groups: readonly string[]
    readonly at: string
    readonly isBehind: (approverId: string) => boolean
  },
): Promise<Memberships> {
  const { groups, at, isBehind } = options
  if (groups.length === 0) return () => undefined
  const { rows } = await sql.query<{ kind: string; name: string; changeId: string; stated: string }>({
    name: 'approver_groups_read',
    text: `
      SELECT s.kind, s.target AS name, s.key AS "changeId", s.stated FROM authority AS s
      WHERE (s.kind = 'approver-group' AND s.target = ANY($1::text[]) AND s.began_at <= $2::timestamptz AND s.ended_at IS NULL)
        OR (${standsIn('$2::timestamptz')})`,
    values: [groups, at],
  })
  const membersOf = new Map<string, { changeId: string; members: readonly string[] }>()
  const standIns: StandIn[] = []
  for (const { kind, name, changeId, stated } of rows) {
    if (kind === 'approver-group') {
      const { members } = JSON.parse(stated) as { members: readonly string[] }
      membersOf.set(name, { changeId, members })
    } else standIns.push({ ...(JSON.parse(stated) as { for: string; by: string }), changeId })
  }
  const isAway = (approverId: string) => standIns.some((one) => one.for === approverId)
  return (asked, approverId) => {
    const found = asked.flatMap((group) => {
      const set = membersOf.get(group)
      return set === undefined ? [] : [{ group, ...set }]
    })
    const own = found.find(({ members }) => members.includes(approverId) && !isAway(approverId))
    if (own !== undefined) return { group: own.group, changeId: own.changeId }
    for (const { group, changeId, members } of found) {
      const standIn = standIns.find(
        (one) => one.by === approverId && members.includes(one.for) && !isBehind(one.for),
      )
      if (standIn !== undefined)
        return { group, changeId, standsInFor: standIn.for, standInChangeId: standIn.changeId }
    }
    return undefined
  }
}

/**
 * SQL: whether an approver counts in one of the groups, a JSON array of names.
 * @param isBehind SQL of whether an approver is a person behind the execution, in whose place no stand-in counts
 */
export function isMemberOf(
  approverId: string,
  groups: string,
  isBehind: (approverId: string) => string,
): string {
  const away = `s.stated::jsonb ->> 'for'`
  return `EXISTS (SELECT FROM authority AS g WHERE g.kind = 'approver-group' AND g.began_at IS NOT NULL AND g.ended_at IS NULL AND ${groups} ? g.target
    AND ((g.stated::jsonb -> 'members' ? ${approverId} AND NOT EXISTS (
        SELECT FROM authority AS s WHERE ${standsIn('now()')} AND ${away} = ${approverId}))
      OR EXISTS (SELECT FROM authority AS s WHERE ${standsIn('now()')} AND s.stated::jsonb ->> 'by' = ${approverId}
        AND g.stated::jsonb -> 'members' ? (${away}) AND NOT ${isBehind(`(${away})`)})))`
}
