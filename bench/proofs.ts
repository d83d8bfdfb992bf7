// The program `proofs`: the cost of the evidence log, and how soon it proves an execution. It fills a log, reads proofs and bundles with
// and without executions beside, and compares the bytes that an execution leaves in PostgreSQL with a service that keeps no log.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from 'pg'
import { verifyEvidence } from '../src/formats/verifier/index.ts'
import { call } from './calls.ts'
import { figuresOf, openTimes, sum, type Round } from './figures.ts'
import { number, whole } from './options.ts'
import type { Measurement } from './report.ts'
import type { RequestKind } from './request.ts'
import { latencyOf, openSession, type Run } from './run.ts'
import { say, type Program, type Subject } from './scenario.ts'
import { executions } from './scenarios.ts'
import { connect } from './service.ts'
import { startSubject } from './subject.ts'

interface ProofsOptions {
  readonly seconds: number
  readonly rounds: number
  readonly rate: number
  readonly fill: number
  readonly load: number
}

export const proofsProgram: Program<ProofsOptions> = {
  name: 'proofs',
  description:
    'the evidence log: proofs and bundles at a rate, commit to checkpoint, bytes at rest and in PostgreSQL’s log',
  help: `
--seconds <n>  length of each run, in seconds (default: 5)
--rounds <n>  rounds of each load, on both services; one more where it is odd (default: 4)
--rate <n>  proofs, and bundles, per second (default: 50)
--fill <n>  executions per second while the log is filled (default: 1000)
--load <n>  executions per second beside the reads (default: 500)`,
  parse: {
    seconds: number(0.1, 86_400),
    rounds: whole(1, 100),
    rate: number(0.1, 100_000),
    fill: number(0.1, 100_000),
    load: number(0.1, 100_000),
  },
  defaults: { seconds: 5, rounds: 4, rate: 50, fill: 1_000, load: 500 },
  measure: measureProofs,
}

const CONNECTIONS = 64
const STORED_MAX = 5_000
const VERIFIED = 20
/** Each bundle is verified this often, because the first verifications run code that is not compiled yet. */
const VERIFICATIONS = 10
const POLL_EVERY_MS = 10
const REST_MS_MAX = 30_000

const kinds: readonly RequestKind[] = [
  { name: 'proof', method: 'GET', path: '/log/proofs/receipt/{{stored}}', status: 200 },
  { name: 'bundle', method: 'GET', path: '/trust-records/{{stored}}?bundle', status: 200 },
]

/** @throws Error with a sentence at the first wrong reply */
async function measureProofs(options: ProofsOptions, stack: AsyncDisposableStack) {
  const { seconds, rate, fill } = options
  const sides = { off: await startWarm('off', options, stack), on: await startWarm('on', options, stack) }
  const loads: readonly Load[] = [
    { label: '1 connection', connections: 1 },
    { label: `at ${fill} executions/s`, connections: CONNECTIONS, perSecond: fill },
    // Commits of twenty executions and more, as a busy service has them.
    { label: '256 connections', connections: 256 },
  ]
  const costs: Awaited<ReturnType<typeof measureCost>>[] = []
  for (const load of loads) costs.push(await measureCost(load, sides, options.rounds))
  const problems = await sides.off.subject.own.service.stop()
  const { service } = sides.on.subject.own
  const reads = await measureReads(sides.on, options, stack)
  problems.push(...reads.problems, ...(await service.stop()))

  const runs = [...costs.flatMap((cost) => cost.runs), ...reads.runs]
  const report = {
    name: 'proofs',
    description:
      'GET /log/proofs/receipt/{id} and bundles at a fixed rate, and what the log costs an execution',
    service: service.about,
    labels: 'reads',
    measurements: reads.measurements,
    further: { 'The log, of each execution': costs.map(({ measurement }) => measurement) },
    checked: { replies: sum(runs.map(({ counts }) => counts.right)), verifiedOffline: VERIFIED },
  }
  const executed = sum(costs.map(({ logged }) => logged))
  const constants = { 'reads per second': rate, 'seconds of a run': seconds, 'executions before': executed }
  return { report, constants, problems }
}

interface Load {
  readonly label: string
  readonly connections: number
  /** Undefined: open throttle. */
  readonly perSecond?: number
}

/** @returns a function that runs one kind of request on one subject */
function openRuns(subject: Subject, kind: RequestKind, seconds: number, stack: AsyncDisposableStack) {
  const requests = { kinds: [kind], senders: subject.senders }
  const session = openSession(subject, requests, { seconds, settle: undefined, errorShareMax: 0 }, stack)
  return ({ connections, perSecond }: Omit<Load, 'label'>) =>
    session.run(
      { generator: 'own' },
      connections,
      perSecond === undefined ? undefined : [{ from: perSecond, to: perSecond }],
    )
}

/** Starts a service and fills it a first time: as many executions with a log as without one. */
async function startWarm(log: 'on' | 'off', { seconds, fill }: ProofsOptions, stack: AsyncDisposableStack) {
  say(`proofs: fills a service with LOG=${log}`)
  const subject = await startSubject({ env: { LOG: log } }, {}, stack)
  const execute = openRuns(subject, executions({}), seconds, stack)
  await execute({ connections: CONNECTIONS, perSecond: fill })
  return { subject, execute }
}

type Filled = Awaited<ReturnType<typeof startWarm>>

/** Runs one load on both services in turn, each of them first as often: a change of the machine's speed then changes both sides. */
async function measureCost(load: Load, { off, on }: Record<'off' | 'on', Filled>, atLeast: number) {
  const rounds: Round[] = []
  const runs: Run[] = []
  const { database } = on.subject.own
  let logged = 0
  await atRest(database)
  const bytesBefore = await bytesAtRest(database)
  for (let round = 0; round < atLeast + (atLeast % 2); round++) {
    say(`proofs: ${load.label}, with and without a log, round ${round + 1}`)
    const early = round % 2 === 0 ? await off.execute(load) : undefined
    const { run, delays } = await followed(on, load)
    const without = early ?? (await off.execute(load))
    runs.push(run, without)
    logged += delays.count()
    const both = (of: (one: Run) => number | undefined) =>
      [of(run) ?? Number.NaN, of(without) ?? Number.NaN] as const
    const [p50, p50Without] = both((one) => latencyOf(one, 50))
    const [cpu, cpuWithout] = both((one) => one.cpu['CPU total'])
    const [wal, walWithout] = both(({ figures }) => figures['WAL B'])
    rounds.push({
      'batch mean': run.figures['batch mean'],
      'p50 ms': p50,
      'p50 ÷ without': p50 / p50Without,
      'CPU ÷ without': cpu / cpuWithout,
      'log CPU µs': cpu - cpuWithout,
      'log WAL B': wal - walWithout,
      'commit → checkpoint p50 ms': delays.ms(50),
      'commit → checkpoint p99 ms': delays.ms(99),
    })
  }
  const atRestBytes = ((await bytesAtRest(database)) - bytesBefore) / logged
  const figures = figuresOf(rounds.map((round) => ({ ...round, 'log B at rest': atRestBytes })))
  return { measurement: { label: load.label, figures }, runs, logged }
}

/** @returns a run, and each receipt's delay until a checkpoint covered it */
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
  options: ProofsOptions,
  stack: AsyncDisposableStack,
) {
  const { rows } = await subject.own.database.query<{ id: string }>(
    `SELECT business_transaction_id AS id FROM trust_records ORDER BY random() LIMIT ${STORED_MAX}`,
  )
  const stored = rows.map(({ id }) => id)
  const { bytes, verifyMs, problems } = await checkReads(subject, stored.slice(0, VERIFIED))
  const reader = { ...subject, senders: [{ key: subject.key, stored }] }
  const reading = { connections: CONNECTIONS, perSecond: options.rate }
  const measurements: Measurement[] = []
  const runs: Run[] = []
  for (const kind of kinds) {
    const read = openRuns(reader, kind, options.seconds, stack)
    // A warm-up that is not counted: it compiles code and fills caches.
    await read(reading)
    for (const beside of [0, options.load]) {
      say(`proofs: ${kind.name}s, with ${beside} executions per second beside`)
      const executing = beside === 0 ? [] : [execute({ connections: CONNECTIONS, perSecond: beside })]
      const [run, ...others] = await Promise.all([read(reading), ...executing])
      runs.push(run, ...others)
      const round = {
        'p50 ms': latencyOf(run, 50),
        'p99 ms': latencyOf(run, 99),
        bytes: bytes[kind.name],
        'verify ms': kind.name === 'bundle' ? verifyMs : undefined,
        'others %': run.disturbance['others %'],
      }
      const label = `${kind.name}, ${beside === 0 ? 'alone' : `beside ${beside} executions/s`}`
      measurements.push({ label, figures: figuresOf([round]) })
    }
  }
  return { measurements, runs, problems }
}

/** Waits until a checkpoint covers all that is committed. @throws Error after 30 seconds */
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
 * Notes when each checkpoint can first be seen, because only one stored checkpoint a minute stays.
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
    for (; !over.signal.aborted; await sleep(POLL_EVERY_MS)) await look()
  })()
  return {
    async delays() {
      over.abort()
      await following
      // The last checkpoint may have come since.
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

/** Bytes of the log's tables. Empty tables, with their indexes and maps, have a megabyte: only differences mean something. */
async function bytesAtRest(database: Client): Promise<number> {
  // The rows of three tables are soon deleted, so their size depends on the moment.
  const tables = await database.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relname LIKE 'log\\_%'
       AND relname NOT IN ('log_queue', 'log_tail', 'log_id_tail')`,
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
      for (let i = name === 'bundle' ? 0 : VERIFICATIONS; i < VERIFICATIONS; i++) {
        const startedMs = performance.now()
        const { checks } = verifyEvidence(text, keySet, { log: description })
        times.add(performance.now() - startedMs)
        for (const { name: check, problem } of checks)
          if (problem !== undefined) problems.push(`bundle ${id}: ${check}: ${problem}`)
      }
    }
  return { bytes, verifyMs: times.ms(50), problems }
}
