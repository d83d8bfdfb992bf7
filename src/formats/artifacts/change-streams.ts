// The stream that a governance change is counted in.
import type { StreamName } from '../log/entry.ts'

/** Targets are `<name>/<version>` of a policy and `<approverId>:<keyId>` of an approver. */
export function changeStreams(kind: string, target: string): { readonly [name in StreamName]?: string } {
  if (kind === 'policy') return { policy: target.slice(0, target.indexOf('/')) }
  if (kind === 'approver') return { approver: target.slice(0, target.indexOf(':')) }
  return {}
}
