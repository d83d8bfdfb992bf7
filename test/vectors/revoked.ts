// Evidence of a key of the service that was revoked: the time that it signed decides, and never `signedAt`.
import type { Cases } from './case.ts'
import type { Members } from './edit.ts'
import { REVOKED_AT, revokedKey } from './keys.ts'

interface Named {
  /** As notes name it. */
  readonly signedAs: string
  /** The member that says when it was signed. */
  readonly time: string
  /** Before the ids of the cases. */
  readonly prefix?: string
  /** A report says these besides. */
  readonly notes?: readonly string[]
}

/**
 * Cases of one artifact.
 * @param evidenceAt signed by the revoked key, with this time
 * @param checks that fail where it does not count
 */
export function addRevoked(
  all: Cases,
  { signedAs, time, prefix = '', notes = [] }: Named,
  evidenceAt: (at: string) => Members,
  checks: readonly string[],
): void {
  const before = '2026-11-21T03:00:59.999+02:00'
  all.addNoted(
    `${prefix}revoked-before`,
    'Its key was revoked later, by the time that it signed.',
    evidenceAt(before),
    [
      ...notes,
      `The key "${revokedKey.keyId}" was revoked at ${REVOKED_AT}: its signature of the ${signedAs} counts by its ${time} ${before}, which nothing but that key says.`,
    ],
  )
  for (const [id, at] of [
    ['at', REVOKED_AT],
    ['after', '2026-11-21T01:01:00.001Z'],
  ] as const)
    all.add(
      `${prefix}revoked-${id}`,
      `Its key was revoked, and it says that it was signed ${id} that time.`,
      evidenceAt(at),
      checks,
    )
}
