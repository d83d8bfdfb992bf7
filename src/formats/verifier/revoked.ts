// A revoked, perhaps stolen key of the service: its signatures count if the signed time is before the revocation.
// `signedAt` is not signed, so the artifact's own time decides.
import type { Json } from '../json/canonical.ts'
import { timesOf } from '../artifacts/kinds.ts'
import { isMembers } from '../json/members.ts'
import { instantMs } from '../artifacts/instant.ts'

interface Revocation {
  readonly keyId: string
  readonly revokedAt: string
}

/**
 * Whether a signature by a revoked key of the service counts. Without a signed time it does not: a session or a release is used at once.
 * @param artifact the type of the signed artifact
 * @returns a sentence for the reader: why it does not count, or the time by which it does
 */
export function judgeRevoked(
  artifact: string,
  canonicalText: string,
  { keyId, revokedAt }: Revocation,
): { readonly counts: boolean; readonly sentence: string } {
  const signed = JSON.parse(canonicalText) as Json
  const members = isMembers(signed) ? signed : {}
  const names = timesOf(artifact)
  const name = names.find((one) => one in members) ?? names[0] ?? 'time'
  const at = members[name]
  const revoked = `key ${JSON.stringify(keyId)} was revoked at ${revokedAt}`
  const counts = typeof at === 'string' && instantMs(at) < instantMs(revokedAt)
  return {
    counts,
    sentence: counts
      ? `The ${revoked}: its signature of the ${artifact} counts by its ${name} ${at}, which nothing but that key says.`
      : `${revoked}, and the ${name} of the ${artifact} is not before that`,
  }
}
