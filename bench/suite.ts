// The suite: one scenario after another, and one report of them all.
import { checker, maker } from './authority.ts'
import { call } from './calls.ts'
import { sum } from './figures.ts'
import { connectionCounts, LATENCY_RATE_SHARE, WARM_UP_CONNECTIONS } from './lineup.ts'
import { commitOf } from './machine.ts'
import { measureScenario } from './measure.ts'
import { WARM_UP_SECONDS_MAX } from './options.ts'
import type { Stage } from './pace.ts'
import { FRESH, startReport, type Report, type ScenarioReport } from './report.ts'
import type { Sender } from './request.ts'
import {
  say,
  type Measured,
  type Scenario,
  type SelfMeasured,
  type Start,
  type Subject,
  type SuiteOptions,
} from './scenario.ts'
import { scenarios } from './scenarios.ts'
import { startServer, type DatabaseServer } from './service.ts'
import { startSubject, type OwnSubject } from './subject.ts'
import { ownTransaction, type TransactionOptions } from './transaction.ts'

/**
 * @returns the work, as `runSuite`, and a function that returns its finished part
 * @throws Error with a sentence where the options do not fit the scenarios, or each other
 */
export function openSuite(options: SuiteOptions): Interruptible {
  if (options.url !== undefined && options.key === undefined)
    throw new Error('--url needs --key, or COUNTERSIGN_API_KEY in the environment')
  const chosen = choose(options)
  const time = openTime(chosen, options)
  let soFar: (() => Report) | undefined
  return {
    work: (stack) => runSuite({ options, chosen, time }, stack, (report) => (soFar = report)),
    soFar: () => soFar?.(),
  }
}

/** Work whose finished part can be read while it runs. */
interface Interruptible {
  readonly work: (stack: AsyncDisposableStack) => Promise<Measured<Report>>
  /** Undefined before anything can be finished. */
  readonly soFar: () => Report | undefined
}

interface Suite {
  readonly options: SuiteOptions
  readonly chosen: readonly (Scenario | SelfMeasured)[]
  readonly time: ReturnType<typeof openTime>
}

/**
 * @param stack collects the clean-up steps, whether or not this ends well
 * @returns the report, and the failed checks: with any problem the report is worth nothing
 * @throws Error with a sentence at the first wrong reply
 */
async function runSuite(
  { options, chosen, time }: Suite,
  stack: AsyncDisposableStack,
  interruptible: (soFar: () => Report) => void,
): Promise<Measured<Report>> {
  const reported = startReport()
  const { quick, command } = options
  const warm =
    options.warmUp > 0
      ? `, after ${options.warmUp} requests of each service, up to ${WARM_UP_SECONDS_MAX / 60} min`
      : ''
  say(
    `takes ${quick === true ? 'at most' : 'about'} ${(time.saidSeconds / 60).toFixed(1)} min: ${time.runCount} runs of ${options.seconds} s, and what is between them${warm}`,
  )
  const deployment = options.url === undefined ? undefined : await askDeployment(options.url, options)
  const measured: ScenarioReport[] = []
  const problems: string[] = []
  const reportOf = (of: readonly ScenarioReport[]) =>
    reported({
      subject:
        deployment === undefined ? FRESH : `${deployment.url}, version ${deployment.version ?? 'unknown'}`,
      command,
      ...(quick === true && { saidSeconds: time.saidSeconds }),
      constants: constantsOf(options, deployment),
      scenarios: of.filter(({ measurements }) => measurements.length > 0),
    })
  const pool = openPool(options, stack)
  for (const [i, scenario] of chosen.entries()) {
    // The resources that only one scenario needs are gone before the next.
    const own = stack.use(new AsyncDisposableStack())
    const seconds = quick === true ? time.secondsFrom(i) : options.seconds
    const { report, problems: found } =
      'measure' in scenario
        ? await scenario.measure(options, own)
        : await measureScenario(
            scenario,
            { ...options, seconds },
            { deployment, start: pool.start },
            own,
            (current) => interruptible(() => reportOf([...measured, current()])),
          )
    if (quick !== true) found.push(...(await pool.stop()))
    await own.disposeAsync()
    measured.push(report)
    problems.push(...found.map((problem) => `${scenario.name}: ${problem}`))
  }
  problems.push(...(await pool.stop()))
  return { report: reportOf(measured), problems }
}

function constantsOf(options: SuiteOptions, deployment: Subject | undefined): Report['constants'] {
  const { rounds, seconds, warmUp, rate, generator, maxErrorPercent, beside, besideEnv, callers } = options
  const { service, quick } = options
  const isDeployment = deployment !== undefined
  return {
    rounds,
    'seconds per run': seconds,
    'warm-up': `${warmUp > 0 ? `${warmUp} requests` : `${seconds} s`} at ${isDeployment ? 'up to ' : ''}${WARM_UP_CONNECTIONS} connections`,
    'latency at':
      rate === undefined
        ? `${LATENCY_RATE_SHARE} of the throughput${beside === undefined && callers !== 'token' ? '' : ' of the other'}`
        : rateText(rate),
    generator,
    ...(isDeployment ? { keys: deployment.senders.length } : {}),
    ...(maxErrorPercent === undefined ? {} : { 'errors at most %': maxErrorPercent }),
    ...(service === undefined ? {} : { service: commitOf(service) }),
    ...(beside === undefined ? {} : { beside: commitOf(beside) }),
    ...(callers === 'token' ? { callers: 'by token and, in turn, by key' } : {}),
    ...(besideEnv === undefined ? {} : { 'settings beside': settingsText(besideEnv) }),
    ...(quick === true && !isDeployment ? { services: 'shared by scenarios' } : {}),
    transaction: ownTransaction(options) ?? 'sandbox-echo 1.0.0',
  }
}

/** The time of a scenario besides its runs: services, records to read, evidence to verify. Three times the time on two idle cores. */
const SCENARIO_SECONDS = 12
/** The time of each run besides its seconds: its connections open, and its log is read until it is quiet. */
const RUN_REST_SECONDS = 0.4
/** This share is kept for the scenarios to come when the length of a run is decided. */
const KEPT_SHARE = 0.5
/** Shorter runs would show nothing. */
const RUN_SECONDS_MIN = 0.2

/** How long the scenarios take at most. On a slow machine the runs are shorter, so that it stays true. */
function openTime(chosen: readonly (Scenario | SelfMeasured)[], options: SuiteOptions) {
  const { seconds } = options
  const runs = chosen.map((scenario) => runCount(scenario, options))
  const saidSeconds = chosen.length * SCENARIO_SECONDS + sum(runs) * (seconds + RUN_REST_SECONDS)
  const deadlineMs = performance.now() + saidSeconds * 1000
  return {
    saidSeconds,
    runCount: sum(runs),
    /** @returns the length of a run of this scenario */
    secondsFrom(index: number): number {
      const kept = (chosen.length - index) * SCENARIO_SECONDS * KEPT_SHARE
      const left = (deadlineMs - performance.now()) / 1000 - kept
      return Math.min(seconds, Math.max(RUN_SECONDS_MIN, left / sum(runs.slice(index)) - RUN_REST_SECONDS))
    },
  }
}

/** Stages of the load, with those of the warm-up. */
function runCount(scenario: Scenario | SelfMeasured, options: SuiteOptions): number {
  const { records, rounds, rate = [], url, beside, callers, generator } = options
  if ('measure' in scenario) return 0
  const open = url !== undefined && rate.length > 0 ? 0 : 1
  const pairs = connectionCounts(scenario, options).length * rounds * (open + Math.max(1, rate.length))
  const levels = scenario.hasLevels === true ? records.length : 1
  const isInTurn = beside !== undefined || callers === 'token' || generator === 'both'
  const sides = scenario.hasLevels === true || isInTurn ? 2 : 1
  const floor = scenario.hasFloor === true && (url ?? beside) === undefined ? rounds + 1 : 0
  return (1 + pairs) * levels * sides + floor
}

function rateText(stages: readonly Stage[]): string {
  const texts = stages.map(({ from, to }) => (from === to ? String(from) : `${from}..${to}`))
  return `${texts.join(', ')} per second`
}

/** The services that are under measurement, and the database server that they may share. */
function openPool({ quick, ...options }: SuiteOptions, stack: AsyncDisposableStack) {
  let server: Promise<DatabaseServer> | undefined
  let subjects: { subject: OwnSubject; settings: string }[] = []
  const start: Start = async ({ isFresh, ...service }, of) => {
    const settings = quick === true && !isFresh ? JSON.stringify(service) : ''
    const known = subjects.find((one) => settings !== '' && one.settings === settings)
    if (known !== undefined) return known.subject
    const takes = quick === true ? stack : of
    const on = quick === true ? { server: await (server ??= startServer(stack)) } : {}
    const callers = [maker.entry, checker.entry]
    const subject = await startSubject({ ...service, ...on, callers }, options, takes)
    subjects.push({ subject, settings })
    return subject
  }
  return {
    start,
    /** Stops all of them, and returns the problems with their ends. */
    async stop(): Promise<string[]> {
      const ended = await Promise.all(subjects.map(({ subject }) => subject.own.service.stop()))
      subjects = []
      return ended.flat()
    },
  }
}

/**
 * Asks a deployment who the callers are, because a transaction may only name a principal that is its caller's.
 *
 * @throws Error with a sentence where it cannot be reached or does not know a key
 */
async function askDeployment(
  address: string,
  { key: keys = [], ...transaction }: Pick<SuiteOptions, 'key'> & TransactionOptions,
): Promise<Subject> {
  const url = address.replace(/\/+$/, '')
  const ask = (path: string, as: string) =>
    call({ url, key: as, slowsDown: true }, `GET ${path}`, { expect: 'any' })
  const senders: Sender[] = []
  for (const [i, one] of keys.entries()) {
    const { status, text } = await ask('/callers/me', one).catch((error: unknown) => {
      throw new Error(`${url} cannot be reached: ${String(error)}`, { cause: error })
    })
    const principal = status === 200 ? answered(text).allowedPrincipalIds?.[0] : undefined
    const which = keys.length === 1 ? '' : ` for key ${i + 1} of --key`
    if (principal === undefined) throw new Error(`GET ${url}/callers/me answered ${status}${which}: ${text}`)
    senders.push({ key: one, principal, stored: [] })
  }
  const [key] = keys
  const { version } = answered((await ask('/version', key!)).text)
  const known = version === undefined ? {} : { version }
  // One principal in a file cannot be that of every caller.
  const principal = transaction.principal ?? (keys.length > 1 ? '{{principal}}' : undefined)
  return { url, key: key!, senders, slowsDown: true, ...known, transaction: { ...transaction, principal } }
}

/** Empty where the text is no answer of a Countersign service. */
function answered(text: string): { allowedPrincipalIds?: string[]; version?: string } {
  try {
    return (JSON.parse(text) as ReturnType<typeof answered> | null) ?? {}
  } catch {
    return {}
  }
}

function settingsText(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}`)
    .join()
}

/** @throws Error with a sentence for a name that does not exist, or for a scenario that does not fit the options */
function choose(options: SuiteOptions): (Scenario | SelfMeasured)[] {
  const { only, url, beside, generator } = options
  const unknown = only.find((name) => !scenarios.some((scenario) => scenario.name === name))
  if (unknown !== undefined)
    throw new Error(
      `there is no scenario ${unknown}; there are ${scenarios.map(({ name }) => name).join(', ')}`,
    )
  const hindrance = (scenario: Scenario | SelfMeasured) => {
    if (url !== undefined && scenario.isLocal === true) return '--url'
    const isOwn = ownTransaction(options) !== undefined
    if ('isSandboxOnly' in scenario && isOwn) return 'a transaction of your own'
    const isAlone = 'measure' in scenario || scenario.hasLevels === true
    if (generator === 'both' && isAlone) return '--generator both'
    return beside !== undefined && isAlone ? '--beside' : undefined
  }
  const asked = scenarios.filter(({ name }) => only.length === 0 || only.includes(name))
  const impossible = asked.flatMap((scenario) => {
    const by = hindrance(scenario)
    return by === undefined ? [] : [`${scenario.name}: not with ${by}`]
  })
  if (only.length > 0 && impossible.length > 0) throw new Error(impossible.join('; '))
  return asked.filter((scenario) => hindrance(scenario) === undefined)
}
