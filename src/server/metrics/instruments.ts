// Every metric of the service: its name, its labels, its meaning. docs/handbook/operating.md "What to watch" lists the same, and a
// test compares them. The service chooses the values of labels: none is a caller, an id or a path that a client wrote.
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'

/** Buckets of a request, seconds: from a read of memory to a connector's time-out. */
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
/** Buckets of a stage: most stages are shorter than a millisecond, those with a commit are not. */
const STAGE_SECONDS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 10]
/** Powers of two up to the largest batch. */
const BATCH_REQUESTS = [1, 2, 4, 8, 16, 32, 64, 128]

export type Instruments = ReturnType<typeof openInstruments>

export function openInstruments() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  // These gauges have the suffix of counters, which `promtool check metrics` refuses; their sums are the metrics without the suffix.
  for (const kind of ['handles', 'requests', 'resources'])
    registry.removeSingleMetric(`nodejs_active_${kind}_total`)
  const make = makersOf(registry)
  return {
    registry,
    build: make.gauge('build_info', 'Always 1; its labels name the version and the build.', [
      'version',
      'node',
      'listener',
    ]),
    ...requestMetrics(make),
    ...batchMetrics(make),
    ...databaseMetrics(make),
    ...threadMetrics(make),
    ...logMetrics(make),
    ...eventMetrics(make),
  }
}

type Makers = ReturnType<typeof makersOf>

/** Functions that make a metric of the service from its name without the prefix, its help and its labels. */
function makersOf(registry: Registry) {
  const registers = [registry]
  const named = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) => ({
    name: `countersign_${name}`,
    help,
    labelNames,
    registers,
  })
  return {
    counter: <const Label extends string>(name: string, help: string, labels: readonly Label[]) =>
      new Counter(named(name, help, labels)),
    gauge: <const Label extends string>(name: string, help: string, labels: readonly Label[] = []) =>
      new Gauge(named(name, help, labels)),
    histogram: <const Label extends string>(
      name: string,
      help: string,
      labels: readonly Label[],
      buckets: number[],
    ) => new Histogram({ ...named(name, help, labels), buckets }),
  }
}

function requestMetrics({ counter, gauge, histogram }: Makers) {
  return {
    requests: counter('http_requests_total', 'Requests answered.', ['method', 'route', 'status']),
    requestSeconds: histogram(
      'http_request_duration_seconds',
      'From the head of a request to its reply.',
      ['method', 'route'],
      REQUEST_SECONDS,
    ),
    inFlight: gauge(
      'http_requests_in_flight',
      'Requests whose body is complete and that are not answered yet.',
    ),
    inFlightMax: gauge(
      'http_requests_in_flight_max',
      'Maximum of http_requests_in_flight: QUEUE_REQUESTS_MAX.',
    ),
    inFlightBytes: gauge(
      'http_in_flight_bytes',
      'Bytes of the bodies of requests in flight, and of large replies that are not sent yet.',
    ),
    bodiesAnnounced: gauge('http_bodies_announced', 'Requests whose body is announced and not complete.'),
    dropped: counter('connections_dropped_total', 'Connections ended for a head that the listener refuses.', [
      'reason',
    ]),
    limited: counter('rate_limit_refusals_total', 'Requests answered 429.', ['limit']),
    gated: counter('replies_total', 'Requests answered 503, by the gate that refused them.', ['gate']),
    audited: counter(
      'audit_events_total',
      'Refusals that the audit records; written says whether as an event of its own or only counted.',
      ['type', 'written'],
    ),
    deliveries: counter('webhook_deliveries_total', 'Deliveries of providers.', ['provider', 'outcome']),
    confirmations: counter(
      'confirmations_total',
      'Deliveries of providers that were processed by their rules.',
      ['provider', 'says', 'outcome'],
    ),
    notifications: counter(
      'notifications_total',
      'Attempts to tell approvers of an approval request, by how they ended.',
      ['outcome'],
    ),
    readBacks: counter(
      'read_backs_total',
      'Questions to external connectors about executions in doubt, by outcome.',
      ['outcome'],
    ),
  }
}

function batchMetrics({ counter, gauge, histogram }: Makers) {
  return {
    queued: gauge('queue_requests', 'Requests that wait for a worker thread.', ['operation']),
    queueSeconds: histogram(
      'queue_wait_seconds',
      'How long the first request of a batch waited for its thread.',
      ['operation'],
      STAGE_SECONDS,
    ),
    batchRequests: histogram('batch_requests', 'Requests of a batch.', ['operation'], BATCH_REQUESTS),
    batchSeconds: histogram(
      'batch_duration_seconds',
      'How long a thread had a batch.',
      ['operation'],
      REQUEST_SECONDS,
    ),
    batchesRunning: gauge('batches_running', 'Batches that threads have.', ['operation']),
    stageSeconds: histogram(
      'stage_duration_seconds',
      'How long a batch of executions was in a stage of the pipeline; deferred: how long a deferred execution waited outside its batch.',
      ['stage'],
      STAGE_SECONDS,
    ),
    decisions: counter('policy_decisions_total', 'Decisions of policies about executions.', [
      'policy',
      'outcome',
    ]),
  }
}

function databaseMetrics({ gauge }: Makers) {
  return {
    pendingEvidence: gauge('evidence_owed', 'Executions whose evidence waits in memory for the database.'),
    refused: gauge(
      'evidence_refused',
      '1 while no execution is admitted, because the database refuses evidence or evidence of this instance does not verify.',
    ),
    inDoubt: gauge('executions_in_doubt', 'Executions that a human has to close; absent while not known.'),
    approvalRequests: gauge(
      'approval_requests_open',
      'Approval requests that are neither used, closed nor expired; absent while not known.',
    ),
    databaseUp: gauge('database_up', '1 where the database answered a query in time.'),
    logEntries: gauge(
      'log_entries',
      'Entries of the newest evidence log; this and the other metrics of the log are absent while unknown.',
    ),
    logFrozen: gauge(
      'log_frozen',
      '1 where the newest evidence log is frozen: nothing is appended or signed.',
    ),
    logQueueSeconds: gauge(
      'log_queue_age_seconds',
      'How long the oldest commit waits for its place in the evidence log.',
    ),
    logCheckpointSeconds: gauge(
      'log_checkpoint_age_seconds',
      'How long ago the newest checkpoint of the evidence log was signed.',
    ),
    poolConnections: gauge('database_pool_connections', 'Connections to the database.', [
      'pool',
      'thread',
      'state',
    ]),
    poolWaiting: gauge('database_pool_waiting', 'Requests that wait for a connection.', ['pool', 'thread']),
  }
}

function logMetrics({ gauge }: Makers) {
  return {
    witnessAge: gauge(
      'log_witness_checkpoint_age_seconds',
      'How long ago the newest checkpoint was published that a witness has cosigned; absent while it has cosigned none.',
      ['witness'],
    ),
  }
}

function eventMetrics({ counter, gauge }: Makers) {
  return {
    eventDeliveries: counter('event_deliveries_total', 'Attempts to deliver an event to an endpoint.', [
      'outcome',
    ]),
    eventEndpoints: gauge(
      'event_endpoints',
      'Event endpoints in effect: delivering, failing (tried again) or disabled; absent while not known.',
      ['state'],
    ),
  }
}

function threadMetrics({ gauge }: Makers) {
  return {
    threads: gauge('worker_threads', 'Worker threads that answered this scrape.'),
    threadsConfigured: gauge(
      'worker_threads_configured',
      'Configured number of threads: WORKER_THREADS and the threads for other work.',
    ),
    loopLag: gauge(
      'event_loop_lag_seconds',
      'How late the event loop ran since the last scrape; percentile 100 is the worst.',
      ['thread', 'percentile'],
    ),
    loopUtilization: gauge(
      'event_loop_utilization_ratio',
      'The part of the time since the last scrape in which the event loop was at work.',
      ['thread'],
    ),
  }
}
