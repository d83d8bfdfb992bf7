// login_passkeys: the passkeys by which people log in to the console, and login_challenges: the challenges that these passkeys are asked to sign.
import { isoTime, takeLocks, type Sql } from '../postgres/sql.ts'
import type { Transaction } from '../postgres/transaction.ts'

export interface LoginPasskey {
  readonly loginPasskeyId: string
  /** base64url. */
  readonly credentialId: string
  readonly callerId: string
  /** SHA-256 of the hash of the key that registered it. */
  readonly keyHash: string
  readonly name: string
  /** SPKI. */
  readonly publicKeyPem: string
  /** Whether it was made to be copied to other devices. */
  readonly backupEligible: boolean
  /** The signature counter at its last use; 0 for a passkey that does not count. */
  readonly signCount: number
  /** ISO 8601. */
  readonly registeredAt: string
  /** ISO 8601; null: nobody has logged in with it. */
  readonly usedAt: string | null
}

const COLUMNS = `
  login_passkey_id AS "loginPasskeyId", credential_id AS "credentialId", caller_id AS "callerId", key_hash AS "keyHash", name,
  public_key_pem AS "publicKeyPem", backup_eligible AS "backupEligible", sign_count::float8 AS "signCount",
  ${isoTime('registered_at')} AS "registeredAt", ${isoTime('used_at')} AS "usedAt"`

/** Each passkey is a way into the console that somebody must remember to close. */
export const LOGIN_PASSKEYS_MAX = 10

/**
 * Registers a passkey. Those of a caller are registered one after the other, so that `LOGIN_PASSKEYS_MAX` holds.
 * @returns false: the passkey is registered already, or the caller has that many
 */
export async function registerLoginPasskey(
  sql: Transaction,
  passkey: Omit<LoginPasskey, 'registeredAt' | 'usedAt'>,
): Promise<boolean> {
  await takeLocks(sql, [{ key: `login passkeys of ${passkey.callerId}` }])
  const { rowCount } = await sql.query({
    text: `
      INSERT INTO login_passkeys
        (login_passkey_id, credential_id, caller_id, key_hash, name, public_key_pem, backup_eligible, sign_count)
      SELECT $1::uuid, $2::text, $3::text, $4::text, $5::text, $6::text, $7::boolean, $8::bigint
      WHERE (SELECT count(*) FROM login_passkeys WHERE caller_id = $3::text) < ${LOGIN_PASSKEYS_MAX}
      ON CONFLICT DO NOTHING`,
    values: [
      passkey.loginPasskeyId,
      passkey.credentialId,
      passkey.callerId,
      passkey.keyHash,
      passkey.name,
      passkey.publicKeyPem,
      passkey.backupEligible,
      passkey.signCount,
    ],
  })
  return rowCount === 1
}

/** Reads the passkeys of one caller, the oldest first. */
export async function readLoginPasskeys(sql: Sql, callerId: string): Promise<LoginPasskey[]> {
  const { rows } = await sql.query<LoginPasskey>({
    text: `SELECT ${COLUMNS} FROM login_passkeys WHERE caller_id = $1::text ORDER BY registered_at, login_passkey_id`,
    values: [callerId],
  })
  return rows
}

export async function findLoginPasskey(sql: Sql, credentialId: string): Promise<LoginPasskey | undefined> {
  const { rows } = await sql.query<LoginPasskey>({
    text: `SELECT ${COLUMNS} FROM login_passkeys WHERE credential_id = $1::text`,
    values: [credentialId],
  })
  return rows[0]
}

/** @returns false: it was removed meanwhile */
export async function noteLogin(
  sql: Sql,
  { loginPasskeyId, signCount }: Pick<LoginPasskey, 'loginPasskeyId' | 'signCount'>,
): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `UPDATE login_passkeys SET used_at = now(), sign_count = $2::bigint WHERE login_passkey_id = $1::uuid`,
    values: [loginPasskeyId, signCount],
  })
  return rowCount === 1
}

/** @returns its name; undefined: this caller has no such passkey */
export async function removeLoginPasskey(
  sql: Sql,
  { loginPasskeyId, callerId }: Pick<LoginPasskey, 'loginPasskeyId' | 'callerId'>,
): Promise<string | undefined> {
  const { rows } = await sql.query<{ name: string }>({
    text: `DELETE FROM login_passkeys WHERE login_passkey_id = $1::uuid AND caller_id = $2::text RETURNING name`,
    values: [loginPasskeyId, callerId],
  })
  return rows[0]?.name
}

/** A person answers a challenge within two minutes: so many open ones do not come from people who log in. */
export const LOGIN_CHALLENGES_MAX = 10_000

/**
 * @param challenge random, so that it cannot be guessed while it is valid
 * @returns whether it is kept: false where `LOGIN_CHALLENGES_MAX` challenges wait for an answer. Concurrent calls may keep some more
 */
export async function keepChallenge(
  sql: Sql,
  { challenge, lastsMs }: { readonly challenge: string; readonly lastsMs: number },
): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `
      WITH over AS (DELETE FROM login_challenges WHERE expires_at < now())
      INSERT INTO login_challenges (challenge, expires_at)
      SELECT $1::text, now() + $2::float8 * interval '1 ms'
      WHERE (SELECT count(*) FROM login_challenges WHERE expires_at >= now()) < ${LOGIN_CHALLENGES_MAX}`,
    values: [challenge, lastsMs],
  })
  return rowCount === 1
}

/** @returns whether the challenge is kept and not answered yet; it is accepted only once */
export async function takeChallenge(sql: Sql, challenge: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    text: `DELETE FROM login_challenges WHERE challenge = $1::text AND expires_at >= now()`,
    values: [challenge],
  })
  return rowCount === 1
}
