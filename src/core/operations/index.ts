// The operations of the worker threads, one row each: lane, batch size and price. Executions share their threads with nothing else, so that no
// other work can delay one of their steps; humans' decisions never share threads with bulk work. A new operation is a row here, a file of its
// own if the service itself gives it to its threads, and a handler in workers/handlers.ts.
import {
  ALONE,
  COMPUTED,
  ONE,
  STORED,
  type LaneName,
  type OperationRow,
  type OwnWorkRow,
} from './operation.ts'
import { fillCatalogue } from './fill-catalogue.ts'
import { keepLoginPasskey } from './keep-login-passkey.ts'
import { processWebhooks } from './process-webhooks.ts'
import { askConnector, concludeReadBack } from './read-back.ts'
import { recordAuditEvent } from './record-audit-event.ts'
import { sequenceLog } from './sequence-log.ts'
import { signEvents } from './sign-events.ts'
import { signSession } from './sign-session.ts'
import { sweepIntents } from './sweep-intents.ts'

export type { Cost, LaneName, Price } from './operation.ts'

/** The longest wait in a queue. After it the request is answered 503: nothing was done. */
export const QUEUED_MS_MAX = 60_000

/** Operations that the service itself starts. */
const own = {
  'record-audit-event': recordAuditEvent,
  'sweep-intents': sweepIntents,
  'ask-connector': askConnector,
  'conclude-read-back': concludeReadBack,
  'sequence-log': sequenceLog,
  'process-webhooks': processWebhooks,
  'sign-events': signEvents,
  'sign-session': signSession,
  'keep-login-passkey': keepLoginPasskey,
  'fill-catalogue': fillCatalogue,
}

/** Operations that clients request: the body comes from the client, and the reply goes to it. */
const ofClients = {
  execute: { price: 'execute limit', lane: 'execution', ...STORED },

  evaluate: { price: 'compute', lane: 'background', ...COMPUTED },
  'verify-refusal': { price: 'compute', lane: 'background', ...COMPUTED },
  'verify-audit-event': { price: 'compute', lane: 'background', ...COMPUTED },
  'verify-record': { price: 'compute', lane: 'background', ...COMPUTED },
  'issue-receipt': { price: 'compute', lane: 'background', ...COMPUTED },
  replay: { price: 'compute', lane: 'background', ...COMPUTED },
  // These compile a document.
  simulate: { price: 'compute', lane: 'background', ...ALONE, ...ONE },
  'check-policy': { price: 'compute', lane: 'background', ...ALONE, ...ONE },
  'receive-webhook': { price: 'compute', lane: 'background', ...STORED, ...ONE },
  // Each takes up to 0.2 s of a thread, in parts, or waits for the next checkpoint.
  'prove-complete': { price: 'compute', lane: 'background', ...ALONE, batchesMax: 2 },
  'add-checkpoint': { price: 'compute', lane: 'background', ...COMPUTED, ...ONE },
  'open-approval-request': { price: 'compute', lane: 'background', ...COMPUTED },

  'deliver-approval': { price: 'compute', lane: 'administration', ...COMPUTED },
  'judge-approval-request': { price: 'administration', lane: 'administration', ...COMPUTED },
  'note-approval-request': { price: 'administration', lane: 'administration', ...COMPUTED },
  'close-approval-request': { price: 'administration', lane: 'administration', ...COMPUTED },
  // It compiles the document of an open change.
  'show-change': { price: 'administration', lane: 'administration', ...COMPUTED },
  'propose-change': { price: 'administration', lane: 'administration', ...COMPUTED, countMax: 1 },
  'resolve-change': { price: 'administration', lane: 'administration', ...COMPUTED, countMax: 1 },
  'resolve-intent': { price: 'administration', lane: 'administration', ...COMPUTED },
  'finalize-intent': { price: 'administration', lane: 'administration', ...COMPUTED },
  'process-webhook-again': { price: 'administration', lane: 'administration', ...COMPUTED },
  'manage-event-endpoint': { price: 'administration', lane: 'administration', ...COMPUTED },
} as const satisfies Readonly<Record<string, OperationRow>>

export type OwnOperation = keyof typeof own
export type Operation = OwnOperation | keyof typeof ofClients

export const operations: Readonly<Record<Operation, OperationRow>> = { ...own, ...ofClients }

type RowOf<Name extends OwnOperation> = (typeof own)[Name]
/** The request of an operation that the service itself starts. */
export type GivenOf<Name extends OwnOperation> =
  RowOf<Name> extends OwnWorkRow<infer Given, infer _> ? Given : never
/** The result of such an operation. */
export type ResultOf<Name extends OwnOperation> =
  RowOf<Name> extends OwnWorkRow<infer _, infer Result> ? Result : never

/** A larger body costs a thread milliseconds in single steps, and small bodies in its batch would have to wait. */
const LARGE_BODY_BYTES = 16 * 1024

export function laneOf(operation: Operation, bodyBytes: number): LaneName {
  return operation === 'execute' && bodyBytes > LARGE_BODY_BYTES
    ? 'large-execution'
    : operations[operation].lane
}
