// The keys of the humans whose signed approvals count (decisions §7), as `authority` states them.
import { isoTime, takeLocks, type AdvisoryLock, type Sql } from '../postgres/sql.ts'
import { everything, findAuthority, inEffect, type AuthorityRow } from './authority.ts'

export interface ApproverRow {
  readonly approverId: string
  readonly keyId: string
  /** SPKI. */
  readonly publicKeyPem: string
  /** A passkey, as it was enrolled, without the proof; undefined: a raw Ed25519 key. */
  readonly passkey: EnrolledPasskey | undefined
  /** ISO 8601. */
  readonly enrolledAt: string
  /** ISO 8601; null: in effect. */
  readonly revokedAt: string | null
}

/** A type, because the compiler does not take an interface for JSON. */
export type EnrolledPasskey = {
  readonly rpId: string
  readonly origins: readonly string[]
  /** Base64url. */
  readonly credentialId: string
  readonly backupEligible: boolean
}

export function approverOf({
  stated,
  beganAt,
  endedAt,
}: Pick<AuthorityRow, 'stated' | 'beganAt' | 'endedAt'>): ApproverRow {
  const { approverId, keyId, publicKeyPem, passkey } = JSON.parse(stated) as ApproverRow
  return { approverId, keyId, publicKeyPem, passkey, enrolledAt: beganAt ?? '', revokedAt: endedAt }
}

/** SQL: the row `k` of `authority` is the key that the approval `a` names. */
export const IS_KEY_OF_APPROVAL = `k.kind = 'approver' AND k.key = a.approver_id || ':' || a.key_id`

/** SQL: the keys of approvers in effect. */
export const APPROVERS = `(SELECT split_part(key, ':', 1) AS approver_id FROM authority WHERE kind = 'approver' AND began_at IS NOT NULL AND ended_at IS NULL)`

/** Every key ever enrolled, the revoked ones too: their earlier approvals can still be verified. */
export async function readApprovers(sql: Sql): Promise<ApproverRow[]> {
  return (await everything(sql, 'approver')).map(approverOf)
}

/** Approvers with a key in effect, sorted. */
export async function readApproversInEffect(sql: Sql): Promise<string[]> {
  const rows = await inEffect(sql, 'approver')
  return [...new Set(rows.map((row) => approverOf(row).approverId))].toSorted()
}

interface WhichKey {
  readonly approverId: string
  readonly keyId: string
}

/** One key, revoked or not; null where it was never enrolled. */
export async function readApprover(sql: Sql, { approverId, keyId }: WhichKey): Promise<ApproverRow | null> {
  const rows = await findAuthority(sql, 'approver', [`${approverId}:${keyId}`])
  return rows.map(approverOf)[0] ?? null
}

/** Executions that rest on approvals hold it shared until they are claimed; a change that revokes a key, or changes a group
 * or a stand-in, takes it exclusively. */
export const APPROVERS_IN_EFFECT: AdvisoryLock = { key: 'approvers in effect', shared: true }

/**
 * Waits for every execution that has read the key as in effect, and finds a later time than theirs whatever the clocks say: a record must
 * not be later than the revocation of a key that it rests on.
 * @returns ISO 8601
 */
export function revocationTime(sql: Sql, { approverId, keyId }: WhichKey): Promise<string> {
  return timeAfterUse(sql, { approverIds: [approverId], keyId })
}

/** As `revocationTime`, for a group of approvers or for the keys of several. */
export async function timeAfterUse(
  sql: Sql,
  { approverIds, keyId = null }: { readonly approverIds: readonly string[]; readonly keyId?: string | null },
): Promise<string> {
  await takeLocks(sql, [{ key: APPROVERS_IN_EFFECT.key }])
  const { rows } = await sql.query<{ at: string }>(
    `SELECT ${isoTime(`greatest(clock_timestamp(), max(consumed_at) + interval '1 ms')`)} AS at
     FROM approvals WHERE approver_id = ANY($1::text[]) AND ($2::text IS NULL OR key_id = $2::text)`,
    [approverIds, keyId],
  )
  return rows[0]!.at
}
