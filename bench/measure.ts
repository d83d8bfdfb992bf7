// Measures a scenario: sets it up, warms up, and then, round by round, each of its connection counts at open throttle and at a fixed
// rate; and checks that all of it was right.
import type { Client } from 'pg'
import { CPU_PARTS } from './cpu.ts'
import { checkSample } from './evidence.ts'
import { figuresOf, sum, type Round } from './figures.ts'
import { openFilling, settle } from './fill.ts'
import { openFloor, withFloor, type Floor } from './floor-round.ts'
import { connectionCounts, counted, openLineup, runPairs, warmUp, type Lineup, type Pair } from './lineup.ts'
import { WARM_AFTER, type Measurement, type ScenarioReport } from './report.ts'
import { latencyOf, type Counts, type Run, type Session } from './run.ts'
import { say, type Measured, type Scenario, type Start, type Subject, type SuiteOptions } from './scenario.ts'
import { withTimeline } from './timeline.ts'

/**
 * @param deployment undefined: a fresh service of the bench's own
 * @param start starts such a service
 * @param stack collects the clean-up steps, whether or not this ends well
 * @param interruptible receives a function that returns the finished part, at any time from then on
 * @throws Error with a sentence at the first wrong reply
 */
export async function measureScenario(
  scenario: Scenario,
  options: SuiteOptions,
  service: { deployment: Subject | undefined; start: Start },
  stack: AsyncDisposableStack,
  interruptible: (soFar: () => ScenarioReport) => void,
): Promise<Measured<ScenarioReport>> {
  const { name, description, hasLevels, hasFloor } = scenario
  say(`${name}: starts`)
  const lineup = await openLineup(scenario, options, service, stack)
  const { own } = lineup
  const cells: Cell[] = []
  const about = {
    name,
    description,
    ...(own === undefined ? {} : { service: own.service.about }),
    labels: 'connections',
  }
  interruptible(() => ({
    ...about,
    measurements: cells.filter(isBegun).map((cell) => measurementOf(cell, lineup)),
    checked: { ...countsOf(lineup), verifiedOffline: 0 },
  }))
  await warmUp(lineup)
  const history = historyOf(lineup)
  // The floor's work on this service's PostgreSQL would be an advantage to the service beside.
  const isFloorMeasured = hasFloor === true && options.beside === undefined
  const floor = isFloorMeasured && own ? await openFloor(own, options.seconds, stack) : undefined
  const measurements =
    hasLevels === true && own
      ? await measureLevels(lineup, own.database, cells)
      : await measureCounts(lineup, cells, { floor })
  const { checked, problems } = await check(lineup)
  const report: ScenarioReport = { ...about, ...history, measurements, checked }
  if (own === undefined) return { report: withTimeline(report), problems }
  return { report: floor === undefined ? report : withFloor(report, floor), problems }
}

/** Fills the database up to each level of stored records, and measures there. A service beside is warmed up alike. */
async function measureLevels(lineup: Lineup, database: Client, cells: Cell[]): Promise<Measurement[]> {
  const filling = await openFilling(database)
  const measurements: Measurement[] = []
  let filled = 0
  for (const records of lineup.options.records.toSorted((a, b) => a - b)) {
    if (records > filled) {
      say(`${lineup.scenario.name}: fills in ${records} records`)
      await filling.add({ from: filled, to: records, newest: new Date() })
      filled = records
      for (const { subject } of lineup.sessions.slice(1))
        if (subject.own !== undefined) await settle(subject.own.database)
      await warmUp(lineup)
    }
    measurements.push(...(await measureCounts(lineup, cells, { records })))
  }
  return measurements
}

/** A cell is measured at one connection count, and at one level of stored records. */
interface Cell {
  readonly connections: number
  /** Records stored before, where they are part of the measurement. */
  readonly records: number | undefined
  readonly rounds: Round[]
  /** Runs of the newest round, which is not among `rounds` until all cells have had it. */
  last: Pair[]
}

/** @param cells takes the cells that are measured here */
async function measureCounts(
  lineup: Lineup,
  cells: Cell[],
  { floor, records }: { floor?: Floor | undefined; records?: number },
): Promise<Measurement[]> {
  const { scenario, options, sessions } = lineup
  const counts = connectionCounts(scenario, options)
  const bytesAtRest = async () => {
    const bytes: number[] = []
    for (const session of sessions) bytes.push(await session.takeBytesAtRest())
    return bytes
  }
  const measured = counts.map((connections): Cell => ({ connections, records, rounds: [], last: [] }))
  cells.push(...measured)
  const measureRounds = async () => {
    await bytesAtRest()
    for (let round = 0; round < options.rounds; round++) {
      say(`${scenario.name}:${records === undefined ? '' : ` ${records} records,`} round ${round + 1}`)
      for (const one of measured) one.last = await runPairs(lineup, one.connections, round)
      const floorMicros = (await floor?.measure())?.['total']
      const bytes = await bytesAtRest()
      for (const one of measured) one.rounds.push(roundOf(one.last, lineup, { floorMicros, bytes }))
    }
  }
  await counted(lineup, measureRounds)
  return measured.map((cell) => measurementOf(cell, lineup))
}

const isBegun = ({ last }: Cell) => last.length > 0

/** The measurement of all complete rounds; before the first round is complete, that of its runs. */
function measurementOf({ connections, records, rounds, last }: Cell, lineup: Lineup): Measurement {
  const [mine] = last
  return {
    label: `${connections}${records === undefined ? '' : ` · ${records.toLocaleString('en-US')} records`}`,
    connections,
    ...(records === undefined ? {} : { records }),
    figures: figuresOf(rounds.length > 0 ? rounds : [roundOf(last, lineup)]),
    ...(mine && {
      lastRound: {
        ...(mine.open && { open: mine.open.load.overTime }),
        paced: mine.paced.load.overTime,
        latency: mine.paced.load.latency,
      },
    }),
  }
}

type CountName = Exclude<keyof Counts, 'errorsBy'>

/** Figures of a run that are also compared with the other side's. */
const COMPARED: Readonly<Record<string, (run: Run) => number | undefined>> = {
  rate: ({ perSecond }) => perSecond,
  CPU: ({ cpu }) => cpu['CPU total'],
  ...Object.fromEntries(CPU_PARTS.map((part) => [part, ({ cpu }: Run) => cpu[part]])),
  p50: (run) => latencyOf(run, 50),
  p99: (run) => latencyOf(run, 99),
  WAL: ({ figures }) => figures['WAL B'],
  batch: ({ figures }) => figures['batch mean'],
}

/** @param behind the head of each ratio: the side of the second run, and how both ran */
function ratiosOf(mine: Run | undefined, other: Run | undefined, behind: string): Round {
  if (mine === undefined || other === undefined) return {}
  const ratios = Object.entries(COMPARED).map(([name, of]) => [
    `${name} ÷ ${behind}`,
    (of(mine) ?? Number.NaN) / (of(other) ?? Number.NaN),
  ])
  return Object.fromEntries(ratios) as Round
}

/**
 * One row of the table in one round: throughput and cost from open throttle, latency from the fixed rate, never both from one run.
 *
 * @param pairs of each side of the lineup
 * @param ofRound CPU microseconds of the floor, and for each side the bytes at rest, of an execution
 */
function roundOf(
  [mine, other]: readonly Pair[],
  { own, otherName }: Lineup,
  {
    floorMicros = Number.NaN,
    bytes = [],
  }: { floorMicros?: number | undefined; bytes?: readonly number[] } = {},
): Round {
  if (mine === undefined) throw new Error('nothing was measured')
  const { open, paced } = mine
  // A run at open throttle shows better how much the service costs.
  const main = open ?? paced
  const worst = (head: string) =>
    Math.max(...[main, paced].map(({ disturbance }) => disturbance[head] ?? Number.NaN))
  const countOf = (of: CountName) =>
    own === undefined ? (open?.counts[of] ?? 0) + paced.counts[of] : undefined
  const [atRest, otherAtRest = Number.NaN] = bytes
  return {
    'per s': open?.perSecond,
    'at rate': paced.perSecond,
    'p50 ms': latencyOf(paced, 50),
    'p99 ms': latencyOf(paced, 99),
    'max ms': latencyOf(paced, 100),
    errors: countOf('errors'),
    '429s': countOf('limited'),
    'not sent': countOf('notSent'),
    ...main.figures,
    'at rest B': atRest,
    ...main.settled,
    ...Object.fromEntries(Object.entries(paced.settled).map(([head, value]) => [`${head}, paced`, value])),
    'steal %': worst('steal %'),
    'others %': worst('others %'),
    ...main.cpu,
    '× floor': (main.cpu['CPU total'] ?? Number.NaN) / floorMicros,
    ...ratiosOf(open, other?.open, otherName),
    [`at rest ÷ ${otherName}`]: (atRest ?? Number.NaN) / otherAtRest,
    ...ratiosOf(paced, other?.paced, `${otherName}, paced`),
  }
}

/** @returns how many requests the services had answered before they were measured, this service first; nothing for a deployment */
function historyOf({ own, sessions, otherName }: Lineup): Pick<ScenarioReport, 'history'> {
  if (own === undefined) return {}
  const answered = Object.fromEntries(
    sessions.map((session, i) => [i === 0 ? 'this' : otherName, session.answered()]),
  )
  return { history: { answered, isCold: Object.values(answered).some((count) => count < WARM_AFTER) } }
}

/** Counts all replies, and verifies a sample of the evidence that they left. */
async function check({ options, own, sessions, otherName }: Lineup) {
  const problems: string[] = []
  let verifiedOffline = 0
  for (const [i, session] of sessions.entries()) {
    const sample = await checkSample(session.subject, sampleOf(session, options.sampleSize))
    verifiedOffline += sample.verified
    const of = i === 0 ? '' : `the ${otherName} one: `
    problems.push(...[...session.problems, ...sample.problems].map((problem) => of + problem))
  }
  return { checked: { ...countsOf({ own, sessions }), verifiedOffline }, problems }
}

/** Counts over all runs that have ended. */
function countsOf({ own, sessions }: Pick<Lineup, 'own' | 'sessions'>) {
  const counts = sessions.flatMap(({ runs }) => runs.map((run) => run.counts))
  const count = (of: CountName) => sum(counts.map((by) => by[of]))
  const [replies, errors, limited] = [count('right'), count('errors'), count('limited')]
  const errorsBy: Record<string, number> = {}
  for (const [what, n] of counts.flatMap((by) => Object.entries(by.errorsBy)))
    errorsBy[what] = (errorsBy[what] ?? 0) + n
  const names = sessions[0]?.requests.kinds.flatMap((kind) => Object.keys(kind.leaves ?? {}))
  const left = own === undefined ? {} : { left: [...new Set(names)] }
  return { replies, errors, limited, errorsBy, ...left }
}

/** Ids of answered requests, picked at random from all runs. */
function sampleOf({ requests: { kinds }, runs }: Session, size: number) {
  return kinds.flatMap(({ name, evidence }) => {
    if (evidence === undefined) return []
    const sampled = runs.flatMap(({ load, senders }) =>
      (load.sample[name] ?? []).map(({ id, sender }) => ({ id, evidence, key: senders[sender]?.key ?? '' })),
    )
    const shuffled = sampled.map((one) => ({ one, at: Math.random() })).toSorted((a, b) => a.at - b.at)
    return shuffled.slice(0, size).map(({ one }) => one)
  })
}
