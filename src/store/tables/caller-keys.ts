// caller_keys: the keys of callers that governance has issued, and those that it has revoked (docs/handbook/callers.md).
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import { fullCaller, type Caller } from '../../formats/people/caller.ts'
import { namingOfCaller, type Naming } from '../../formats/people/persons.ts'
import { isoTime, type AdvisoryLock, type Sql } from '../postgres/sql.ts'

/** The scope of a key, as the change that issued it says; everything that is left out has its default. */
type CallerKeyScope = Omit<Caller, 'callerId' | 'keyHash' | 'unrestrictedCapabilities' | 'expiresAt'>

/** Plain data: it crosses to the threads. */
export interface StoredCallerKey {
  /** How threads name it; never used twice. */
  readonly number: number
  readonly keyHash: string
  readonly callerId: string
  /** Undefined: a key of SERVICE_API_KEYS, which is here because it was revoked. */
  readonly caller: Caller | undefined
  readonly isRevoked: boolean
}

/** A key with its story. */
export interface CallerKeyRow extends StoredCallerKey {
  /** ISO 8601, as `revokedAt`. */
  readonly issuedAt: string | null
  /** The human who approved it. */
  readonly issuedBy: string | null
  readonly issuedByChange: string | null
  readonly revokedAt: string | null
  readonly revokedBy: string | null
  readonly revokedByChange: string | null
}

/**
 * Taken by whatever gives a human a name or a key, in any register: what two changes must not both do, such as to give one key to two persons or to
 * revoke the last humans, is looked up before it is written.
 */
export const NAMING: AdvisoryLock = { key: 'caller keys' }

interface Stored {
  readonly number: number
  readonly keyHash: string
  readonly callerId: string
  readonly scope: string | null
  readonly expiresAt: string | null
  readonly issuedAt: string | null
  readonly revokedAt: string | null
}

const COLUMNS = `k.number, k.key_hash AS "keyHash", k.caller_id AS "callerId", k.scope,
  ${isoTime('k.expires_at')} AS "expiresAt", ${isoTime('k.issued_at')} AS "issuedAt", ${isoTime('k.revoked_at')} AS "revokedAt"`

function storedKey({ number, keyHash, callerId, scope, expiresAt, revokedAt }: Stored): StoredCallerKey {
  const caller =
    scope === null
      ? undefined
      : fullCaller({
          ...(JSON.parse(scope) as CallerKeyScope),
          callerId,
          keyHash,
          ...(expiresAt === null ? {} : { expiresAt }),
        })
  return { number, keyHash, callerId, caller, isRevoked: revokedAt !== null }
}

/**
 * Reads the keys that decide who may call: those that are neither revoked nor expired for an hour (clocks differ), and the word on the configured
 * ones. Those revoked before are left out, because they are as unknown as any other.
 * @param configured hashes of the keys of SERVICE_API_KEYS
 */
export async function readCallerKeysInEffect(
  sql: Sql,
  configured: readonly string[],
): Promise<StoredCallerKey[]> {
  const { rows } = await sql.query<Stored>({
    name: 'caller_keys_in_effect',
    text: `
      SELECT ${COLUMNS} FROM caller_keys AS k
      WHERE (k.revoked_at IS NULL AND coalesce(k.expires_at, 'infinity') > now() - interval '1 hour')
        OR k.key_hash = ANY($1::text[])
      ORDER BY k.number`,
    values: [configured],
  })
  return rows.map(storedKey)
}

/** Every key that governance has issued or revoked, by caller and in the order of their coming. */
export async function readCallerKeys(sql: Sql): Promise<CallerKeyRow[]> {
  const { rows } = await sql.query<
    Stored & Pick<CallerKeyRow, 'issuedBy' | 'issuedByChange' | 'revokedBy' | 'revokedByChange'>
  >(`
    SELECT ${COLUMNS}, k.issued_by_change AS "issuedByChange", k.revoked_by_change AS "revokedByChange",
      i.resolved_body::json ->> 'resolvedBy' AS "issuedBy", r.resolved_body::json ->> 'resolvedBy' AS "revokedBy"
    FROM caller_keys AS k LEFT JOIN pending_changes AS i ON i.change_id = k.issued_by_change
    LEFT JOIN pending_changes AS r ON r.change_id = k.revoked_by_change
    ORDER BY k.caller_id, k.number`)
  return rows.map(({ scope, expiresAt, ...row }) => ({ ...row, ...storedKey({ scope, expiresAt, ...row }) }))
}

/**
 * Reads keys that were issued at any time and that a new one could be taken for: by its name for people, its caller's name in another case, a
 * step-up key, or, while they are in effect, the approver.
 */
export async function readCallerKeysLike(
  sql: Sql,
  {
    callerId,
    keyId,
    pems,
    approverId,
  }: {
    readonly callerId: string
    readonly keyId: string
    readonly pems: readonly string[]
    readonly approverId: string | null
  },
): Promise<StoredCallerKey[]> {
  const { rows } = await sql.query<Stored>({
    text: `
      SELECT ${COLUMNS} FROM caller_keys AS k
      WHERE left(k.key_hash, 16) = $1::text OR lower(k.caller_id) = lower($2::text)
        OR k.scope::json ->> 'stepUpPublicKey' = ANY($3::text[])
        OR k.scope::json #>> '{stepUpPasskey,publicKeyPem}' = ANY($3::text[])
        OR (k.revoked_at IS NULL AND k.scope::json ->> 'approverId' = $4::text)
      ORDER BY k.number`,
    values: [keyId, callerId, pems, approverId],
  })
  return rows.map(storedKey)
}

/** Reads for every key that was ever issued who its caller is: revoked or expired, it still was that person's. */
export async function readCallerNamings(sql: Sql): Promise<Naming[]> {
  const { rows } = await sql.query<Stored>(
    `SELECT ${COLUMNS} FROM caller_keys AS k WHERE k.scope::json ->> 'credentialHolderType' = 'USER' ORDER BY k.number`,
  )
  return rows.flatMap((row) => {
    const { caller } = storedKey(row)
    return caller === undefined ? [] : [namingOfCaller(caller)]
  })
}

interface WhichChange {
  readonly changeId: string
  /** ISO 8601. */
  readonly at: string
}

/** @returns false where the key, or one of the same keyId, is here already: nothing is inserted then */
export async function issueCallerKey(
  sql: Sql,
  {
    callerId,
    keyHash,
    scope,
    expiresAt,
    changeId,
    at,
  }: WhichChange & {
    readonly callerId: string
    readonly keyHash: string
    readonly scope: CallerKeyScope
    readonly expiresAt: string | undefined
  },
): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `
      INSERT INTO caller_keys (key_hash, caller_id, scope, expires_at, issued_at, issued_by_change)
      VALUES ($1::text, $2::text, $3::text, $4::timestamptz, $5::timestamptz, $6::uuid)
      ON CONFLICT DO NOTHING`,
    values: [keyHash, callerId, canonicalize(scope as Json), expiresAt ?? null, at, changeId],
  })
  return rowCount === 1
}

/**
 * Revokes a key, whether governance issued it or it is configured.
 * @returns false where it is revoked already, or another caller's
 */
export async function revokeCallerKey(
  sql: Sql,
  { callerId, keyHash, changeId, at }: WhichChange & { readonly callerId: string; readonly keyHash: string },
): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `
      INSERT INTO caller_keys AS k (key_hash, caller_id, revoked_at, revoked_by_change)
      VALUES ($1::text, $2::text, $3::timestamptz, $4::uuid)
      ON CONFLICT (key_hash) DO UPDATE SET revoked_at = excluded.revoked_at, revoked_by_change = excluded.revoked_by_change
      WHERE k.revoked_at IS NULL AND k.caller_id = excluded.caller_id`,
    values: [keyHash, callerId, at, changeId],
  })
  return rowCount === 1
}

/** How many changes that are open a caller has proposed. */
export async function countOpenChangesOf(sql: Sql, callerId: string): Promise<number> {
  const { rows } = await sql.query<{ count: number }>({
    text: `
      SELECT count(*)::integer AS count FROM pending_changes
      WHERE status = 'PENDING_APPROVAL' AND body::json ->> 'proposedBy' = $1::text`,
    values: [callerId],
  })
  return rows[0]?.count ?? 0
}
