// Every place that answers 503. The log line of the reply names it (`gate`), and `countersign_replies_total` counts by it: at night that is
// the difference between a full memory, a slow client and a database that is away.

/** The sentence about the service for a 503 of each gate. docs/handbook/operating.md "A 503" has the same sentences, and what to do. */
export const gates = {
  places: 'As many requests are under way as QUEUE_REQUESTS_MAX allows.',
  memory: 'Bodies that have arrived and large replies that have not left fill their 64 MiB.',
  'client-share': 'This caller or address holds its quarter of the places or of the 64 MiB.',
  'addresses-share': 'Clients without a key hold their half of the places or of the 64 MiB.',
  announced:
    'Bodies that are announced and have not arrived hold what this client, or all clients, may announce.',
  exports: 'As many replies stream as may, or this client streams its quarter of them.',
  reads: 'This client waited two seconds for its own other reads.',
  queue: 'The request waited a minute for a worker thread.',
  claims: 'The execution waited ten seconds for others that read the state which their policies verify.',
  'late-thread':
    'A worker thread was late, so that its time-outs ran out although the database had answered.',
  'log-heads': 'The newest heads of the evidence log are not published yet.',
  state: 'A source of the state which the policy verifies does not answer.',
  database: 'The database is away, or did not answer in time.',
  evidence: 'The database refuses to store evidence, so nothing is executed.',
  'signing-key': 'A key by which this instance signs is revoked, so nothing is executed.',
  waiting: 'GET /ready: executions wait for a thread, or the event loop is late.',
  stopping: 'GET /ready: the service is stopping.',
} as const

export type Gate = keyof typeof gates
export const gateNames = Object.keys(gates) as Gate[]

/** The gates of an overload, which more places, threads or patience would open. */
export type OverloadGate = Exclude<
  Gate,
  'state' | 'database' | 'evidence' | 'signing-key' | 'waiting' | 'stopping'
>
