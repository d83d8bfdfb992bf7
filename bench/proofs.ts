// The scenario `proofs`: what the evidence log costs and how soon it proves. It fills a log, reads proofs and bundles with and without
// executions beside, and compares what an execution leaves in PostgreSQL with a service that keeps no log.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { verifyEvidence } from '../src/formats/verifier/index.ts'
import { call } from './calls.ts'
import { figuresOf, openTimes, sum, type Round } from './figures.ts'
import { FRESH, startReport, type Measurement, type Report } from './report.ts'
import type { RequestKind } from './request.ts'
import { latencyOf, openSession, type Run } from './run.ts'
import { say, type Measured, type Subject } from './scenario.ts'
import { executions } from './scenarios.ts'
import { connect } from './service.ts'
import { startSubject } from './subject.ts'

export interface ProofsOptions {
  /** Each run takes so long. */
  readonly seconds: number
  /** Each load has so many rounds, on both services; one more where it is odd. */
  readonly rounds: number
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
/** Each of them is verified this often, because the first verifications run code that is not compiled yet. */
const VERIFICATIONS = 10
const POLL_EVERY_MS = 10
const REST_MS_MAX = 30_000

const kinds: readonly RequestKind[] = [
  { name: 'proof', method: 'GET', path: '/log/proofs/receipt/{{stored}}', status: 200 },
  { name: 'bundle', method: 'GET', path: '/trust-records/{{stored}}?bundle', status: 200 },
]

/**
 * @param stack takes what has to be undone
 * @throws Error with a sentence at the first reply that is not what it must be
 */
export async function measureProofs(
  options: ProofsOptions,
  stack: AsyncDisposableStack,
): Promise<Measured<Report>> {
  const reported = startReport()
  const { seconds, rate, fill, command } = options
  const sides = { off: await startWarm('off', options, stack), on: await startWarm('on', options, stack) }
  const loads: readonly Load[] = [
    { label: '1 connection', connections: 1 },
    { label: `at ${fill} executions/s`, connections: CONNECTIONS, perSecond: fill },
    // Commits of twenty executions and more, as a busy service has them.
    { label: '256 connections', connections: 256 },
  ]
  const costs: Cost[] = []
  for (const load of loads) costs.push(await measureCost(load, sides, options.rounds))
  const problems = await sides.off.subject.own.service.stop()
  const { service, database } = sides.on.subject.own
  const reads = await measureReads(sides.on, await someStored(database), options, stack)
  problems.push(...reads.problems, ...(await service.stop()))

  const runs = [...costs.flatMap((cost) => cost.runs), ...reads.runs]
  const scenario = {
    name: 'proofs',
    description:
      'GET /log/proofs/receipt/{id} and bundles at a fixed rate, and what the log costs an execution',
    service: service.about,
    labels: 'reads',
    measurements: reads.measurements,
    further: { 'The log, of each execution': costs.map(({ measurement }) => measurement) },
    checked: { replies: sum(runs.map(({ counts }) => counts.right)), verifiedOffline: VERIFIED },
  }
  const constants = {
    'reads per second': rate,
    'seconds of a run': seconds,
    'executions before': sum(costs.map(({ logged }) => logged)),
  }
  return { report: reported({ subject: FRESH, command, constants, scenarios: [scenario] }), problems }
}

interface Load {
  readonly label: string
  readonly connections: number
  /** Undefined: open throttle. */
  readonly perSecond?: number
}

/** Runs of one kind of request on one subject. */
type RunWith = (load: Pick<Load, 'connections' | 'perSecond'>) => Promise<Run>

function openRuns(
  subject: Subject,
  kind: RequestKind,
  { seconds }: ProofsOptions,
  stack: AsyncDisposableStack,
): RunWith {
  const requests = { kinds: [kind], senders: subject.senders }
  const session = openSession(subject, requests, { seconds, settle: undefined, errorShareMax: 0 }, stack)
  return ({ connections, perSecond }) =>
    session.run(
      'own',
      connections,
      perSecond === undefined ? undefined : [{ from: perSecond, to: perSecond }],
    )
}

/** Starts a service and fills it a first time: as many executions with a log as without one. */
async function startWarm(log: 'on' | 'off', options: ProofsOptions, stack: AsyncDisposableStack) {
  say(`proofs: fills a service with LOG=${log}`)
  const subject = await startSubject({ env: { LOG: log } }, {}, stack)
  const execute = openRuns(subject, executions({}), options, stack)
  await execute({ connections: CONNECTIONS, perSecond: options.fill })
  return { subject, execute }
}

type Filled = Awaited<ReturnType<typeof startWarm>>

interface Sides {
  readonly off: Filled
  readonly on: Filled
}

interface Cost {
  readonly measurement: Measurement
  readonly runs: readonly Run[]
  /** Executions of the service that keeps a log. */
  readonly logged: number
}

/** Runs one load on both services in turn, each of them first as often: a machine that changes its mind changes neither side alone. */
async function measureCost(load: Load, { off, on }: Sides, atLeast: number): Promise<Cost> {
  const rounds: Round[] = []
  const runs: Run[] = []
  let logged = 0
  await atRest(on.subject.own.database)
  const bytesBefore = await bytesAtRest(on.subject.own.database)
  for (let round = 0; round < atLeast + (atLeast % 2); round++) {
    say(`proofs: ${load.label}, with and without a log, round ${round + 1}`)
    const early = round % 2 === 0 ? await off.execute(load) : undefined
    const { run, delays } = await followed(on, load)
    const without = early ?? (await off.execute(load))
    runs.push(run, without)
    logged += delays.count()
    const [cpu, cpuWithout] = [run, without].map((one) => one.cpu['CPU total'] ?? Number.NaN)
    const [wal, walWithout] = [run, without].map(({ figures }) => figures['WAL B'] ?? Number.NaN)
    rounds.push({
      'batch mean': run.figures['batch mean'],
      'p50 ms': latencyOf(run, 50),
      'p50 ÷ without': latencyOf(run, 50)! / latencyOf(without, 50)!,
      'CPU ÷ without': cpu! / cpuWithout!,
      'log CPU µs': cpu! - cpuWithout!,
      'log WAL B': wal! - walWithout!,
      'commit → checkpoint p50 ms': delays.ms(50),
      'commit → checkpoint p99 ms': delays.ms(99),
    })
  }
  const atRestBytes = ((await bytesAtRest(on.subject.own.database)) - bytesBefore) / logged
  const figures = figuresOf(rounds.map((round) => ({ ...round, 'log B at rest': atRestBytes })))
  return { measurement: { label: load.label, figures }, runs, logged }
}

/** @returns each receipt's delay until a checkpoint covered it */
async function followed({ subject, execute }: Filled, load: Load) {
  const { database, service } = subject.own
  const checkpoints = await followCheckpoints(service.databaseUrl)
  const run = await execute(load)
  await atRest(database)
  const delays = openTimes()
  for (const ms of await checkpoints.delays()) delays.add(ms)
  return { run, delays }
}

/** Reads each kind, alone and beside executions. */
async function measureReads(
  { subject, execute }: Filled,
  stored: readonly string[],
  options: ProofsOptions,
  stack: AsyncDisposableStack,
) {
  const { bytes, verifyMs, problems } = await checkReads(subject, stored.slice(0, VERIFIED))
  const reader = { ...subject, senders: [{ key: subject.key, stored }] }
  const reading = { connections: CONNECTIONS, perSecond: options.rate }
  const measurements: Measurement[] = []
  const runs: Run[] = []
  for (const kind of kinds) {
    const read = openRuns(reader, kind, options, stack)
    // Compiles, and fills caches: not counted.
    await read(reading)
    for (const beside of [0, options.load]) {
      say(`proofs: ${kind.name}s, with ${beside} executions per second beside`)
      const isAlone = beside === 0
      const [run, ...others] = await Promise.all([
        read(reading),
        ...(isAlone ? [] : [execute({ connections: CONNECTIONS, perSecond: beside })]),
      ])
      runs.push(run, ...others)
      const round = {
        'p50 ms': latencyOf(run, 50),
        'p99 ms': latencyOf(run, 99),
        bytes: bytes[kind.name],
        'verify ms': kind.name === 'bundle' ? verifyMs : undefined,
        'others %': run.disturbance['others %'],
      }
      const label = `${kind.name}, ${isAlone ? 'alone' : `beside ${beside} executions/s`}`
      measurements.push({ label, figures: figuresOf([round]) })
    }
  }
  return { measurements, runs, problems }
}

/** @returns ids of executions, picked at random */
async function someStored(database: Client): Promise<string[]> {
  const { rows } = await database.query<{ id: string }>(
    `SELECT business_transaction_id AS id FROM trust_records ORDER BY random() LIMIT ${STORED_MAX}`,
  )
  return rows.map(({ id }) => id)
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

/**
 * Notes when each checkpoint can first be seen: of those that are stored only one a minute stays.
 *
 * @returns `delays` of the receipts since now: milliseconds from when each was issued, a little before its commit, until a checkpoint
 *   covered it
 */
async function followCheckpoints(databaseUrl: string): Promise<{ delays: () => Promise<number[]> }> {
  const database = await connect(databaseUrl)
  const before = await database.query<{ count: number }>('SELECT count(*)::integer AS count FROM receipts')
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
    async delays() {
      over.abort()
      await following
      // The last one may have come since.
      await look()
      const { rows } = await database.query<{ index: string; at: string }>(
        `SELECT b.start + r.log_ordinal AS index, r.body::json ->> 'issuedAt' AS at
         FROM receipts AS r JOIN log_batches AS b ON b.batch = r.log_batch ORDER BY 1 OFFSET $1`,
        [before.rows[0]?.count],
      )
      await database.end()
      return rows.map(({ index, at }) => {
        const covering = seen.find(({ size }) => size > Number(index))
        if (covering === undefined) throw new Error(`no checkpoint covered entry ${index}`)
        return covering.atMs - Date.parse(at)
      })
    },
  }
}

/** These tables' rows are soon deleted, so their size depends on the moment. */
const TRANSIENT = ['log_queue', 'log_tail', 'log_id_tail']

/** Bytes of the log's other tables. Empty ones, with their indexes and maps, have a megabyte: only differences mean something. */
async function bytesAtRest(database: Client): Promise<number> {
  const tables = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE 'log\\_%' AND relname <> ALL ($1)`,
    [TRANSIENT],
  )
  const names = tables.rows.map(({ name }) => name)
  await database.query(`VACUUM ${names.join(', ')}`)
  const { rows } = await database.query<{ bytes: number }>(
    'SELECT sum(pg_total_relation_size(name::regclass))::float8 AS bytes FROM unnest($1::text[]) AS name',
    [names],
  )
  return rows[0]!.bytes
}

/** Reads some of each kind and verifies the bundles offline. @returns mean bytes by kind, and the median time of a verification */
async function checkReads(subject: Subject, ids: readonly string[]) {
  const { text: keySet } = await call(subject, 'GET /.well-known/jwks.json')
  const { text: description } = await call(subject, 'GET /.well-known/countersign-log')
  const bytes: Record<string, number> = {}
  const problems: string[] = []
  const times = openTimes()
  for (const id of ids)
    for (const { name, path } of kinds) {
      const { text } = await call(subject, `GET ${path.replace('{{stored}}', id)}`)
      bytes[name] = (bytes[name] ?? 0) + text.length / ids.length
      if (name !== 'bundle') continue
      for (let i = 0; i < VERIFICATIONS; i++) {
        const startedMs = performance.now()
        const { checks } = verifyEvidence(text, keySet, { log: description })
        times.add(performance.now() - startedMs)
        for (const { name: check, problem } of checks)
          if (problem !== undefined) problems.push(`bundle ${id}: ${check}: ${problem}`)
      }
    }
  return { bytes, verifyMs: times.ms(50), problems }
}
