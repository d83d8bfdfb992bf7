// Every cause of a 503. The log line of the reply names it (`gate`), and `countersign_replies_total` counts by it: an operator can tell
// a full memory, a slow client and an unreachable database apart.

/** The meaning of a 503 of each gate, and its remedy; the handbook's table "A 503 names its gate" is made from it. */
export const gates = {
  places: {
    means: 'As many requests are under way as QUEUE_REQUESTS_MAX allows.',
    remedy:
      'add instances, or raise `QUEUE_REQUESTS_MAX`; see what requests wait for (`countersign_queue_requests`)',
  },
  memory: {
    means: 'Bodies that have arrived and large replies that have not left fill their 64 MiB.',
    remedy: 'add instances; clients that send or read slowly hold it',
  },
  'client-share': {
    means: 'This caller or address holds its quarter of the places or of the 64 MiB.',
    remedy: 'that client sends fewer at once, or reads what it asked for',
  },
  'addresses-share': {
    means: 'Clients without a key hold their half of the places or of the 64 MiB.',
    remedy: 'nothing: callers with keys have the other half',
  },
  announced: {
    means:
      'Bodies that are announced and have not arrived hold what this client, or all clients, may announce.',
    remedy: 'that client sends the bodies that it announces',
  },
  exports: {
    means: 'As many replies stream as may, or this client streams its quarter of them.',
    remedy: 'that client reads its exports one after the other',
  },
  reads: {
    means: 'This client waited two seconds for its own other reads.',
    remedy: 'that client asks for less at once',
  },
  queue: {
    means: 'The request waited a minute for a worker thread.',
    remedy: 'add instances, or raise `WORKER_THREADS`',
  },
  claims: {
    means: 'The execution waited ten seconds for others that read the state which their policies verify.',
    remedy: 'see what the source of the state takes so long for',
  },
  'late-thread': {
    means: 'A worker thread was late, so that its time-outs ran out although the database had answered.',
    remedy: 'free CPU for the service: add instances, or fewer `WORKER_THREADS` than cores',
  },
  'log-heads': {
    means: 'The newest heads of the evidence log are not published yet.',
    remedy: 'see what `/ready` says of the log',
  },
  state: {
    means: 'A source of the state which the policy verifies does not answer.',
    remedy: 'bring the source back, such as the CRM',
  },
  database: {
    means: 'The database is away, or did not answer in time.',
    remedy: '[see below](#when-the-database-is-in-trouble)',
  },
  evidence: {
    means:
      'The database refuses to store evidence, or evidence of this instance does not verify, so nothing is executed.',
    remedy:
      '[repair it](#when-the-database-is-in-trouble), or [find out why](#evidence-that-does-not-verify); `/ready` says which',
  },
  'signing-key': {
    means: 'A key by which this instance signs is revoked, so nothing is executed.',
    remedy: '[rotate the keys](keeping.md#a-stolen-signing-key) and restart',
  },
  waiting: {
    means: 'GET /ready: executions wait for a thread, or the event loop is late.',
    remedy: 'add instances; the balancer sends callers elsewhere',
  },
  stopping: {
    means: 'GET /ready: the service is stopping.',
    remedy: 'nothing',
  },
} as const satisfies Record<string, { readonly means: string; readonly remedy: string }>

export type Gate = keyof typeof gates
export const gateNames = Object.keys(gates) as Gate[]

/** The gates of an overload, which more places, more threads or waiting would open. */
export type OverloadGate = Exclude<
  Gate,
  'state' | 'database' | 'evidence' | 'signing-key' | 'waiting' | 'stopping'
>
