// The keys of callers that governance has issued, and those that it has revoked (docs/handbook/callers.md), as `authority` states them.
import { fullCaller, type Caller } from '../../formats/people/caller.ts'
import type { AdvisoryLock, Sql } from '../postgres/sql.ts'
import { everything, type AuthorityRow } from './authority.ts'

/** Plain data: it crosses to the threads. */
export interface StoredCallerKey {
  /** Threads name the key by it; it is never used twice. */
  readonly number: number
  readonly keyHash: string
  readonly callerId: string
  /** Undefined: a key of SERVICE_API_KEYS, which is here because it was revoked. */
  readonly caller: Caller | undefined
  readonly isRevoked: boolean
}

/** A key with its history. */
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
 * Taken by every change that gives a human a name or a key, in any register. Without it, two changes could pass a check together and then both be
 * written: they could give one key to two persons, or revoke the last humans.
 */
export const NAMING: AdvisoryLock = { key: 'caller keys' }

function callerKeyOf(row: AuthorityRow): CallerKeyRow {
  const { action: _, ...scope } = JSON.parse(row.stated) as Caller & { readonly action?: 'issue' }
  return {
    number: row.number,
    keyHash: scope.keyHash,
    callerId: scope.callerId,
    caller: row.beganAt === null ? undefined : fullCaller(scope),
    isRevoked: row.endedAt !== null,
    issuedAt: row.beganAt,
    issuedBy: row.beganBy,
    issuedByChange: row.beganByChange,
    revokedAt: row.endedAt,
    revokedBy: row.endedBy,
    revokedByChange: row.endedByChange,
  }
}

/** @returns in the order in which they were added */
export function callerKeysOf(rows: readonly AuthorityRow[]): CallerKeyRow[] {
  return rows.map(callerKeyOf).toSorted((a, b) => a.number - b.number)
}

/** Every key that governance has issued or revoked, in the order in which they were added. */
export async function readCallerKeys(sql: Sql): Promise<CallerKeyRow[]> {
  return callerKeysOf(await everything(sql, 'caller-key'))
}

/** Expired keys are kept this long, because the clocks of instances differ. */
const EXPIRED_MS = 3_600_000

/**
 * Picks the keys that decide which callers are let in: those neither revoked nor expired for an hour, and the rows of configured keys. Other revoked
 * keys are left out, because an unknown key is refused anyway.
 * @param configured the entries of SERVICE_API_KEYS
 */
export function callerKeysInEffect(
  rows: readonly CallerKeyRow[],
  configured: readonly Caller[],
): StoredCallerKey[] {
  const since = new Date(Date.now() - EXPIRED_MS).toISOString()
  const known = new Set(configured.map(({ keyHash }) => keyHash))
  return rows
    .filter(
      ({ caller, isRevoked, keyHash }) =>
        (!isRevoked && (caller?.expiresAt ?? since) >= since) || known.has(keyHash),
    )
    .map(({ number, keyHash, callerId, caller, isRevoked }) => ({
      number,
      keyHash,
      callerId,
      caller,
      isRevoked,
    }))
}
