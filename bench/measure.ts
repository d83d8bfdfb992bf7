// Measures a scenario: sets it up, warms up, and then, round by round, each of its connection counts at open throttle and at a fixed
// rate, in turn with a second service where there is one; and checks that all of it was right.
import { call } from './calls.ts'
import { checkSample } from './evidence.ts'
import { figuresOf, sum, type Round } from './figures.ts'
import { openFilling, settle, storedSizes } from './fill.ts'
import { openFloor } from './floor-round.ts'
import { FLOOR, saturation, type Measurement, type ScenarioReport } from './report.ts'
import { filledOnce, type RequestKind } from './request.ts'
import { advice, openSession, type Run, type Session } from './run.ts'
import { say, type Measured, type Requests, type Scenario } from './scenario.ts'
import type { Start, Subject, SuiteOptions } from './scenario.ts'

/** Latency is measured at this share of the throughput that the same number of connections reached. */
export const LATENCY_RATE_SHARE = 0.5
export const WARM_UP_CONNECTIONS = 64

/** Both runs of one connection count in one round. */
interface Pair {
  readonly open: Run
  readonly paced: Run
}

/**
 * @param deployment undefined: a fresh service of the bench's own
 * @param start starts one
 * @param stack takes what has to be undone, whether or not this ends well
 * @throws Error with a sentence at the first reply that is not what it must be
 */
export async function measureScenario(
  scenario: Scenario,
  options: SuiteOptions,
  { deployment, start }: { deployment: Subject | undefined; start: Start },
  stack: AsyncDisposableStack,
): Promise<Measured<ScenarioReport>> {
  const { name, description, env = {}, hasLevels = false } = scenario
  const { seconds, storedCount, beside } = options
  const counts = options.connections ?? scenario.connections
  say(`${name}: starts`)

  const open = async (subject: Subject): Promise<Session> => {
    const requests = await scenario.setUp({ subject, storedCount, stack })
    for (const kind of requests.kinds) await tryOnce(subject, kind, requests)
    const session = openSession(subject, requests, { seconds, settle: scenario.settle }, stack)
    await warmUp(session)
    return session
  }
  // V8 compiles, PostgreSQL plans, and its log takes whole images of pages: these figures are dropped. A deployment never sees
  // more connections than it was announced.
  const warmUp = (session: Session) => {
    const most = session.subject.own === undefined ? Math.max(...counts) : WARM_UP_CONNECTIONS
    return session.counted(async () => void (await session.run(Math.min(WARM_UP_CONNECTIONS, most))))
  }
  const session = await open(deployment ?? (await start({ env, isFresh: false }, stack)))
  const { own } = session.subject
  const otherName = hasLevels ? 'empty' : 'other'
  const checkout = beside === undefined ? {} : { checkout: beside }
  const other =
    hasLevels || beside !== undefined
      ? await open(await start({ env, isFresh: hasLevels, ...checkout }, stack))
      : undefined
  const sessions = other === undefined ? [session] : [session, other]
  const floor = scenario.hasFloor === true && own ? await openFloor(own, seconds, stack) : undefined
  const floors: Round[] = []

  /** Both runs of each side; the first changes from round to round, because what it leaves for the disk delays the other. */
  const pairsOf = async (connections: number, round: number): Promise<Pair[]> => {
    const turn = round % 2 === 0 ? sessions : sessions.toReversed()
    const opens: Run[] = []
    for (const side of turn) opens.push(await side.run(connections))
    // Latencies compare at one rate only.
    const rate = options.rate ?? Math.min(...opens.map(({ perSecond }) => perSecond)) * LATENCY_RATE_SHARE
    const pairs: Pair[] = []
    for (const [at, side] of turn.entries())
      pairs.push({ open: opens[at]!, paced: await side.run(connections, rate) })
    return round % 2 === 0 ? pairs : pairs.toReversed()
  }

  const measureCounts = async (records?: number): Promise<Measurement[]> => {
    const measured = counts.map((connections) => ({ connections, rounds: [] as Round[], last: [] as Pair[] }))
    const rounds = async () => {
      for (let round = 0; round < options.rounds; round++) {
        say(`${name}:${records === undefined ? '' : ` ${records} records,`} round ${round + 1}`)
        for (const one of measured) one.last = await pairsOf(one.connections, round)
        const floorRound = await floor?.(seconds)
        if (floorRound !== undefined) floors.push(floorRound)
        for (const one of measured) one.rounds.push(roundOf(one.last, otherName, floorRound?.['total']))
      }
    }
    await session.counted(() => (other === undefined ? rounds() : other.counted(rounds)))
    const sizes = records === undefined || own === undefined ? {} : await storedSizes(own.database)
    return measured.map(({ connections, rounds: of, last: [last] }) => ({
      label: `${connections}${records === undefined ? '' : ` · ${records.toLocaleString('en-US')} records`}`,
      connections,
      ...(records === undefined ? {} : { records }),
      figures: { ...figuresOf(of), ...figuresOf([sizes]) },
      ...(last && {
        lastRound: {
          open: last.open.load.overTime,
          paced: last.paced.load.overTime,
          latency: last.paced.load.latency,
        },
      }),
    }))
  }

  /** Fills the database up to each level, and measures there. The empty one is treated alike. */
  const measureLevels = async ({ database }: NonNullable<Subject['own']>): Promise<Measurement[]> => {
    const filling = await openFilling(database)
    const measurements: Measurement[] = []
    let filled = 0
    for (const records of options.records.toSorted((a, b) => a - b)) {
      if (records > filled) {
        say(`${name}: fills in ${records} records`)
        await filling.add({ from: filled, to: records, newest: new Date() })
        filled = records
        if (other?.subject.own !== undefined) await settle(other.subject.own.database)
        for (const one of sessions) await warmUp(one)
      }
      measurements.push(...(await measureCounts(records)))
    }
    return measurements
  }

  const measurements = hasLevels && own ? await measureLevels(own) : await measureCounts()
  const problems: string[] = []
  let verifiedOffline = 0
  for (const one of sessions) {
    const checked = await checkSample(one.subject, sampleOf(one, options.sampleSize))
    verifiedOffline += checked.verified
    const of = one === other ? `the ${otherName} one: ` : ''
    problems.push(...[...one.problems, ...checked.problems].map((problem) => of + problem))
  }
  const replies = sum(sessions.flatMap(({ runs }) => runs.map((run) => run.replies)))
  const rows = Object.keys(Object.assign({}, ...session.requests.kinds.map(({ stores }) => stores)))
  const report: ScenarioReport = {
    name,
    description,
    ...(own === undefined ? {} : { service: await aboutService(own) }),
    labels: 'connections',
    measurements,
    checked: { replies, ...(own === undefined ? {} : { rows }), verifiedOffline },
  }
  return { report: floors.length === 0 ? report : withFloor(report, floors), problems }
}

/**
 * One row of the table in one round: throughput and cost from open throttle, latency from the fixed rate, never both from one.
 *
 * @param pairs of this service, and of the one beside it
 * @param floor CPU microseconds per execution
 */
function roundOf([mine, other]: readonly Pair[], otherName: string, floor = Number.NaN): Round {
  if (mine === undefined) throw new Error('nothing was measured')
  const { open, paced } = mine
  const ratio = (of: (pair: Pair) => number | undefined) => other && (of(mine) ?? 0) / (of(other) ?? 0)
  const worst = (head: string) =>
    Math.max(...[open, paced].map(({ disturbance }) => disturbance[head] ?? Number.NaN))
  return {
    'per s': open.perSecond,
    'at rate': paced.perSecond,
    'p50 ms': latency(paced, 50),
    'p99 ms': latency(paced, 99),
    'max ms': latency(paced, 100),
    ...open.figures,
    ...open.settled,
    ...Object.fromEntries(Object.entries(paced.settled).map(([head, value]) => [`${head}, paced`, value])),
    [`rate ÷ ${otherName}`]: ratio((pair) => pair.open.perSecond),
    [`CPU ÷ ${otherName}`]: ratio((pair) => pair.open.cpu['CPU total']),
    [`p50 ÷ ${otherName}`]: ratio((pair) => latency(pair.paced, 50)),
    [`p99 ÷ ${otherName}`]: ratio((pair) => latency(pair.paced, 99)),
    'steal %': worst('steal %'),
    'others %': worst('others %'),
    ...open.cpu,
    '× floor': (open.cpu['CPU total'] ?? Number.NaN) / floor,
  }
}

function latency({ load }: Run, at: number): number | undefined {
  return load.latency.find(({ percent }) => percent === at)?.ms
}

function withFloor(report: ScenarioReport, floors: readonly Round[]): ScenarioReport {
  const figures = figuresOf(floors)
  const service = saturation(report)?.figures['per s']?.median
  const ratio = figuresOf([{ 'service ÷ floor': (service ?? Number.NaN) / (figures['per s']?.median ?? 0) }])
  return { ...report, further: { [FLOOR]: [{ label: 'floor', figures: { ...figures, ...ratio } }] } }
}

/** Sends one request of a kind before the load, so that what is wrong is shown with its words. */
async function tryOnce(subject: Subject, kind: RequestKind, { stored }: Requests): Promise<void> {
  // A delivery is signed by the generator alone.
  if (kind.hmac !== undefined) return
  const body = kind.body === undefined ? undefined : filledOnce(kind.body, stored)
  const route = `${kind.method} ${filledOnce(kind.path, stored)}`
  const { status, text } = await call(subject, route, { body, expect: 'any' })
  if (status !== kind.status)
    throw new Error(
      `${kind.method} ${kind.path} answered ${status}${advice(status)} in place of ${kind.status}: ${text.slice(0, 500)}`,
    )
}

/** Ids of what was answered, picked at random from all runs. */
function sampleOf({ requests: { kinds }, runs }: Session, size: number) {
  return kinds.flatMap(({ name, evidence }) => {
    if (evidence === undefined) return []
    const ids = runs.flatMap(({ load }) => load.sample[name] ?? [])
    const shuffled = ids.map((id) => ({ id, at: Math.random() })).toSorted((a, b) => a.at - b.at)
    return shuffled.slice(0, size).map(({ id }) => ({ id, evidence }))
  })
}

async function aboutService({ service, database }: NonNullable<Subject['own']>) {
  const { rows } = await database.query<{ server_version: string }>('SHOW server_version')
  const { listener, threads } = service
  return { listener, threads, postgres: rows[0]?.server_version ?? 'unknown' }
}
