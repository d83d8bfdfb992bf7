// The names that exist here: policies, capabilities and approvers. The evidence log counts an entry in a stream only where the name of
// the stream exists: a refusal may name any capability, and each stream is a row and a place in the sequencer's memory for good.
import type { StreamName } from '../src/formats/log/entry.ts'
import type { QueuedEntry } from '../src/store/tables/log-queue.ts'
import type { Approvers } from './approvers.ts'
import type { OpenConnectors } from './connectors/index.ts'
import type { OpenPolicies } from './policies.ts'

/** The streams whose names exist. */
export type ExistingStreams = (streams: QueuedEntry['streams']) => QueuedEntry['streams']

/** Decides by the state in effect when it is called. A caller exists: it has authenticated. */
export function openExistingStreams({
  policies,
  connectors,
  approvers,
}: {
  readonly policies: Pick<OpenPolicies, 'has' | 'govern'>
  readonly connectors: Pick<OpenConnectors, 'has'>
  readonly approvers: Pick<Approvers, 'has'>
}): ExistingStreams {
  const exists: Readonly<Record<StreamName, (value: string) => boolean>> = {
    caller: () => true,
    capability: (action) => policies.govern(action) || connectors.has(action),
    policy: policies.has,
    approver: approvers.has,
  }
  return (streams) =>
    Object.fromEntries(
      Object.entries(streams).filter(([stream, value]) => exists[stream as StreamName](value)),
    )
}
