// How many connections to the database a thread opens at most; docs/handbook/scaling.md adds them up for operators.
import { CLAIMS_AT_ONCE } from './execute/prove/prove-and-claim.ts'
import { EXECUTION_BATCHES } from '../src/core/threads/thread-messages.ts'
import type { LaneName } from '../src/core/operations/index.ts'

const { batchesPerThread, fullBatchesPerThread } = EXECUTION_BATCHES
/** One for each batch in flight, one for deferred executions; and those of executions that verify state. */
const EXECUTION_CONNECTIONS = batchesPerThread + fullBatchesPerThread + 1 + CLAIMS_AT_ONCE
/** Further batches wait for a free connection. */
const OTHER_CONNECTIONS = 4

export function connectionsOf(lane: LaneName): number {
  return lane === 'execution' || lane === 'large-execution' ? EXECUTION_CONNECTIONS : OTHER_CONNECTIONS
}
