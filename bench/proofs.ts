// The scenario `proofs`: what the evidence log costs and how soon it proves. It fills a log, reads proofs and bundles with and without
// executions beside, and compares what an execution leaves in PostgreSQL with a service that keeps no log.
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { verifyEvidence } from '../src/core/verifier/index.ts'
import { call } from './calls.ts'
import { figuresOf, openTimes, sum, type Round } from './figures.ts'
import { startReport, type Measurement, type Report } from './report.ts'
import type { RequestKind } from './request.ts'
import { openSession, type Run } from './run.ts'
import { say, type Measured, type Subject } from './scenario.ts'
import { executions } from './scenarios.ts'
import { startService } from './service.ts'

export interface ProofsOptions {
  /** Of each run. */
  readonly seconds: number
  /** Proofs, or bundles, per second. */
  readonly rate: number
  /** Executions per second while the log is filled: the delay until a checkpoint is measured then. */
  readonly fill: number
  /** Executions per second beside the reads. */
  readonly load: number
  readonly command: string
}

const CONNECTIONS = 64
const STORED_MAX = 5_000
const VERIFIED = 20
const POLL_EVERY_MS = 10
const REST_MS_MAX = 30_000

const kinds: readonly RequestKind[] = [
  { name: 'proof', method: 'GET', path: '/log/proofs/receipt/{{stored}}', status: 200 },
  { name: 'bundle', method: 'GET', path: '/trust-records/{{stored}}?bundle', status: 200 },
]
const execute = executions({})

export async function measureProofs(
  { seconds, rate, fill, load, command }: ProofsOptions,
  stack: AsyncDisposableStack,
): Promise<Measured<Report>> {
  const reported = startReport()
  const problems: string[] = []
  const options = { seconds, settle: undefined, errorShareMax: 0 }

  /** A service with as many executions as the other one, after a warm-up. */
  const filled = async (
    log: 'on' | 'off',
    filling: (subject: Own, run: () => Promise<Run>) => Promise<Run>,
  ) => {
    say(`proofs: fills a service with LOG=${log}`)
    const subject = await start(log, stack)
    const requests = { kinds: [execute], senders: subject.senders }
    const session = openSession(subject, requests, options, stack)
    await session.run('own', CONNECTIONS, at(fill))
    const run = await filling(subject, () => session.run('own', CONNECTIONS, at(fill)))
    return { subject, session, run }
  }
  const without = await filled('off', (_subject, run) => run())
  problems.push(...(await without.subject.own.service.stop()))
  const delays = openTimes()
  let bytesOfEach = Number.NaN
  const { subject, session, run } = await filled('on', async ({ own }, running) => {
    await atRest(own.database)
    const bytesBefore = await bytesAtRest(own.database)
    const checkpoints = await followCheckpoints(own.service.databaseUrl)
    const from = await executedCount(own.database)
    const ran = await running()
    await atRest(own.database)
    for (const ms of await checkpoints.delays(from)) delays.add(ms)
    bytesOfEach = ((await bytesAtRest(own.database)) - bytesBefore) / delays.count()
    return ran
  })
  const { database, service } = subject.own
  const log: Round = {
    'commit → checkpoint p50 ms': delays.ms(50),
    'commit → checkpoint p99 ms': delays.ms(99),
    'WAL B': run.figures['WAL B'],
    'WAL B without': without.run.figures['WAL B'],
    'log B at rest': bytesOfEach,
  }

  const { rows } = await database.query<{ id: string }>(
    `SELECT business_transaction_id AS id FROM trust_records ORDER BY random() LIMIT ${STORED_MAX}`,
  )
  const stored = rows.map(({ id }) => id)
  const bytes = await checkReads(subject, stored.slice(0, VERIFIED), problems)
  const senders = [{ key: subject.key, stored }]
  const measurements: Measurement[] = []
  let replies = without.run.counts.right + run.counts.right
  for (const kind of kinds) {
    const reading = openSession(subject, { kinds: [kind], senders }, options, stack)
    // Compiles, and fills caches: not counted.
    await reading.run('own', CONNECTIONS, at(rate))
    for (const beside of [0, load]) {
      say(`proofs: ${kind.name}s, with ${beside} executions per second beside`)
      const [read, executed] = await Promise.all([
        reading.run('own', CONNECTIONS, at(rate)),
        beside === 0 ? undefined : session.run('own', CONNECTIONS, at(beside)),
      ])
      replies += read.counts.right + (executed?.counts.right ?? 0)
      const label = `${kind.name}, ${beside === 0 ? 'alone' : `beside ${beside} executions/s`}`
      const figures = { ...latency(read), bytes: bytes[kind.name], 'others %': read.disturbance['others %'] }
      measurements.push({ label, figures: figuresOf([figures]) })
    }
  }
  problems.push(...(await service.stop()))
  const { listener, threads } = service
  const scenario = {
    name: 'proofs',
    description:
      'GET /log/proofs/receipt/{id} and bundles at a fixed rate, and what the log costs an execution',
    service: { listener, threads },
    labels: 'reads',
    measurements,
    further: {
      'The log, of each execution': [{ label: `at ${fill} executions/s`, figures: figuresOf([log]) }],
    },
    checked: { replies, verifiedOffline: VERIFIED },
  }
  const constants = {
    'reads per second': rate,
    'seconds of a run': seconds,
    'executions before': delays.count(),
  }
  const report = reported({
    subject: 'a fresh service on this machine',
    command,
    constants,
    scenarios: [scenario],
  })
  return { report, problems }
}

const at = (perSecond: number) => [{ from: perSecond, to: perSecond }]

type Own = Subject & { readonly own: NonNullable<Subject['own']> }

async function start(log: 'on' | 'off', stack: AsyncDisposableStack): Promise<Own> {
  const service = await startService({ env: { LOG: log } }, stack)
  const database = await connected(service.databaseUrl)
  stack.defer(() => database.end())
  const { url, key } = service
  const senders = [{ key, stored: [] }]
  return { url, key, senders, slowsDown: false, transaction: {}, own: { service, database } }
}

async function connected(databaseUrl: string): Promise<Client> {
  const client = new Client({ connectionString: databaseUrl })
  await client.connect()
  return client
}

const latency = ({ load }: Run): Round =>
  Object.fromEntries(
    [50, 99].map((percent) => [`p${percent} ms`, load.latency.find((one) => one.percent === percent)?.ms]),
  )

async function executedCount(database: Client): Promise<number> {
  const { rows } = await database.query<{ count: number }>('SELECT count(*)::integer AS count FROM receipts')
  return rows[0]!.count
}

/** Until a checkpoint covers all that is committed. @throws Error after 30 seconds */
async function atRest(database: Client): Promise<void> {
  const untilMs = performance.now() + REST_MS_MAX
  while (performance.now() < untilMs) {
    const { rows } = await database.query<{ rests: boolean }>(
      `SELECT NOT EXISTS (SELECT FROM log_queue) AND checkpoint_size = (SELECT max(size) FROM log_checkpoints)
         AND NOT EXISTS (SELECT FROM log_batches WHERE start >= checkpoint_size) AS rests FROM log_state`,
    )
    if (rows[0]?.rests === true) return
    await sleep(POLL_EVERY_MS)
  }
  throw new Error(`the log did not come to rest in ${REST_MS_MAX / 1000} seconds`)
}

/** Notes when each checkpoint can first be seen: of those that are stored only one a minute stays. */
async function followCheckpoints(databaseUrl: string) {
  const database = await connected(databaseUrl)
  const seen: { size: number; atMs: number }[] = []
  const over = new AbortController()
  async function look(): Promise<void> {
    const { rows } = await database.query<{ size: string }>('SELECT max(size) AS size FROM log_checkpoints')
    const size = Number(rows[0]?.size ?? 0)
    if (size !== (seen.at(-1)?.size ?? 0)) seen.push({ size, atMs: Date.now() })
  }
  const following = (async () => {
    while (!over.signal.aborted) {
      await look()
      await sleep(POLL_EVERY_MS)
    }
  })()
  return {
    /** Of each receipt but the first `from`: milliseconds from when it was issued, a little before its commit, until a checkpoint covered it. */
    async delays(from: number): Promise<number[]> {
      over.abort()
      await following
      // The last one may have come since.
      await look()
      const { rows } = await database.query<{ index: string; at: string }>(
        `SELECT b.start + r.log_ordinal AS index, r.body::json ->> 'issuedAt' AS at
         FROM receipts AS r JOIN log_batches AS b ON b.batch = r.log_batch ORDER BY 1 OFFSET $1`,
        [from],
      )
      await database.end()
      return rows.map(({ index, at: issuedAt }) => {
        const covering = seen.find(({ size }) => size > Number(index))
        if (covering === undefined) throw new Error(`no checkpoint covered entry ${index}`)
        return covering.atMs - Date.parse(issuedAt)
      })
    },
  }
}

/** Of all tables of the log but its queue, whose rows are gone. Empty ones, with their indexes and maps, have a megabyte: only differences mean something. */
async function bytesAtRest(database: Client): Promise<number> {
  const tables = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE 'log\\_%' AND relname <> 'log_queue'`,
  )
  const names = tables.rows.map(({ name }) => name)
  await database.query(`VACUUM ${names.join(', ')}`)
  const { rows } = await database.query<{ bytes: number }>(
    'SELECT sum(pg_total_relation_size(name::regclass))::float8 AS bytes FROM unnest($1::text[]) AS name',
    [names],
  )
  return rows[0]!.bytes
}

/** Reads some of each kind and verifies the bundles offline. @returns mean bytes by kind */
async function checkReads(
  subject: Subject,
  ids: readonly string[],
  problems: string[],
): Promise<Readonly<Record<string, number>>> {
  const { text: keySet } = await call(subject, 'GET /.well-known/jwks.json')
  const { text: description } = await call(subject, 'GET /.well-known/countersign-log')
  const lengths: Record<string, number[]> = {}
  for (const id of ids)
    for (const { name, path } of kinds) {
      const { text } = await call(subject, `GET ${path.replace('{{stored}}', id)}`)
      ;(lengths[name] ??= []).push(text.length)
      if (name !== 'bundle') continue
      const { checks } = verifyEvidence(text, keySet, { log: description })
      for (const { name: check, problem } of checks)
        if (problem !== undefined) problems.push(`bundle ${id}: ${check}: ${problem}`)
    }
  return Object.fromEntries(Object.entries(lengths).map(([name, all]) => [name, sum(all) / all.length]))
}
