// The gates: one table of all bounds on a client's use of an instance. `open.ts` has the functions by which a request passes them. The table
// "Who may use how much" in the handbook is made from the rows (`npm run ledgers`).
import type { Config } from '../../../core/config/config.ts'
import type { OverloadGate } from '../../../core/errors/gates.ts'
import { FAILED_SHARE } from '../../../core/callers/signature-checks.ts'
import { LATE_MS } from '../../../core/threads/lateness.ts'
import { LOGIN_CHALLENGES_MAX } from '../../../store/tables/login-passkeys.ts'
import { QUEUED_MS_MAX, type Cost } from '../../../core/operations/index.ts'

const MIB = 1024 * 1024

/** The numbers that no setting changes. */
export const bounds = {
  /** Unanswered requests of a connection. Node hands over all requests of one read, a thousand of them or more. */
  pipelined: 16,
  /** A request takes 0.1 to 0.2 ms; 48 of them at once would hold up each of the three steps of an execution by 7 ms. */
  addressRequestsPerTurn: 4,
  /** A smaller body of any client is read and thrown away, which costs no more than another connection. */
  smallBodyBytes: MIB / 8,
  /** Reading the large bodies of one address takes the main thread at most this part of its time. */
  addressReadShare: 5,
  /** A client without a key has this part of the thread time of a caller. */
  addressBudgetShare: 5,
  /** Bytes of announced bodies; and of arrived bodies, together with large replies that have not left. */
  memoryBytes: 64 * MIB,
  /** A smaller reply is left to the sockets' own buffers. */
  largeReplyBytes: MIB / 16,
  /** One client may hold this part of the places and of the bytes. */
  clientShare: 4,
  /** Anybody can have many addresses: together they hold at most this part, so that callers always have the rest. */
  addressesShare: 2,
  /** Replies that stream at once. Each holds a page in memory while its client reads it. */
  streams: 8,
  /** Connections that one client reads by: one of the four is always left to the others. */
  clientReads: 3,
  /** Matches the pool's connection timeout (`openPool`). */
  readWaitMs: 2_000,
  /** Requests that wait for an event, and requests that wait for an approval request to change. */
  eventWaits: 10_000,
  approvalRequestWaits: 1_000,
  /** A caller may name another capability at each denial, so its events are bounded: as many as its executions by default. */
  auditPerCaller: 600,
  /** Bad keys from a million addresses write no more events than this. */
  auditWithoutKey: 6_000,
  /** A longer wait of executions for a thread shows that more come than are served. */
  executionWaitMs: 2_000,
} as const

/** One row: the counted quantity, its bound, and the reply beyond the bound. */
interface Throttle {
  readonly counts: string
  readonly whom: string
  readonly bound: string
  readonly beyond: 429 | 503 | string
}

/** A row that counts requests for each minute. */
interface Rate extends Throttle {
  readonly beyond: 429
  readonly perMinute: (limits: Config['rateLimits']) => number
}

/** Rate limits that count requests: POST /execute and POST /transactions share one, GET /health and GET /ready another (decisions §1). */
export const limits = {
  execute: {
    counts: 'requests to `POST /execute` and `POST /transactions`',
    whom: 'a caller, on all instances',
    bound: '`RATE_LIMIT_EXECUTE_PER_MINUTE`',
    beyond: 429,
    perMinute: ({ executePerMinute }) => executePerMinute,
  },
  health: {
    counts: 'requests to `GET /health` and `GET /ready`',
    whom: 'an address, on all instances',
    bound: '`RATE_LIMIT_HEALTH_PER_MINUTE`',
    beyond: 429,
    perMinute: ({ healthPerMinute }) => healthPerMinute,
  },
  public: {
    counts: 'requests to the other open routes',
    whom: 'an address, on all instances',
    bound: '`RATE_LIMIT_PUBLIC_PER_MINUTE`',
    beyond: 429,
    perMinute: ({ publicPerMinute }) => publicPerMinute,
  },
} as const satisfies Record<string, Rate>

/** Budgets of thread time, checked when a request's head has arrived and again when a thread is free for it. */
const budgets = {
  compute: {
    counts: 'milliseconds of thread time for whatever neither executes nor governs, and for replies',
    whom: `a caller; an address has a ${part(bounds.addressBudgetShare)} of it`,
    bound: '`RATE_LIMIT_COMPUTE_MS_PER_MINUTE`',
    beyond: 429,
  },
  administration: {
    counts:
      'milliseconds of thread time for proposing, deciding and withdrawing, and for reading changes and requests',
    whom: 'a caller',
    bound: '`RATE_LIMIT_COMPUTE_MS_PER_MINUTE`',
    beyond: 429,
  },
} as const satisfies Record<Cost, Throttle>

export type LimitName = keyof typeof limits

/** The gates of a 503, except those of the worker threads. */
type BoundGate = Exclude<OverloadGate, 'claims' | 'late-thread' | 'log-heads'> | 'waiting'

type Throttles = Readonly<Record<string, Throttle>> &
  Readonly<Record<BoundGate, Throttle & { readonly beyond: 503 }>>

/**
 * Every throttle of the front end, in the order in which a request meets them; a row that answers 503 has the name of its gate. The threads
 * hold work back by themselves: batches (src/server/dispatch/batches.ts), places for verified state (workers/execute/prove), pending evidence.
 */
export const throttles: Throttles = {
  pipelined: {
    counts: 'requests that are sent ahead and unanswered (on `node:http`)',
    whom: 'a connection',
    bound: String(bounds.pipelined),
    beyond: 'the connection ends',
  },
  'event loop': {
    counts: 'requests without a key that go on in one turn of the event loop',
    whom: 'an address',
    bound: String(bounds.addressRequestsPerTurn),
    beyond: 'they wait for the next turn',
  },
  signatures: {
    counts: 'signatures of tokens that are new, and of proofs, that are checked',
    whom: 'an address',
    bound: `one at a time; of those that do not hold, a ${part(FAILED_SHARE)} of a thread’s time`,
    beyond: 'the next one waits',
  },
  ...limits,
  ...budgets,
  'approval requests': {
    counts: 'approval requests that are opened',
    whom: 'a caller, on all instances',
    bound: '`APPROVAL_REQUESTS_PER_HOUR`',
    beyond: 429,
  },
  'login challenges': {
    counts: 'challenges that the login page asked for and that are not answered yet',
    whom: 'all addresses together, on all instances',
    bound: `${LOGIN_CHALLENGES_MAX}, each for two minutes`,
    beyond: 429,
  },
  redeliveries: {
    counts: 'redeliveries of an event endpoint',
    whom: 'the endpoint, for all humans, on all instances',
    bound: 'one at a time, and one a minute',
    beyond: 429,
  },
  announced: {
    counts: 'bodies that are announced and have not arrived',
    whom: `a client: a ${part(bounds.clientShare)} of \`QUEUE_REQUESTS_MAX\` and of the bytes; all addresses: ${part(bounds.addressesShare)} of the bytes`,
    bound: inMib(bounds.memoryBytes),
    beyond: 503,
  },
  'large bodies': {
    counts: `bodies over ${inKib(bounds.smallBodyBytes)} that are read`,
    whom: 'an address',
    bound: `one at a time, a ${part(bounds.addressReadShare)} of the main thread’s time`,
    beyond: 'the next one waits',
  },
  places: {
    counts: 'requests from the end of their body to their reply',
    whom: 'all clients',
    bound: '`QUEUE_REQUESTS_MAX`',
    beyond: 503,
  },
  memory: {
    counts: `bytes of their bodies, and of replies of ${inKib(bounds.largeReplyBytes)} or more until they have left`,
    whom: 'all clients',
    bound: inMib(bounds.memoryBytes),
    beyond: 503,
  },
  'client-share': {
    counts: 'both',
    whom: 'a client',
    bound: `a ${part(bounds.clientShare)} of each`,
    beyond: 503,
  },
  'addresses-share': {
    counts: 'both',
    whom: 'all addresses together',
    bound: `${part(bounds.addressesShare)} of each`,
    beyond: 503,
  },
  exports: {
    counts: 'replies that stream',
    whom: `all clients; a client has a ${part(bounds.clientShare)} of them, all addresses ${part(bounds.addressesShare)}`,
    bound: String(bounds.streams),
    beyond: 503,
  },
  reads: {
    counts: 'database connections that read for `GET` requests',
    whom: 'a client',
    bound: `${bounds.clientReads} of 4`,
    beyond: 503,
  },
  'waits for events': {
    counts: 'requests that wait for an event',
    whom: `all clients; a client has a ${part(bounds.clientShare)} of them`,
    bound: count(bounds.eventWaits),
    beyond: 'they are answered without waiting',
  },
  'waits for approval requests': {
    counts: 'requests that wait for an approval request to change',
    whom: `all clients; a client has a ${part(bounds.clientShare)} of them`,
    bound: count(bounds.approvalRequestWaits),
    beyond: 'they are answered without waiting',
  },
  queue: {
    counts: 'time in the queue of the worker threads, which serves its clients in turn',
    whom: 'a request',
    bound: inSeconds(QUEUED_MS_MAX),
    beyond: 503,
  },
  waiting: {
    counts: 'time that an execution waits for a thread, and that the event loop is late',
    whom: 'an instance',
    bound: `${inSeconds(bounds.executionWaitMs)}, and ${inSeconds(LATE_MS)}`,
    beyond: 503,
  },
  'audit caller': {
    counts: 'audit events, where refusals that are alike are one for each minute',
    whom: 'a caller',
    bound: `${bounds.auditPerCaller} per minute`,
    beyond: 'they are counted, and the next event says how many they were',
  },
  'audit without key': {
    counts: 'the same',
    whom: 'all addresses together',
    bound: `${count(bounds.auditWithoutKey)} per minute`,
    beyond: 'the same',
  },
}

/** The names of 429 limits in the metrics. */
export const limitNames: readonly string[] = Object.entries(throttles).flatMap(([name, { beyond }]) =>
  beyond === 429 ? [name] : [],
)

function part(parts: 2 | 4 | 5): string {
  return { 2: 'half', 4: 'quarter', 5: 'fifth' }[parts]
}

function count(number: number): string {
  return number.toLocaleString('en-US')
}

function inMib(bytes: number): string {
  return `${bytes / MIB} MiB`
}

function inKib(bytes: number): string {
  return `${bytes / 1024} KiB`
}

function inSeconds(ms: number): string {
  return `${ms / 1_000} s`
}
