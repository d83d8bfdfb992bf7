// Approvers of NOTIFICATIONS who have no key: a misspelt name gets no message, without any sign. Computed at each
// call, because approvers are enrolled without a restart.
import type { AuthorityState } from '../../core/callers/authority-state.ts'
import { quoted } from '../../formats/people/names.ts'
import { didYouMean } from '../../formats/text/nearest.ts'
import type { ConfiguredWay } from './configuration.ts'

/** @returns sentences for the log of the start, GET /ready and the console */
export function unknownApprovers(
  ways: readonly ConfiguredWay[],
  { approvers }: Pick<AuthorityState, 'approvers'>,
): string[] {
  const enrolled = new Set(
    approvers.filter(({ revokedAt }) => revokedAt === null).map(({ approverId }) => approverId),
  )
  return ways.flatMap((way) =>
    Object.keys(way.kind === 'email' ? way.approvers : {})
      .filter((approverId) => !enrolled.has(approverId))
      .map(
        (approverId) =>
          `NOTIFICATIONS: '${way.name}' has the address of ${quoted(approverId)}, who is told of nothing: no approver of this name has a key in effect${didYouMean(approverId, enrolled)}.`,
      ),
  )
}
