// A key of the service that was revoked, perhaps because somebody else has it: what it signed counts where the time that it signed is
// before that. `signedAt` is not signed, so the artifact's own time decides.
import type { Json } from '../json/canonical.ts'
import { timesOf } from '../artifacts/kinds.ts'
import { isMembers } from '../json/members.ts'
import { instantMs } from '../artifacts/instant.ts'

interface Revocation {
  readonly keyId: string
  readonly revokedAt: string
}

/**
 * Whether what a revoked key of the service signed counts. Without a time that it signed nothing does: a session or a release is used at once.
 * @param artifact what it was signed as
 * @returns a sentence for the reader: why it does not, or by which time it does
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
