// Which worker threads do what, and how much of it at once. Executions share their threads with nothing else, so that no other work
// can delay one of their steps; what humans decide shares none with anybody's bulk work.
import type { LaneName, Operation } from '../../core/thread-messages.ts'

interface OperationLimits {
  readonly lane: Exclude<LaneName, 'large-execution'>
  /** Requests of a batch. */
  readonly countMax: number
  /** Bytes of the bodies of a batch; a single larger body still makes one. */
  readonly bytesMax: number
  /** Batches with the threads at a time; undefined: as many as the lane takes. */
  readonly batchesMax?: number
}

const KIB = 1024
/** A batch shares its commits, and a thread is busy with it for milliseconds. */
const STORED = { countMax: 128, bytesMax: 256 * KIB }
/** Computed from hostile bodies at up to a millisecond for each 4 KiB: whoever comes next waits for one batch. */
const COMPUTED = { countMax: 32, bytesMax: 32 * KIB }
/** What arrives while one is stored shares the next commit, which makes each cheaper (`npm run bench -- webhook`). */
const ONE = { batchesMax: 1 }

export const operations: Readonly<Record<Operation, OperationLimits>> = {
  execute: { lane: 'execution', ...STORED },

  evaluate: { lane: 'background', ...COMPUTED },
  'verify-refusal': { lane: 'background', ...COMPUTED },
  'verify-audit-event': { lane: 'background', ...COMPUTED },
  'verify-record': { lane: 'background', ...COMPUTED },
  'issue-receipt': { lane: 'background', ...COMPUTED },
  replay: { lane: 'background', ...COMPUTED },
  // Each is long by itself, and compiles a document.
  simulate: { lane: 'background', countMax: 1, bytesMax: Infinity, ...ONE },
  'receive-webhook': { lane: 'background', ...STORED, ...ONE },
  'record-audit-event': { lane: 'background', ...STORED, ...ONE },
  'sweep-intents': { lane: 'background', ...COMPUTED, ...ONE },
  // Each has been waited for already: by whoever asked, not by a thread.
  'ask-connector': { lane: 'background', ...COMPUTED, ...ONE },
  'conclude-read-back': { lane: 'background', ...STORED, ...ONE },
  'sequence-log': { lane: 'background', ...COMPUTED, ...ONE },
  // Each takes a thread up to 0.2 s, in parts, or waits for the next checkpoint.
  'prove-complete': { lane: 'background', countMax: 1, bytesMax: Infinity, batchesMax: 2 },
  'add-checkpoint': { lane: 'background', ...COMPUTED, ...ONE },
  'process-webhooks': { lane: 'background', countMax: 1, bytesMax: Infinity, ...ONE },
  // Each reads a part of the feed and makes some signatures.
  'sign-events': { lane: 'background', countMax: 4, bytesMax: Infinity, ...ONE },

  'deliver-approval': { lane: 'administration', ...COMPUTED },
  'open-approval-request': { lane: 'background', ...COMPUTED },
  'close-approval-request': { lane: 'administration', ...COMPUTED },
  'propose-change': { lane: 'administration', ...COMPUTED, countMax: 1 },
  'resolve-change': { lane: 'administration', ...COMPUTED, countMax: 1 },
  'resolve-intent': { lane: 'administration', ...COMPUTED },
  'finalize-intent': { lane: 'administration', ...COMPUTED },
  'process-webhook-again': { lane: 'administration', ...COMPUTED },
  'manage-event-endpoint': { lane: 'administration', ...COMPUTED },
  'sign-session': { lane: 'administration', ...COMPUTED },
}

/** A larger body costs a thread milliseconds in single steps, which the small ones beside it would wait for. */
const LARGE_BODY_BYTES = 16 * KIB

export function laneOf(operation: Operation, bodyBytes: number): LaneName {
  return operation === 'execute' && bodyBytes > LARGE_BODY_BYTES
    ? 'large-execution'
    : operations[operation].lane
}
