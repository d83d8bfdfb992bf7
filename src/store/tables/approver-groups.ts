// Groups of approvers, as `authority` states them: a policy may ask for approvals of their members (docs/handbook/policy-language.md).
import type { Sql } from '../postgres/sql.ts'
import { inEffect, type AuthorityRow } from './authority.ts'

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

/** Why an approver's approval counts where a policy names groups: the evidence beside it in a decision. */
export type Membership = {
  readonly group: string
  /** The change that set the group as it is. */
  readonly changeId: string
}

/** @returns undefined for an approver who is in none of the groups; of several groups the first */
export type Memberships = (groups: readonly string[], approverId: string) => Membership | undefined

/**
 * Reads who is in which group. An execution holds APPROVERS_IN_EFFECT from before the reading until its claim has committed.
 * @param at ISO 8601: a group that another instance's clock has put in effect later is not in effect yet
 */
export async function readMemberships(
  sql: Sql,
  { groups, at }: { readonly groups: readonly string[]; readonly at: string },
): Promise<Memberships> {
  if (groups.length === 0) return () => undefined
  const { rows } = await sql.query<{ name: string; changeId: string; stated: string }>({
    name: 'approver_groups_read',
    text: `
      SELECT target AS name, key AS "changeId", stated FROM authority
      WHERE kind = 'approver-group' AND target = ANY($1::text[]) AND began_at <= $2::timestamptz AND ended_at IS NULL`,
    values: [groups, at],
  })
  const membersOf = new Map(
    rows.map(({ name, changeId, stated }) => {
      const { members } = JSON.parse(stated) as { members: readonly string[] }
      return [name, { changeId, members: new Set(members) }]
    }),
  )
  return (asked, approverId) => {
    for (const group of asked) {
      const found = membersOf.get(group)
      if (found?.members.has(approverId) === true) return { group, changeId: found.changeId }
    }
    return undefined
  }
}

/** SQL: whether an approver is in one of the groups, a JSON array of names. */
export function isMemberOf(approverId: string, groups: string): string {
  return `EXISTS (SELECT FROM authority AS g WHERE g.kind = 'approver-group' AND g.began_at IS NOT NULL AND g.ended_at IS NULL
    AND ${groups} ? g.target AND g.stated::jsonb -> 'members' ? ${approverId})`
}
