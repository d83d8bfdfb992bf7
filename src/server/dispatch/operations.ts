// Which worker threads do what, and how much of it at once. Executions share their threads with nothing else, so that no other work
// can delay one of their steps; what humans decide shares none with anybody's bulk work.
import type { LaneName, Operation } from '../../core/thread-messages.ts'

/** Which budget of thread time a client is charged to. Governing has one of its own: a human who has simulated much can still revoke. */
export type Cost = 'compute' | 'administration'

/** The means by which its client pays. Executions are counted by their rate limit; the service's own work is nobody's. */
export type Price = Cost | 'execute limit' | 'own work'

interface OperationLimits {
  readonly price: Price
  readonly lane: Exclude<LaneName, 'large-execution'>
  /** Requests of a batch. */
  readonly countMax: number
  /** Bytes of the bodies of a batch; a single larger body still makes one. */
  readonly bytesMax: number
  /** Batches with the threads at a time; undefined: as many as the lane takes. */
  readonly batchesMax?: number
}

/** The longest wait in a queue. Past it the request is answered 503: nothing was done. */
export const QUEUED_MS_MAX = 60_000

const KIB = 1024
/** A batch shares its commits, and a thread is busy with it for milliseconds. */
const STORED = { countMax: 128, bytesMax: 256 * KIB }
/** Computed from hostile bodies at up to a millisecond for each 4 KiB: whoever comes next waits for one batch. */
const COMPUTED = { countMax: 32, bytesMax: 32 * KIB }
/** Deliveries that arrive while one is stored share the next commit, which makes each cheaper (`npm run bench -- webhook`). */
const ONE = { batchesMax: 1 }

export const operations: Readonly<Record<Operation, OperationLimits>> = {
  execute: { price: 'execute limit', lane: 'execution', ...STORED },

  evaluate: { price: 'compute', lane: 'background', ...COMPUTED },
  'verify-refusal': { price: 'compute', lane: 'background', ...COMPUTED },
  'verify-audit-event': { price: 'compute', lane: 'background', ...COMPUTED },
  'verify-record': { price: 'compute', lane: 'background', ...COMPUTED },
  'issue-receipt': { price: 'compute', lane: 'background', ...COMPUTED },
  replay: { price: 'compute', lane: 'background', ...COMPUTED },
  // Each is long by itself, and compiles a document.
  simulate: { price: 'compute', lane: 'background', countMax: 1, bytesMax: Infinity, ...ONE },
  'receive-webhook': { price: 'compute', lane: 'background', ...STORED, ...ONE },
  'record-audit-event': { price: 'own work', lane: 'background', ...STORED, ...ONE },
  'sweep-intents': { price: 'own work', lane: 'background', ...COMPUTED, ...ONE },
  // Each has been waited for already: by whoever asked, not by a thread.
  'ask-connector': { price: 'own work', lane: 'background', ...COMPUTED, ...ONE },
  'conclude-read-back': { price: 'own work', lane: 'background', ...STORED, ...ONE },
  'sequence-log': { price: 'own work', lane: 'background', ...COMPUTED, ...ONE },
  // Each takes a thread up to 0.2 s, in parts, or waits for the next checkpoint.
  'prove-complete': { price: 'compute', lane: 'background', countMax: 1, bytesMax: Infinity, batchesMax: 2 },
  'add-checkpoint': { price: 'compute', lane: 'background', ...COMPUTED, ...ONE },
  'process-webhooks': { price: 'own work', lane: 'background', countMax: 1, bytesMax: Infinity, ...ONE },
  // Each reads a part of the feed and makes some signatures.
  'sign-events': { price: 'own work', lane: 'background', countMax: 4, bytesMax: Infinity, ...ONE },

  'deliver-approval': { price: 'compute', lane: 'administration', ...COMPUTED },
  'open-approval-request': { price: 'compute', lane: 'background', ...COMPUTED },
  'close-approval-request': { price: 'administration', lane: 'administration', ...COMPUTED },
  'propose-change': { price: 'administration', lane: 'administration', ...COMPUTED, countMax: 1 },
  'resolve-change': { price: 'administration', lane: 'administration', ...COMPUTED, countMax: 1 },
  'resolve-intent': { price: 'administration', lane: 'administration', ...COMPUTED },
  'finalize-intent': { price: 'administration', lane: 'administration', ...COMPUTED },
  'process-webhook-again': { price: 'administration', lane: 'administration', ...COMPUTED },
  'manage-event-endpoint': { price: 'administration', lane: 'administration', ...COMPUTED },
  'sign-session': { price: 'own work', lane: 'administration', ...COMPUTED },
}

/** A larger body costs a thread milliseconds in single steps, which the small ones beside it would wait for. */
const LARGE_BODY_BYTES = 16 * KIB

export function laneOf(operation: Operation, bodyBytes: number): LaneName {
  return operation === 'execute' && bodyBytes > LARGE_BODY_BYTES
    ? 'large-execution'
    : operations[operation].lane
}
