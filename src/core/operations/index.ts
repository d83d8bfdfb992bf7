// The work of the worker threads, a row each: which of them does it, how much of it at once, and who pays. Executions share their
// threads with nothing else, so that no other work can delay one of their steps; what humans decide shares none with anybody's bulk work. A new operation is a row
// here, with a file of its own where the service gives it to its threads, and its handler in workers/handlers.ts.
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

/** The longest wait in a queue. Past it the request is answered 503: nothing was done. */
export const QUEUED_MS_MAX = 60_000

/** The service's own. */
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

/** Requests of clients: the body is theirs, and the reply goes to them. */
const ofClients = {
  execute: { price: 'execute limit', lane: 'execution', ...STORED },

  evaluate: { price: 'compute', lane: 'background', ...COMPUTED },
  'verify-refusal': { price: 'compute', lane: 'background', ...COMPUTED },
  'verify-audit-event': { price: 'compute', lane: 'background', ...COMPUTED },
  'verify-record': { price: 'compute', lane: 'background', ...COMPUTED },
  'issue-receipt': { price: 'compute', lane: 'background', ...COMPUTED },
  replay: { price: 'compute', lane: 'background', ...COMPUTED },
  // It compiles a document.
  simulate: { price: 'compute', lane: 'background', ...ALONE, ...ONE },
  'check-policy': { price: 'compute', lane: 'background', ...ALONE, ...ONE },
  'receive-webhook': { price: 'compute', lane: 'background', ...STORED, ...ONE },
  // Each takes a thread up to 0.2 s, in parts, or waits for the next checkpoint.
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
/** The request of an operation of the service's own. */
export type GivenOf<Name extends OwnOperation> =
  RowOf<Name> extends OwnWorkRow<infer Given, infer _> ? Given : never
/** The result of such an operation. */
export type ResultOf<Name extends OwnOperation> =
  RowOf<Name> extends OwnWorkRow<infer _, infer Result> ? Result : never

/** A larger body costs a thread milliseconds in single steps, which the small ones beside it would wait for. */
const LARGE_BODY_BYTES = 16 * 1024

export function laneOf(operation: Operation, bodyBytes: number): LaneName {
  return operation === 'execute' && bodyBytes > LARGE_BODY_BYTES
    ? 'large-execution'
    : operations[operation].lane
}
