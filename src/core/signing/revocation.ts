// The revocation time of a signing key of the service: the file <keyId>.revoked beside its public half, which holds one RFC 3339 time and
// a newline. Signatures that the key made from then on do not count (src/formats/verifier/revoked.ts).
import { join } from 'node:path'
import { readIfThere } from '../files/read-if-there.ts'
import { instantMs } from '../../formats/artifacts/instant.ts'
import { judgeRevoked } from '../../formats/verifier/revoked.ts'
import { replaceWholeFile } from '../files/whole-file.ts'

/** The suffix of these files' names. */
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
 * Reads the revocation time of a key.
 * @returns ISO 8601 in UTC; undefined when the key is in effect
 * @throws Error with the file's name when it does not hold exactly one time
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

/** The key with its revocation as the folder states it now; the same object while the revocation is the same. */
export function withRevocation<Key extends Revocable>(dir: string, key: Key): Key {
  const revokedAt = readRevocation(dir, key.keyId)
  return revokedAt === key.revokedAt ? key : { ...key, revokedAt }
}

/**
 * Finds a key that signs although it is revoked, so that its signatures do not count.
 * @param findKey a published key as it is now
 * @returns a clause; undefined while all keys are in effect
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

/** The reason why a signature by this key does not count; undefined: the revocation does not affect it. */
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
 * @param key as `withRevocation` returns it
 * @param at RFC 3339
 * @returns the time of the revocation
 * @throws Error with a sentence when `at` is no time or later than now, or when the key is already revoked since an earlier time
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
