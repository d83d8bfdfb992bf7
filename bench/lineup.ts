// The sides that a scenario measures in turn: this service alone, this service beside a second service, one service under both load
// generators, or one service whose callers send an access token and a key.
import { call } from './calls.ts'
import type { Generator } from './load.ts'
import { WARM_UP_SECONDS_MAX } from './options.ts'
import { filledOnce, type RequestKind, type Sender } from './request.ts'
import { advice, openSession, type Run, type Session } from './run.ts'
import type { Requests, Scenario, Start, Subject, SuiteOptions } from './scenario.ts'

/** Latency is measured at this share of the throughput that the same number of connections reached. */
export const LATENCY_RATE_SHARE = 0.5
export const WARM_UP_CONNECTIONS = 64

/** A scenario with all that it measures. */
export interface Lineup {
  readonly scenario: Scenario
  readonly options: SuiteOptions
  /** This service; undefined for a deployment. */
  readonly own: Subject['own']
  /** One session for each service, this service's first. */
  readonly sessions: readonly Session[]
  /** One or two sides, in the order of the ratios: the first ÷ the second. */
  readonly sides: readonly Side[]
  /** The second side's name in the report. */
  readonly otherName: 'autocannon' | 'key' | 'empty' | 'other'
}

interface Side {
  readonly session: Session
  readonly generator: Generator
  /** Default: those of the session. */
  readonly requests?: Requests
}

/** Both runs of one side at one connection count in one round. */
export interface Pair {
  /** Undefined where the command line gives the rate of a deployment. */
  readonly open: Run | undefined
  readonly paced: Run
}

/**
 * Starts the services, sets the scenario up on each, and tries each of its requests once.
 *
 * @param deployment measured in place of a fresh service that `start` starts
 * @param stack collects the clean-up steps
 * @throws Error with a sentence where a request is not answered as it must be
 */
export async function openLineup(
  scenario: Scenario,
  options: SuiteOptions,
  { deployment, start }: { deployment: Subject | undefined; start: Start },
  stack: AsyncDisposableStack,
): Promise<Lineup> {
  const { env = {}, hasLevels = false, settle } = scenario
  const {
    seconds,
    storedCount,
    beside,
    besideEnv,
    service,
    callers,
    generator,
    maxErrorPercent = 0,
  } = options
  const byToken = callers === 'token'
  const requestsTo = async (subject: Subject): Promise<Requests> => {
    const requests = await scenario.setUp({ subject, storedCount, stack })
    for (const kind of requests.kinds)
      for (const sender of requests.senders) await tryOnce(subject, kind, sender)
    return requests
  }
  const open = async (subject: Subject): Promise<Session> => {
    const of = { seconds, settle, errorShareMax: maxErrorPercent / 100 }
    return openSession(subject, await requestsTo(subject), of, stack)
  }
  const session = await open(
    deployment ?? (await start({ env, isFresh: false, byToken, checkout: service }, stack)),
  )
  const sessions = [session]
  if (hasLevels || beside !== undefined) {
    const isFresh = hasLevels || beside === service || besideEnv !== undefined
    const other = { env: { ...env, ...besideEnv }, isFresh, checkout: beside ?? service }
    sessions.push(await open(await start(other, stack)))
  }
  const { own, token } = session.subject
  const of = { scenario, options, own, sessions }
  if (token !== undefined && generator !== 'both' && sessions.length === 1) {
    const requests = await requestsTo({
      ...session.subject,
      key: token,
      senders: [{ key: token, stored: [] }],
    })
    return {
      ...of,
      sides: [
        { session, generator, requests },
        { session, generator },
      ],
      otherName: 'key',
    }
  }
  if (generator !== 'both') {
    const sides = sessions.map((each) => ({ session: each, generator }))
    return { ...of, sides, otherName: hasLevels ? 'empty' : 'other' }
  }
  const sides = (['own', 'autocannon'] as const).map((each) => ({ session, generator: each }))
  return { ...of, sides, otherName: 'autocannon' }
}

/** @returns the connection counts of a scenario; each of several callers has at least one connection */
export function connectionCounts(
  scenario: Scenario,
  { connections, key: { length: callers } = [] }: SuiteOptions,
): readonly number[] {
  const tooFew = connections?.find((count) => count < callers)
  if (tooFew !== undefined)
    throw new Error(`--connections ${tooFew} are fewer than the ${callers} keys of --key`)
  const { connections: own = [1, 64] } = scenario
  return connections ?? [...new Set(own.map((count) => Math.max(count, callers)))]
}

/** Does some work, and checks that each database has grown by the replies of its service in that time. */
export function counted({ sessions }: Lineup, work: () => Promise<void>): Promise<void> {
  return sessions.reduce((inner, session) => () => session.counted(inner), work)()
}

/** Sends one request of a kind before the load, so that an error shows the whole reply. */
async function tryOnce(subject: Subject, kind: RequestKind, sender: Sender): Promise<void> {
  // Only the generator signs deliveries.
  if (kind.hmac !== undefined) return
  const body = kind.bodies?.[0] === undefined ? undefined : filledOnce(kind.bodies[0], sender)
  const route = `${kind.method} ${filledOnce(kind.path, sender)}`
  const { status, text: said } = await call(subject, route, { body, key: sender.key, expect: 'any' })
  if (status !== kind.status)
    throw new Error(
      `${kind.method} ${kind.path} answered ${status}${advice(status)} in place of ${kind.status}: ${said.slice(0, 500)}`,
    )
}

/** A deployment for which the command line gives a rate is never driven at open throttle. */
const isAtRateOnly = ({ own, options }: Lineup) => own === undefined && options.rate !== undefined

/** The first side changes from turn to turn, because its writes that are still going to the disk delay the other side. */
const inTurn = <Item>(of: readonly Item[], turn: number) => (turn % 2 === 0 ? [...of] : of.toReversed())

/**
 * Runs each side in turn, at least once, and drops the figures, until each service has answered as many requests as the options say: V8
 * compiles, PostgreSQL plans, and its log takes whole images of pages. A deployment never sees more connections or a higher rate than the
 * command line says.
 */
export async function warmUp(lineup: Lineup): Promise<void> {
  const { scenario, options, own, sessions, sides } = lineup
  const most = own === undefined ? Math.max(...connectionCounts(scenario, options)) : WARM_UP_CONNECTIONS
  const lowest = Math.min(...(options.rate ?? []).flatMap(({ from, to }) => [from, to]))
  const stages = isAtRateOnly(lineup) ? [{ from: lowest, to: lowest }] : undefined
  const untilMs = performance.now() + WARM_UP_SECONDS_MAX * 1000
  const goesOn = () =>
    performance.now() < untilMs && sessions.some((session) => session.answered() < options.warmUp)
  await counted(lineup, async () => {
    for (let turn = 0; turn === 0 || goesOn(); turn++)
      for (const { session, ...by } of inTurn(sides, turn))
        await session.run(by, Math.min(WARM_UP_CONNECTIONS, most), stages)
  })
}

/**
 * Both runs of each side: all at open throttle, then all at a rate.
 *
 * @returns a pair for each side, in the order of `sides`
 */
export async function runPairs(lineup: Lineup, connections: number, round: number): Promise<Pair[]> {
  const sides = inTurn(lineup.sides, round)
  const opens: Run[] = []
  if (!isAtRateOnly(lineup))
    for (const { session, ...by } of sides) opens.push(await session.run(by, connections))
  // Latencies compare at one rate only: the other side's rate, which is the same beside every version of this side.
  const share = (inTurn(opens, round).at(-1)?.perSecond ?? 0) * LATENCY_RATE_SHARE
  const stages = lineup.options.rate ?? [{ from: share, to: share }]
  const pairs: Pair[] = []
  for (const [i, { session, ...by }] of sides.entries())
    pairs.push({ open: opens[i], paced: await session.run(by, connections, stages) })
  return inTurn(pairs, round)
}
