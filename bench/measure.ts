// Measures a scenario: sets it up, warms up, and then, round by round, each of its connection counts at open throttle and at half of
// what that brought; and checks that all of it was right.
import type { Client } from 'pg'
import { advice, type Run } from './drive.ts'
import { checkSample } from './evidence.ts'
import { sum } from './figures.ts'
import { openFilling, settle, storedSizes } from './fill.ts'
import { measurementOf, rateOf, type Pair } from './measurement.ts'
import type { Progress } from './progress.ts'
import type { Measurement, ScenarioReport, ServiceAbout } from './report.ts'
import { filledOnce, type RequestKind } from './request.ts'
import type { Requests, Scenario } from './scenario.ts'
import { LATENCY_RATE_SHARE, openSession, WARM_UP_CONNECTIONS, type Session } from './session.ts'
import { call, freshSubject, type Subject } from './subject.ts'
import type { TransactionOptions } from './transaction.ts'
import { describeYardsticks, openYardsticks, type YardstickRound } from './yardsticks.ts'

export interface MeasureOptions {
  /** Of each run. */
  readonly seconds: number
  readonly rounds: number
  /** In place of the scenario's own. */
  readonly connections: readonly number[] | undefined
  /** Stored records of the scenarios that have levels. */
  readonly levels: readonly number[]
  /** Records that a scenario of reads stores beforehand. */
  readonly storedCount: number
  readonly listener: string
  readonly profile: string | undefined
  /** Folder of another checkout, whose service is measured in turn with this one's. */
  readonly beside: string | undefined
  readonly transaction: TransactionOptions
  /** Undefined: a fresh service of the bench's own. */
  readonly deployment: Subject | undefined
  readonly progress: Progress
}

export interface Measured {
  readonly report: ScenarioReport
  /** What was not as it must be: with any of them the report is worth nothing. */
  readonly problems: readonly string[]
}

/** Pieces of evidence that are verified offline for each scenario. */
const SAMPLE_SIZE = 50

/**
 * in    stack  takes what has to be undone, whether or not this ends well
 * fails with a sentence at the first reply that is not what it must be
 */
export async function measureScenario(
  scenario: Scenario,
  options: MeasureOptions,
  stack: AsyncDisposableStack,
): Promise<Measured> {
  const { name, description } = scenario
  const { seconds, progress, listener, profile, transaction, storedCount } = options
  progress.doing(`${name}: starts`)
  const settings = { listener, ...(profile === undefined ? {} : { profile }), ...scenario.service }
  const subject = options.deployment ?? (await freshSubject(settings, transaction, stack))
  const counts = options.connections ?? scenario.connections
  // A deployment never sees more than it was announced.
  const warmUpConnections =
    subject.own === undefined ? Math.min(WARM_UP_CONNECTIONS, Math.max(...counts)) : WARM_UP_CONNECTIONS
  const opened = async (of: Subject): Promise<Opened> => {
    const requests = await scenario.setUp({ subject: of, storedCount, stack })
    for (const kind of requests.kinds) await tried(of, kind, requests)
    const session = openSession({ name, subject: of, requests, seconds, progress, warmUpConnections }, stack)
    await session.warmUp('warm-up')
    return { subject: of, requests, session }
  }
  const loaded = await opened(subject)
  const { requests, session } = loaded
  const hasLevels = scenario.hasLevels === true && subject.own !== undefined
  // Of growth, the same service with an empty database; else that of another checkout.
  const otherSettings = {
    listener,
    ...scenario.service,
    ...(hasLevels || options.beside === undefined ? {} : { checkout: options.beside }),
  }
  const otherName = hasLevels ? 'empty' : 'other'
  const other =
    hasLevels || options.beside !== undefined
      ? await opened(await freshSubject(otherSettings, transaction, stack))
      : undefined

  const yardsticks =
    scenario.hasYardsticks === true && subject.own !== undefined
      ? await openYardsticks(subject.own, { seconds }, stack)
      : undefined
  const measuredYardsticks: YardstickRound[] = []
  const measured = async (records?: number): Promise<Measurement[]> => {
    const pairs: Pair[][] = counts.map(() => [])
    const others: Pair[][] = counts.map(() => [])
    const inTurn = async () => {
      for (let round = 0; round < options.rounds; round++) {
        for (const [i, connections] of counts.entries()) {
          const sides = [
            { session, pairs: pairs[i], where: whereText(connections, records) },
            ...(other === undefined
              ? []
              : [
                  {
                    session: other.session,
                    pairs: others[i],
                    where: `${whereText(connections, records)}, the ${otherName} one`,
                  },
                ]),
          ]
          // The first changes from round to round: what it leaves for the disk delays the other.
          if (round % 2 === 1) sides.reverse()
          const opens: Run[] = []
          for (const side of sides) opens.push(await side.session.open(connections, side.where))
          // Latencies compare at one rate only.
          const ratePerSecond = Math.min(...opens.map(rateOf)) * LATENCY_RATE_SHARE
          for (const [at, side] of sides.entries()) {
            const paced = await side.session.paced(ratePerSecond, connections, side.where)
            side.pairs?.push({ open: opens[at]!, paced })
          }
        }
        if (yardsticks !== undefined)
          measuredYardsticks.push(
            await progress.during(`${name}: floor and yardsticks`, 3 * seconds, () =>
              yardsticks.round(seconds),
            ),
          )
      }
    }
    await session.counted(() => (other === undefined ? inTurn() : other.session.counted(inTurn)))
    const sizes =
      records === undefined || subject.own === undefined ? {} : await storedSizes(subject.own.database)
    return counts.map((connections, i) =>
      measurementOf({
        connections,
        records,
        pairs: pairs[i] ?? [],
        yardsticks: measuredYardsticks,
        other: others[i] ?? [],
        otherName,
        sizes,
      }),
    )
  }
  const measurements =
    hasLevels && subject.own !== undefined
      ? await measuredByLevel(subject.own.database, { name, options, session, empty: other, measured })
      : await measured()

  const service = subject.own && (await aboutService(subject.own))
  const ended = await Promise.all([loaded, ...(other === undefined ? [] : [other])].map(end))
  const problems = ended.flatMap((one, i) =>
    one.problems.map((problem) => (i === 0 ? problem : `the ${otherName} one: ${problem}`)),
  )
  return {
    report: {
      name,
      description,
      service,
      measurements,
      yardsticks: yardsticks && describeYardsticks(measuredYardsticks),
      checked: {
        replies: sum(ended.map(({ replies }) => replies)),
        rows: subject.own && Object.keys(Object.assign({}, ...requests.kinds.map(({ stores }) => stores))),
        verifiedOffline: sum(ended.map(({ verified }) => verified)),
      },
    },
    problems: problems.map((problem) => `${name}: ${problem}`),
  }
}

/** A service that is under load. */
interface Opened {
  readonly subject: Subject
  readonly requests: Requests
  readonly session: Session
}

/** Verifies a sample of what was answered, and stops a service of the bench's own. */
async function end({ subject, requests, session }: Opened) {
  const { verified, problems } = await checkSample(subject, sampleOf(requests, session.runs))
  return {
    verified,
    replies: sum(session.runs.map(({ replies }) => replies)),
    problems: [...session.problems, ...problems, ...((await subject.own?.service.stop()) ?? [])],
  }
}

interface Levels {
  readonly name: string
  readonly options: MeasureOptions
  readonly session: Session
  readonly empty: Opened | undefined
  readonly measured: (records: number) => Promise<Measurement[]>
}

/** Fills the database up to each level, and measures there. What is done to it is done to the empty one, too. */
async function measuredByLevel(
  database: Client,
  { name, options: { levels, progress }, session, empty, measured }: Levels,
): Promise<Measurement[]> {
  const filling = await openFilling(database, (count) =>
    progress.doing(`${name}: ${count} records filled in`),
  )
  const measurements: Measurement[] = []
  let filled = 0
  for (const records of levels) {
    if (records > filled) {
      await filling.add({ from: filled, to: records, newest: new Date() })
      filled = records
      if (empty?.subject.own !== undefined) await settle(empty.subject.own.database)
      for (const one of [session, ...(empty === undefined ? [] : [empty.session])])
        await one.warmUp(`${records} records, warm-up`)
    }
    measurements.push(...(await measured(records)))
  }
  return measurements
}

function whereText(connections: number, records: number | undefined): string {
  const counted = `${connections} connection${connections === 1 ? '' : 's'}`
  return records === undefined ? counted : `${records} records, ${counted}`
}

/** One request of a kind before the load, so that what is wrong is shown with its words. */
async function tried(subject: Subject, kind: RequestKind, { stored }: Requests): Promise<void> {
  const filled = (text: string) => filledOnce(text, stored)
  const body = kind.body === undefined ? undefined : filled(kind.body)
  const { status, text } = await call(subject, kind.method, filled(kind.path), body, kind.headers)
  if (status !== kind.status)
    throw new Error(
      `${kind.method} ${kind.path} answered ${status}${advice(status)} in place of ${kind.status}: ${text.slice(0, 500)}`,
    )
}

/** Ids of what was answered, picked at random from all runs. */
function sampleOf({ kinds }: Requests, runs: readonly Run[]) {
  return kinds.flatMap(({ name, evidence }) => {
    if (evidence === undefined) return []
    const ids = runs.flatMap(({ load }) => load.sample[name] ?? [])
    const picked = ids
      .map((id) => ({ id, at: Math.random() }))
      .toSorted((a, b) => a.at - b.at)
      .slice(0, SAMPLE_SIZE)
    return picked.map(({ id }) => ({ id, evidence }))
  })
}

async function aboutService({ service, database }: NonNullable<Subject['own']>): Promise<ServiceAbout> {
  const { rows } = await database.query<{ server_version: string }>('SHOW server_version')
  const { listener, threads } = service
  return { listener, threads, postgres: rows[0]?.server_version ?? 'unknown' }
}
