// THE list of what humans change together: another kind is a file beside this one and a row here (decisions §7).
import { approverChanges } from './approver.ts'
import type { ChangeKind, ChangeKindName } from './change-kind.ts'
import { externalConnectorChanges } from './external-connector.ts'
import { policyChanges } from './policy.ts'

export type ChangeKinds = Readonly<Record<ChangeKindName, ChangeKind>>

/**
 * in  ownKeys     PEMs of the keys that this service publishes as its own
 *     production  where an endpoint on the machine of the service itself is refused
 */
export function openChangeKinds({
  ownKeys,
  production,
}: {
  ownKeys: () => readonly string[]
  production: boolean
}): ChangeKinds {
  return {
    policy: policyChanges,
    approver: approverChanges({ ownKeys }),
    'external-connector': externalConnectorChanges({ production }),
  }
}
