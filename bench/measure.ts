// Measures a scenario: sets it up, warms up, and then, round by round, each of its connection counts at open throttle and at a fixed
// rate, in turn with a second service where there is one; and checks that all of it was right.
import type { Client } from 'pg'
import { call } from './calls.ts'
import { checkSample } from './evidence.ts'
import { sum } from './figures.ts'
import { openFilling, settle, storedSizes } from './fill.ts'
import { describeFloor, openFloor, type FloorRound } from './floor-round.ts'
import { measurementOf, rateOf, type Pair } from './measurement.ts'
import type { Measurement, ScenarioReport } from './report.ts'
import { filledOnce, type RequestKind } from './request.ts'
import { advice, openSession, type Run, type Session } from './run.ts'
import type { Measured, MeasureOptions, Requests, Scenario, Subject } from './scenario.ts'
import type { ServiceOptions } from './service.ts'

/** Latency is measured at this share of the throughput that the same number of connections reached. */
export const LATENCY_RATE_SHARE = 0.5
export const WARM_UP_CONNECTIONS = 64
/** Pieces of evidence that are verified offline for each scenario. */
const SAMPLE_SIZE = 50

/**
 * @param profile folder for a CPU profile of each thread of the service
 * @param stack takes what has to be undone, whether or not this ends well
 * @throws Error with a sentence at the first reply that is not what it must be
 */
export async function measureScenario(
  scenario: Scenario,
  { profile, ...options }: MeasureOptions & { readonly profile: string | undefined },
  stack: AsyncDisposableStack,
): Promise<Measured> {
  const { name, description, env = {} } = scenario
  const { seconds, storedCount, beside, say } = options
  const counts = options.connections ?? scenario.connections
  say(`${name}: starts`)

  const open = async (subject: Subject): Promise<Session> => {
    const requests = await scenario.setUp({ subject, storedCount, stack })
    for (const kind of requests.kinds) await tried(subject, kind, requests)
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
  const isFresh = scenario.hasLevels === true
  const start = (more: ServiceOptions) => options.start({ env, isFresh, ...more }, stack)
  const session = await open(options.deployment ?? (await start(profile === undefined ? {} : { profile })))
  const { own } = session.subject
  const otherName = isFresh ? 'empty' : 'other'
  const other =
    isFresh || beside !== undefined
      ? await open(await start(beside === undefined ? {} : { checkout: beside }))
      : undefined

  const floor =
    scenario.hasFloor === true && own !== undefined ? await openFloor(own, { seconds }, stack) : undefined
  const floors: FloorRound[] = []
  const measured = async (records?: number): Promise<Measurement[]> => {
    const sides = [session, ...(other === undefined ? [] : [other])].map((of) => ({
      session: of,
      pairs: counts.map((): Pair[] => []),
    }))
    const rounds = async () => {
      for (let round = 0; round < options.rounds; round++) {
        say(`${name}:${records === undefined ? '' : ` ${records} records,`} round ${round + 1}`)
        // The first changes from round to round: what it leaves for the disk delays the other.
        const turn = round % 2 === 0 ? sides : sides.toReversed()
        for (const [i, connections] of counts.entries()) {
          const opens: Run[] = []
          for (const side of turn) opens.push(await side.session.run(connections))
          // Latencies compare at one rate only.
          const rate = options.rate ?? Math.min(...opens.map(rateOf)) * LATENCY_RATE_SHARE
          for (const [at, side] of turn.entries())
            side.pairs[i]?.push({ open: opens[at]!, paced: await side.session.run(connections, rate) })
        }
        if (floor !== undefined) floors.push(await floor(seconds))
      }
    }
    await session.counted(() => (other === undefined ? rounds() : other.counted(rounds)))
    const sizes = records === undefined || own === undefined ? {} : await storedSizes(own.database)
    return counts.map((connections, i) =>
      measurementOf({
        connections,
        records,
        pairs: sides[0]?.pairs[i] ?? [],
        others: sides[1]?.pairs[i] ?? [],
        otherName,
        floors,
        sizes,
      }),
    )
  }

  /** Fills the database up to each level, and measures there. The empty one is treated alike. */
  const measuredByLevel = async (database: Client): Promise<Measurement[]> => {
    const filling = await openFilling(database)
    const measurements: Measurement[] = []
    let filled = 0
    for (const records of options.levels) {
      if (records > filled) {
        say(`${name}: fills in ${records} records`)
        await filling.add({ from: filled, to: records, newest: new Date() })
        filled = records
        if (other?.subject.own !== undefined) await settle(other.subject.own.database)
        for (const one of [session, other]) if (one !== undefined) await warmUp(one)
      }
      measurements.push(...(await measured(records)))
    }
    return measurements
  }

  const measurements = isFresh && own !== undefined ? await measuredByLevel(own.database) : await measured()
  const problems: string[] = []
  let verifiedOffline = 0
  for (const one of other === undefined ? [session] : [session, other]) {
    const checked = await checkSample(one.subject, sampleOf(one))
    verifiedOffline += checked.verified
    const of = one === other ? `the ${otherName} one: ` : ''
    problems.push(...[...one.problems, ...checked.problems].map((problem) => of + problem))
  }
  const runs = [...session.runs, ...(other?.runs ?? [])]
  const rows = Object.keys(Object.assign({}, ...session.requests.kinds.map(({ stores }) => stores)))
  const report: ScenarioReport = {
    name,
    description,
    ...(own === undefined ? {} : { service: await aboutService(own) }),
    measurements,
    ...(floors.length === 0 ? {} : { floor: describeFloor(floors) }),
    checked: {
      replies: sum(runs.map(({ replies }) => replies)),
      ...(own === undefined ? {} : { rows }),
      verifiedOffline,
    },
  }
  return { report, problems }
}

/** Sends one request of a kind before the load, so that what is wrong is shown with its words. */
async function tried(subject: Subject, kind: RequestKind, { stored }: Requests): Promise<void> {
  // A delivery is signed by the generator alone.
  if (kind.hmac !== undefined) return
  const filled = (text: string) => filledOnce(text, stored)
  const body = kind.body === undefined ? undefined : filled(kind.body)
  const { status, text } = await call(subject, kind.method, filled(kind.path), { body })
  if (status !== kind.status)
    throw new Error(
      `${kind.method} ${kind.path} answered ${status}${advice(status)} in place of ${kind.status}: ${text.slice(0, 500)}`,
    )
}

/** Ids of what was answered, picked at random from all runs. */
function sampleOf({ requests: { kinds }, runs }: Session) {
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

async function aboutService({ service, database }: NonNullable<Subject['own']>) {
  const { rows } = await database.query<{ server_version: string }>('SHOW server_version')
  const { listener, threads } = service
  return { listener, threads, postgres: rows[0]?.server_version ?? 'unknown' }
}
