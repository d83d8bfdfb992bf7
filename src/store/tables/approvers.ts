// approvers: the keys of the humans whose signed approvals count (decisions §7).
import { canonicalize } from '../../formats/json/canonical.ts'
import { isoTime, takeLocks, type AdvisoryLock, type Sql } from '../postgres/sql.ts'

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

/** A type, because an interface is no JSON to the compiler. */
export type EnrolledPasskey = {
  readonly rpId: string
  readonly origins: readonly string[]
  /** Base64url. */
  readonly credentialId: string
  readonly backupEligible: boolean
}

/** As it stands in the table. */
export function storedPasskey(text: string | null): EnrolledPasskey | undefined {
  return text === null ? undefined : (JSON.parse(text) as EnrolledPasskey)
}

type Stored = Omit<ApproverRow, 'passkey'> & { readonly passkey: string | null }

const COLUMNS = `
  approver_id AS "approverId", key_id AS "keyId", public_key_pem AS "publicKeyPem", passkey,
  ${isoTime('enrolled_at')} AS "enrolledAt", ${isoTime('revoked_at')} AS "revokedAt"`

function approverRow<Row extends Stored>(row: Row) {
  return { ...row, passkey: storedPasskey(row.passkey) }
}

/** Every key ever enrolled, the revoked ones too: what they approved before can still be verified. */
export async function readApprovers(sql: Sql): Promise<ApproverRow[]> {
  const result = await sql.query<Stored>({
    text: `SELECT ${COLUMNS} FROM approvers ORDER BY approver_id, key_id`,
  })
  return result.rows.map(approverRow)
}

/** An enrolment, and the change that approved it. */
interface Enrolment {
  readonly approverId: string
  readonly keyId: string
  /** SPKI, in the one notation that it is published in. */
  readonly publicKeyPem: string
  readonly passkey: EnrolledPasskey | undefined
  /** SHA-256 of the SPKI, hex. */
  readonly fingerprint: string
  readonly changeId: string
  /** ISO 8601. */
  readonly at: string
}

/** @returns false where the key's name or the key itself exists already, revoked or not: nothing is inserted then */
export async function enrolApprover(sql: Sql, row: Enrolment): Promise<boolean> {
  const result = await sql.query({
    text: `
      INSERT INTO approvers (approver_id, key_id, public_key_pem, fingerprint, enrolled_at, enrolled_by_change, passkey)
      VALUES ($1::text, $2::text, $3::text, $4::text, $5::timestamptz, $6::uuid, $7::text)
      ON CONFLICT DO NOTHING`,
    values: [
      row.approverId,
      row.keyId,
      row.publicKeyPem,
      row.fingerprint,
      row.at,
      row.changeId,
      row.passkey === undefined ? null : canonicalize(row.passkey),
    ],
  })
  return result.rowCount === 1
}

interface WhichKey {
  readonly approverId: string
  readonly keyId: string
}

/** Held shared by executions that rest on approvals until they are claimed; taken whole by what revokes a key. */
export const APPROVERS_IN_EFFECT: AdvisoryLock = { key: 'approvers in effect', shared: true }

/**
 * Waits for every execution that has read the key as in effect, and writes a later time than theirs whatever the clocks say: a record must
 * not be later than the revocation of a key that it rests on.
 * @returns false where no such key is in effect
 */
export async function revokeApprover(
  sql: Sql,
  row: WhichKey & { readonly changeId: string },
): Promise<boolean> {
  await takeLocks(sql, [{ key: APPROVERS_IN_EFFECT.key }])
  const result = await sql.query({
    text: `
      UPDATE approvers SET revoked_by_change = $3::uuid, revoked_at = greatest(clock_timestamp(), (
        SELECT max(consumed_at) + interval '1 ms' FROM approvals WHERE approver_id = $1::text AND key_id = $2::text))
      WHERE approver_id = $1::text AND key_id = $2::text AND revoked_at IS NULL`,
    values: [row.approverId, row.keyId, row.changeId],
  })
  return result.rowCount === 1
}

/** Approvers with a key in effect, sorted. */
export async function readApproversInEffect(sql: Sql): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `SELECT DISTINCT approver_id AS id FROM approvers WHERE revoked_at IS NULL ORDER BY approver_id`,
  )
  return rows.map(({ id }) => id)
}

/** One key, revoked or not; null where it was never enrolled. */
export async function readApprover(sql: Sql, { approverId, keyId }: WhichKey): Promise<ApproverRow | null> {
  const result = await sql.query<Stored>({
    name: 'approvers_read',
    text: `SELECT ${COLUMNS} FROM approvers WHERE approver_id = $1::text AND key_id = $2::text`,
    values: [approverId, keyId],
  })
  return result.rows.map(approverRow)[0] ?? null
}

/** Keys with the changes that enrolled them; those that were never enrolled are left out. */
export async function readEnrolments(
  sql: Sql,
  keys: readonly WhichKey[],
): Promise<(ApproverRow & { readonly enrolledByChange: string })[]> {
  if (keys.length === 0) return []
  const result = await sql.query<Stored & { enrolledByChange: string }>({
    name: 'approvers_enrolments',
    text: `
      SELECT ${COLUMNS}, enrolled_by_change AS "enrolledByChange"
      FROM approvers WHERE (approver_id, key_id) IN (SELECT * FROM unnest($1::text[], $2::text[]))
      ORDER BY approver_id, key_id`,
    values: [keys.map(({ approverId }) => approverId), keys.map(({ keyId }) => keyId)],
  })
  return result.rows.map(approverRow)
}

/** Where the name or the key itself stands already. */
export async function readEnrolled(
  sql: Sql,
  { approverId, keyId, fingerprint }: WhichKey & { readonly fingerprint: string },
): Promise<(WhichKey & { readonly revoked: boolean })[]> {
  const result = await sql.query<WhichKey & { revoked: boolean }>({
    text: `
      SELECT approver_id AS "approverId", key_id AS "keyId", revoked_at IS NOT NULL AS revoked
      FROM approvers WHERE (approver_id = $1::text AND key_id = $2::text) OR fingerprint = $3::text`,
    values: [approverId, keyId, fingerprint],
  })
  return result.rows
}
