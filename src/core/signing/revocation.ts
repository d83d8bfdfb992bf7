// Since when a signing key of the service is revoked: the file <keyId>.revoked beside its public half, which holds one time of RFC 3339 and
// a newline. Signatures that the key made from then on do not count (src/formats/verifier/revoked.ts).
import { join } from 'node:path'
import { readIfThere } from '../files/read-if-there.ts'
import { instantMs } from '../../formats/artifacts/instant.ts'
import { judgeRevoked } from '../../formats/verifier/revoked.ts'
import { replaceWholeFile } from '../files/whole-file.ts'

/** Ends the names of these files. */
export const REVOCATION_SUFFIX = '.revoked'

interface Revocable {
  readonly keyId: string
  /** ISO 8601; undefined: in effect. */
  readonly revokedAt?: string | undefined
}

export function revocationFile(dir: string, keyId: string): string {
  return join(dir, keyId + REVOCATION_SUFFIX)
}

/**
 * Reads since when a key is revoked.
 * @returns ISO 8601 in UTC; undefined where the key is in effect
 * @throws Error with the file's name where it does not hold one time
 */
export function readRevocation(dir: string, keyId: string): string | undefined {
  const file = revocationFile(dir, keyId)
  const text = readIfThere(file)
  if (text === undefined) return undefined
  const ms = instantMs(text.trimEnd())
  if (!Number.isNaN(ms)) return new Date(ms).toISOString()
  throw new Error(
    `${file} must hold one time, such as 2026-11-21T01:00:00Z, since when the key is revoked. ` +
      'countersign keys revoke writes such a file.',
  )
}

/** The key as the folder says now: the same object while its revocation is the same. */
export function withRevocation<Key extends Revocable>(dir: string, key: Key): Key {
  const revokedAt = readRevocation(dir, key.keyId)
  return revokedAt === key.revokedAt ? key : { ...key, revokedAt }
}

/**
 * Finds a key that signs although it is revoked: its signatures do not count.
 * @param findKey a published key as it is now
 * @returns a clause; undefined while all are in effect
 */
export function revokedSigner(
  signers: readonly Revocable[],
  findKey: (keyId: string) => Revocable | undefined,
): string | undefined {
  for (const { keyId } of signers) {
    const revokedAt = findKey(keyId)?.revokedAt
    if (revokedAt !== undefined) return `${keyId} is revoked since ${revokedAt}`
  }
  return undefined
}

/** Why a signature by this key does not count; undefined: its revocation does not affect it. */
export function revocationProblem(
  artifact: string,
  canonicalText: string,
  { keyId, revokedAt }: Revocable,
): string | undefined {
  if (revokedAt === undefined) return undefined
  const { counts, sentence } = judgeRevoked(artifact, canonicalText, { keyId, revokedAt })
  return counts ? undefined : sentence
}

/**
 * Revokes a key durably.
 * @param key as `withRevocation` has it
 * @param at RFC 3339
 * @returns since when it is revoked
 * @throws Error with a sentence where `at` is no time or a later one than now, and where the key is revoked since an earlier time
 */
export function revokeKey(
  dir: string,
  { keyId, revokedAt }: Revocable,
  { at, now }: { readonly at: string; readonly now: Date },
): string {
  const ms = instantMs(at)
  if (Number.isNaN(ms))
    throw new Error(`--at must be a time with its offset, such as 2026-11-21T01:00:00Z; it is ${at}.`)
  if (ms > now.getTime())
    throw new Error(`--at must not be later than now, ${now.toISOString()}; it is ${at}.`)
  if (revokedAt !== undefined && ms > Date.parse(revokedAt))
    throw new Error(
      `${keyId} is revoked since ${revokedAt}. With --at its revocation can be moved to an earlier time, never to a later one.`,
    )
  const time = new Date(ms).toISOString()
  replaceWholeFile(revocationFile(dir, keyId), `${time}\n`, 0o644)
  return time
}
