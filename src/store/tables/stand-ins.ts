// Stand-ins of approvers, as `authority` states them: for a time an approver counts in groups in place of an absent member.
import type { Sql } from '../postgres/sql.ts'
import { inEffect, type AuthorityRow } from './authority.ts'

export interface StandInRow {
  /** approverIds. */
  readonly for: string
  readonly by: string
  /** ISO 8601; `until` is excluded. */
  readonly from: string
  readonly until: string
  readonly approvedBy: string
  /** ISO 8601. */
  readonly approvedAt: string
  readonly approvedByChange: string
}

function standInOf({ stated, beganBy, beganAt, key }: AuthorityRow): StandInRow {
  const { for: away, by, from, until } = JSON.parse(stated) as StandInRow
  return {
    for: away,
    by,
    from,
    until,
    approvedBy: beganBy ?? '',
    approvedAt: beganAt ?? '',
    approvedByChange: key,
  }
}

/** Reads the stand-ins that were set and not removed, by the absent member, also those whose time is over or has not come. */
export async function readStandIns(sql: Sql): Promise<StandInRow[]> {
  return (await inEffect(sql, 'stand-in')).map(standInOf)
}

/** SQL: the row `s` of `authority` is a stand-in whose time it is. */
export function standsIn(at: string): string {
  return `s.kind = 'stand-in' AND s.began_at <= ${at} AND s.ended_at IS NULL
    AND (s.stated::jsonb ->> 'from')::timestamptz <= ${at} AND ${at} < (s.stated::jsonb ->> 'until')::timestamptz`
}
