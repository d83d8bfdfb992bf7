// The scenario `webhook` (decisions §10): deliveries at a fixed rate and at open throttle, each acknowledged, stored and processed once.
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { cpuBetween, cpuTimes, type CpuTimes } from './cpu.ts'
import { describeMachine, type Machine } from './machine.ts'
import { openProgram } from './program.ts'
import { startService, type MeasuredService, type ServiceOptions } from './service.ts'
import type { WebhookJob, WebhookLoad } from './webhook-load.ts'

export interface WebhookOptions extends ServiceOptions {
  /** Of each measurement. */
  readonly seconds: number
  /** Deliveries per second of the paced one. */
  readonly rate: number
  readonly connections: number
}

/** CPU is microseconds per delivery, its processing included. Undefined where the system does not tell. */
interface WebhookRun {
  readonly name: string
  readonly deliveries: number
  readonly perSecond: number
  /** Until all of them were processed. */
  readonly sustainedPerSecond: number
  readonly latencyMs: WebhookLoad['latencyMs']
  readonly backlog: Backlog
  readonly cpu: (CpuTimes & { readonly total: number }) | undefined
  readonly generatorMicros: number
}

interface Backlog {
  /** Deliveries that were stored and not processed, at the worst moment. */
  readonly max: number
  /** From a delivery's arrival until it was processed. */
  readonly lagMs: { readonly p50: number; readonly p99: number; readonly max: number }
  /** After the last reply, until nothing waited. */
  readonly drainSeconds: number
}

export interface WebhookReport {
  readonly scenario: 'webhook'
  readonly startedAt: string
  readonly machine: Machine
  readonly service: { readonly listener: string; readonly threads: number }
  readonly constants: Readonly<Record<string, number | string>>
  readonly runs: readonly WebhookRun[]
  readonly checked: { readonly deliveries: number }
}

const PROVIDER = 'razorpay'
const SECRET = 'whsec_of-the-bench-alone'
const WARM_UP_SECONDS = 3
const DRAIN_MS_MAX = 300_000
/** For the program to answer, on top of the time it measures. */
const GRACE_MS = 20_000

/** out  problems  what was not as it must be: with any of them the report is worth nothing */
export async function webhook(
  { seconds, rate, connections, ...options }: WebhookOptions,
  stack: AsyncDisposableStack,
): Promise<{ report: WebhookReport; problems: string[] }> {
  const startedAt = new Date().toISOString()
  const machine = describeMachine()
  const env = { [`${PROVIDER.toUpperCase()}_WEBHOOK_SECRET`]: SECRET }
  const service = await startService({ ...options, env }, stack)
  const client = new Client({ connectionString: service.databaseUrl })
  await client.connect()
  stack.defer(() => client.end())
  const program = stack.use(openProgram<WebhookJob, WebhookLoad>('webhook-load.ts'))
  const drive = (name: string, of: Pick<WebhookJob, 'seconds' | 'ratePerSecond'>) =>
    measure(name, { ...of, connections, service, client, program })

  const warmUp = { seconds: Math.min(WARM_UP_SECONDS, seconds), ratePerSecond: undefined }
  const measured = [
    await drive('warm-up', warmUp),
    await drive('fixed rate', { seconds, ratePerSecond: rate }),
    await drive('open throttle', { seconds, ratePerSecond: undefined }),
  ]
  const deliveries = measured.reduce((sum, run) => sum + run.deliveries, 0)
  const problems = await miscounted(client, deliveries)
  problems.push(...(await service.stop()))
  const report: WebhookReport = {
    scenario: 'webhook',
    startedAt,
    machine,
    service: { listener: service.listener, threads: service.threads },
    constants: { connections, 'seconds per measurement': seconds, 'deliveries per second': rate },
    runs: measured.slice(1),
    checked: { deliveries },
  }
  return { report, problems }
}

async function measure(
  name: string,
  {
    seconds,
    ratePerSecond,
    connections,
    service,
    client,
    program,
  }: Pick<WebhookJob, 'seconds' | 'ratePerSecond' | 'connections'> & {
    service: MeasuredService
    client: Client
    program: ReturnType<typeof openProgram<WebhookJob, WebhookLoad>>
  },
): Promise<WebhookRun> {
  const since = new Date()
  const from = cpuTimes(service.pids)
  const load = await program.run(
    { url: service.url, provider: PROVIDER, secret: SECRET, connections, seconds, ratePerSecond },
    { withinMs: seconds * 1000 + GRACE_MS },
  )
  const { 200: deliveries = 0, ...unexpected } = load.statuses
  for (const [status, count] of Object.entries(unexpected))
    throw new Error(`${count} deliveries were answered ${status}`)
  const endMs = performance.now()
  await drained(client)
  const drainSeconds = (performance.now() - endMs) / 1000
  const cpu = cpuBetween(from, cpuTimes(service.pids), deliveries)
  return {
    name,
    deliveries,
    perSecond: deliveries / load.seconds,
    sustainedPerSecond: deliveries / (load.seconds + drainSeconds),
    latencyMs: load.latencyMs,
    backlog: { ...(await backlog(client, since)), drainSeconds },
    cpu: cpu && { ...cpu, total: cpu.door + cpu.workers + cpu.helpers + cpu.postgres },
    generatorMicros: load.cpuMicros,
  }
}

async function drained(client: Client): Promise<void> {
  const deadlineMs = performance.now() + DRAIN_MS_MAX
  for (;;) {
    const { rowCount } = await client.query(`SELECT FROM pgboss.job WHERE name = 'webhook-events' LIMIT 1`)
    if (rowCount === 0) return
    if (performance.now() > deadlineMs)
      throw new Error(`deliveries wait ${DRAIN_MS_MAX / 1000} s after the last`)
    await sleep(50)
  }
}

/** From the times in the table: who looks while it happens is part of the load. */
async function backlog(client: Client, since: Date): Promise<Omit<Backlog, 'drainSeconds'>> {
  const { rows } = await client.query<{ max: number; p50: number; p99: number; worst: number }>(
    `WITH mine AS (
       SELECT received_at, processed_at, extract(epoch FROM processed_at - received_at)::float8 * 1000 AS lag
       FROM webhook_events WHERE received_at >= $1::timestamptz
     ), waiting AS (
       SELECT sum(change) OVER (ORDER BY at, change)::integer AS count
       FROM (SELECT received_at AS at, 1 AS change FROM mine UNION ALL SELECT processed_at, -1 FROM mine) AS changes
     )
     SELECT (SELECT max(count) FROM waiting) AS max, max(lag) AS worst,
       percentile_disc(0.5) WITHIN GROUP (ORDER BY lag) AS p50, percentile_disc(0.99) WITHIN GROUP (ORDER BY lag) AS p99
     FROM mine`,
    [since],
  )
  const [{ max, p50, p99, worst } = { max: 0, p50: 0, p99: 0, worst: 0 }] = rows
  return { max, lagMs: { p50, p99, max: worst } }
}

/** Acknowledged = stored = processed = audited, and no job is left, dead ones included. */
async function miscounted(client: Client, deliveries: number): Promise<string[]> {
  const { rows } = await client.query<{ what: string; count: number; must: number }>(
    `SELECT 'events are stored' AS what, count(*)::integer AS count, $1::integer AS must FROM webhook_events
     UNION ALL SELECT 'events are processed', count(*)::integer, $1 FROM webhook_events WHERE processed_at IS NOT NULL
     UNION ALL SELECT 'events are audited as processed', count(DISTINCT body::json -> 'detail' ->> 'eventId')::integer, $1
       FROM audit_events WHERE type = 'webhook.processed'
     UNION ALL SELECT 'audit events there are', count(*)::integer, $1 FROM audit_events
     UNION ALL SELECT 'jobs are left', count(*)::integer, 0 FROM pgboss.job WHERE name LIKE 'webhook%'`,
    [deliveries],
  )
  return rows
    .filter(({ count, must }) => count !== must)
    .map(({ what, count }) => `${count} ${what} of ${deliveries} deliveries answered 200`)
}

/** Text for the terminal. */
export function printedWebhook({ startedAt, machine, service, constants, runs, checked }: WebhookReport) {
  const head = 'run|deliveries|per s|sustained|p50 ms|p99 ms|max ms|backlog|lag p50|lag p99|lag max|drain s'
  const cpuHead = 'run|door|workers|helpers|postgres|total|generator'
  const rows = runs.map(
    ({
      name,
      deliveries,
      perSecond,
      sustainedPerSecond,
      latencyMs,
      backlog: { max, lagMs, drainSeconds },
    }) => [
      name,
      deliveries,
      perSecond.toFixed(0),
      sustainedPerSecond.toFixed(0),
      ...[latencyMs.p50, latencyMs.p99, latencyMs.max].map((ms) => ms.toFixed(1)),
      max,
      ...[lagMs.p50, lagMs.p99, lagMs.max].map((ms) => ms.toFixed(0)),
      drainSeconds.toFixed(1),
    ],
  )
  const cpuRows = runs.map(({ name, cpu, generatorMicros }) => [
    name,
    ...[cpu?.door, cpu?.workers, cpu?.helpers, cpu?.postgres, cpu?.total, generatorMicros].map(
      (micros) => micros?.toFixed(0) ?? 'n/a',
    ),
  ])
  return `countersign bench: webhook, ${startedAt}

machine    ${machine.cpu}, ${machine.cores} cores, ${machine.system}, fsync of 8 KiB p50 ${machine.fsyncMs.p50.toFixed(2)} ms
versions   commit ${machine.commit}, Node ${machine.node}
service    listener ${service.listener}, worker threads ${service.threads}
constants  ${Object.entries(constants)
    .map((constant) => constant.join(' '))
    .join(', ')}
checked    ${checked.deliveries} answered 200 = stored = processed = audited, no job left

Deliveries per second, and until the last was processed; latency of the reply; backlog in deliveries; lag from arrival to processed, in ms
${table([head.split('|'), ...rows])}

CPU microseconds per delivery, its processing included
${table([cpuHead.split('|'), ...cpuRows])}
`
}

function table(rows: readonly (readonly (string | number)[])[]): string {
  return rows
    .map(([name, ...cells]) => `${name}`.padEnd(14) + cells.map((cell) => `${cell}`.padStart(11)).join(''))
    .join('\n')
}
