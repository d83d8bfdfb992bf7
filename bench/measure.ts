// Measures a scenario: sets it up, warms up, and then, round by round, each of its connection counts at open throttle and at a fixed
// rate, in turn with a second service or a second generator where there is one; and checks that all of it was right.
import { call } from './calls.ts'
import { checkSample } from './evidence.ts'
import { figuresOf, sum, type Round } from './figures.ts'
import { openFilling, settle, storedSizes } from './fill.ts'
import { openFloor } from './floor-round.ts'
import type { Generator } from './load.ts'
import { FLOOR, saturation, type Measurement, type ScenarioReport } from './report.ts'
import { filledOnce, type RequestKind, type Sender } from './request.ts'
import { advice, openSession, type Counts, type Run, type Session } from './run.ts'
import { say, type Measured, type Scenario } from './scenario.ts'
import type { Start, Subject, SuiteOptions } from './scenario.ts'
import { withTimeline } from './timeline.ts'

/** Latency is measured at this share of the throughput that the same number of connections reached. */
export const LATENCY_RATE_SHARE = 0.5
export const WARM_UP_CONNECTIONS = 64

/** Both runs of one connection count in one round. */
interface Pair {
  /** Undefined where the command line gives the rate at which a deployment is asked. */
  readonly open: Run | undefined
  readonly paced: Run
}

type CountName = Exclude<keyof Counts, 'errorsBy'>

/** What is measured beside each other. */
interface Side {
  readonly session: Session
  readonly generator: Generator
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
  const { seconds, storedCount, beside, rate, generator, maxErrorPercent = 0 } = options
  const counts = connectionCounts(scenario, options)
  say(`${name}: starts`)

  const open = async (subject: Subject): Promise<Session> => {
    const requests = await scenario.setUp({ subject, storedCount, stack })
    for (const kind of requests.kinds)
      for (const sender of requests.senders) await tryOnce(subject, kind, sender)
    const { settle: settleRun } = scenario
    return openSession(
      subject,
      requests,
      { seconds, settle: settleRun, errorShareMax: maxErrorPercent / 100 },
      stack,
    )
  }
  const session = await open(deployment ?? (await start({ env, isFresh: false }, stack)))
  const { own } = session.subject
  const isAtRateOnly = own === undefined && rate !== undefined
  const checkout = beside === undefined ? {} : { checkout: beside }
  const other =
    hasLevels || beside !== undefined
      ? await open(await start({ env, isFresh: hasLevels, ...checkout }, stack))
      : undefined
  const sessions = other === undefined ? [session] : [session, other]
  const sides: Side[] =
    generator === 'both'
      ? [
          { session, generator: 'own' },
          { session, generator: 'autocannon' },
        ]
      : sessions.map((of) => ({ session: of, generator }))
  const otherName = generator === 'both' ? 'autocannon' : hasLevels ? 'empty' : 'other'

  // V8 compiles, PostgreSQL plans, and its log takes whole images of pages: these figures are dropped. A deployment never sees
  // more connections than it was announced, nor a higher rate.
  const warmUp = async () => {
    const most = own === undefined ? Math.max(...counts) : WARM_UP_CONNECTIONS
    const lowest = Math.min(...(rate ?? []).map(({ from, to }) => Math.min(from, to)))
    const stages = isAtRateOnly ? [{ from: lowest, to: lowest }] : undefined
    for (const side of sides)
      await side.session.counted(
        async () =>
          void (await side.session.run(side.generator, Math.min(WARM_UP_CONNECTIONS, most), stages)),
      )
  }
  await warmUp()
  const floor = scenario.hasFloor === true && own ? await openFloor(own, seconds, stack) : undefined
  const floors: Round[] = []

  /** Both runs of each side; the first changes from round to round, because what it leaves for the disk delays the other. */
  const pairsOf = async (connections: number, round: number): Promise<Pair[]> => {
    const turn = round % 2 === 0 ? sides : sides.toReversed()
    const opens: Run[] = []
    if (!isAtRateOnly)
      for (const side of turn) opens.push(await side.session.run(side.generator, connections))
    // Latencies compare at one rate only.
    const half = Math.min(...opens.map(({ perSecond }) => perSecond)) * LATENCY_RATE_SHARE
    const stages = rate ?? [{ from: half, to: half }]
    const pairs: Pair[] = []
    for (const [at, side] of turn.entries())
      pairs.push({ open: opens[at], paced: await side.session.run(side.generator, connections, stages) })
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
        for (const one of measured)
          one.rounds.push(roundOf(one.last, { otherName, own, floor: floorRound?.['total'] }))
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
          ...(last.open && { open: last.open.load.overTime }),
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
        await warmUp()
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
  const count = (of: CountName) => sum(sessions.flatMap(({ runs }) => runs.map(({ counts: by }) => by[of])))
  const errorsBy: Record<string, number> = {}
  for (const run of sessions.flatMap(({ runs }) => runs))
    for (const [what, n] of Object.entries(run.counts.errorsBy)) errorsBy[what] = (errorsBy[what] ?? 0) + n
  const [replies, errors, limited] = [count('right'), count('errors'), count('limited')]
  const rows = Object.keys(Object.assign({}, ...session.requests.kinds.map(({ stores }) => stores)))
  const report: ScenarioReport = {
    name,
    description,
    ...(own === undefined ? {} : { service: await aboutService(own) }),
    labels: 'connections',
    measurements,
    checked: { replies, errors, limited, errorsBy, ...(own === undefined ? {} : { rows }), verifiedOffline },
  }
  if (own === undefined) return { report: withTimeline(report), problems }
  return { report: floors.length === 0 ? report : withFloor(report, floors), problems }
}

/** With several callers every one of them has a connection. */
export function connectionCounts(
  scenario: Scenario,
  { connections, key: { length: callers } = [] }: SuiteOptions,
) {
  const tooFew = connections?.find((count) => count < callers)
  if (tooFew !== undefined)
    throw new Error(`--connections ${tooFew} are fewer than the ${callers} keys of --key`)
  return connections ?? [...new Set(scenario.connections.map((count) => Math.max(count, callers)))]
}

/**
 * One row of the table in one round: throughput and cost from open throttle, latency from the fixed rate, never both from one.
 *
 * @param pairs of this service, and of the one beside it
 * @param own undefined for a deployment
 * @param floor CPU microseconds per execution
 */
function roundOf(
  [mine, other]: readonly Pair[],
  {
    otherName,
    own,
    floor = Number.NaN,
  }: { otherName: string; own: Subject['own']; floor: number | undefined },
): Round {
  if (mine === undefined) throw new Error('nothing was measured')
  const { open, paced } = mine
  // What a run at open throttle would say better.
  const main = open ?? paced
  const ratio = (of: (pair: Pair) => number | undefined) => other && (of(mine) ?? 0) / (of(other) ?? 0)
  const worst = (head: string) =>
    Math.max(...[main, paced].map(({ disturbance }) => disturbance[head] ?? Number.NaN))
  const counted = (of: CountName) =>
    own === undefined ? (open?.counts[of] ?? 0) + paced.counts[of] : undefined
  return {
    'per s': open?.perSecond,
    'at rate': paced.perSecond,
    'p50 ms': latency(paced, 50),
    'p99 ms': latency(paced, 99),
    'max ms': latency(paced, 100),
    errors: counted('errors'),
    '429s': counted('limited'),
    'not sent': counted('notSent'),
    ...main.figures,
    ...main.settled,
    ...Object.fromEntries(Object.entries(paced.settled).map(([head, value]) => [`${head}, paced`, value])),
    [`rate ÷ ${otherName}`]: ratio((pair) => pair.open?.perSecond),
    [`CPU ÷ ${otherName}`]: ratio((pair) => pair.open?.cpu['CPU total']),
    [`p50 ÷ ${otherName}`]: ratio((pair) => latency(pair.paced, 50)),
    [`p99 ÷ ${otherName}`]: ratio((pair) => latency(pair.paced, 99)),
    'steal %': worst('steal %'),
    'others %': worst('others %'),
    ...main.cpu,
    '× floor': (main.cpu['CPU total'] ?? Number.NaN) / floor,
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
async function tryOnce(subject: Subject, kind: RequestKind, sender: Sender): Promise<void> {
  // A delivery is signed by the generator alone.
  if (kind.hmac !== undefined) return
  const body = kind.bodies?.[0] === undefined ? undefined : filledOnce(kind.bodies[0], sender)
  const route = `${kind.method} ${filledOnce(kind.path, sender)}`
  const { status, text: said } = await call(subject, route, { body, key: sender.key, expect: 'any' })
  if (status !== kind.status)
    throw new Error(
      `${kind.method} ${kind.path} answered ${status}${advice(status)} in place of ${kind.status}: ${said.slice(0, 500)}`,
    )
}

/** Ids of what was answered, picked at random from all runs. */
function sampleOf({ requests: { kinds, senders }, runs }: Session, size: number) {
  const keyOf = (sender: number) => ({ key: senders[sender]?.key ?? '' })
  return kinds.flatMap(({ name, evidence }) => {
    if (evidence === undefined) return []
    const ids = runs.flatMap(({ load }) => load.sample[name] ?? [])
    const shuffled = ids.map((one) => ({ ...one, at: Math.random() })).toSorted((a, b) => a.at - b.at)
    return shuffled.slice(0, size).map(({ id, sender }) => ({ id, evidence, ...keyOf(sender) }))
  })
}

async function aboutService({ service, database }: NonNullable<Subject['own']>) {
  const { rows } = await database.query<{ server_version: string }>('SHOW server_version')
  const { listener, threads } = service
  return { listener, threads, postgres: rows[0]?.server_version ?? 'unknown' }
}
