// The suite: one scenario after another, and one report of them all.
import { Client } from 'pg'
import { checker, maker } from './authority.ts'
import { call } from './calls.ts'
import { commitOf } from './machine.ts'
import { LATENCY_RATE_SHARE, measureScenario, WARM_UP_CONNECTIONS } from './measure.ts'
import { startReport, type Report, type ScenarioReport } from './report.ts'
import type { Measured, Scenario, SelfMeasured } from './scenario.ts'
import type { Start, Subject, SuiteOptions } from './scenario.ts'
import { scenarios } from './scenarios.ts'
import { startServer, startService, type DatabaseServer, type MeasuredService } from './service.ts'
import { ownTransaction, type TransactionOptions } from './transaction.ts'

/**
 * @param stack takes what has to be undone, whether or not this ends well
 * @returns the report, and anything that is not as it must be: with any problem the report is worth nothing
 * @throws Error with a sentence at the first reply that is not what it must be
 */
export async function runSuite(
  options: SuiteOptions,
  stack: AsyncDisposableStack,
): Promise<Measured<Report>> {
  const reported = startReport()
  const { rate, beside, seconds, rounds, quick, command } = options
  const chosen = choose(options)
  const deployment = options.url === undefined ? undefined : await askDeployment(options.url, options)
  const measured: ScenarioReport[] = []
  const problems: string[] = []
  const pool = openPool(options, stack)
  for (const scenario of chosen) {
    // What only this scenario needs is gone before the next.
    const own = stack.use(new AsyncDisposableStack())
    const { report, problems: found } =
      'measure' in scenario
        ? await scenario.measure(options, own)
        : await measureScenario(scenario, options, { deployment, start: pool.start }, own)
    if (quick !== true) found.push(...(await pool.stop()))
    await own.disposeAsync()
    measured.push(report)
    problems.push(...found.map((problem) => `${scenario.name}: ${problem}`))
  }
  problems.push(...(await pool.stop()))
  const report = reported({
    subject:
      deployment === undefined
        ? 'a fresh service on this machine'
        : `${deployment.url}, version ${deployment.version ?? 'unknown'}`,
    command,
    constants: {
      rounds,
      'seconds per run': seconds,
      'warm-up': `${seconds} s at ${deployment === undefined ? '' : 'up to '}${WARM_UP_CONNECTIONS} connections`,
      'latency at': rate === undefined ? `${LATENCY_RATE_SHARE} of the throughput` : `${rate} per second`,
      ...(beside === undefined ? {} : { beside: commitOf(beside) }),
      ...(quick === true && deployment === undefined ? { services: 'shared by scenarios' } : {}),
      transaction: ownTransaction(options) ?? 'sandbox-echo 1.0.0',
    },
    scenarios: measured,
  })
  return { report, problems }
}

/** The services that are under measurement, and the database server that they may share. */
function openPool({ quick, ...options }: SuiteOptions, stack: AsyncDisposableStack) {
  let server: Promise<DatabaseServer> | undefined
  let subjects: { subject: Subject; service: MeasuredService; settings: string }[] = []
  const start: Start = async ({ isFresh, ...service }, of) => {
    const settings = quick === true && !isFresh ? JSON.stringify(service) : ''
    const known = subjects.find((one) => settings !== '' && one.settings === settings)
    if (known !== undefined) return known.subject
    const takes = quick === true ? stack : of
    const on = quick === true ? { server: await (server ??= startServer(stack)) } : {}
    const started = await startService({ ...service, ...on, callers: [maker.entry, checker.entry] }, takes)
    const database = new Client({ connectionString: started.databaseUrl })
    await database.connect()
    takes.defer(() => database.end())
    const { url, key } = started
    const subject: Subject = { url, key, transaction: options, own: { service: started, database } }
    subjects.push({ subject, service: started, settings })
    return subject
  }
  return {
    start,
    /** Stops them all, and returns what was wrong with how they ended. */
    async stop(): Promise<string[]> {
      const ended = await Promise.all(subjects.map(({ service }) => service.stop()))
      subjects = []
      return ended.flat()
    },
  }
}

/**
 * A deployment, asked who the caller is: a transaction may only name a principal that is the caller's.
 *
 * @throws Error with a sentence where it cannot be reached or does not know the key
 */
async function askDeployment(
  address: string,
  { key, ...transaction }: TransactionOptions & { key?: string },
): Promise<Subject> {
  if (key === undefined) throw new Error('--url needs --key, or COUNTERSIGN_API_KEY in the environment')
  const url = address.replace(/\/+$/, '')
  const ask = (path: string) => call({ url, key }, `GET ${path}`, { expect: 'any' })
  const { status, text } = await ask('/callers/me').catch((error: unknown) => {
    throw new Error(`${url} cannot be reached: ${String(error)}`, { cause: error })
  })
  const principal = status === 200 ? answered(text).allowedPrincipalIds?.[0] : undefined
  if (principal === undefined) throw new Error(`GET ${url}/callers/me answered ${status}: ${text}`)
  const isNamed = transaction.principal !== undefined || transaction.transaction !== undefined
  const { version } = answered((await ask('/version')).text)
  const known = version === undefined ? {} : { version }
  return { url, key, ...known, transaction: isNamed ? transaction : { ...transaction, principal } }
}

/** Nothing where it is no answer of such a service. */
function answered(text: string): { allowedPrincipalIds?: string[]; version?: string } {
  try {
    return (JSON.parse(text) as ReturnType<typeof answered> | null) ?? {}
  } catch {
    return {}
  }
}

/** @throws Error with a sentence for a name that does not exist, or for a scenario that does not fit the options */
function choose(options: SuiteOptions): (Scenario | SelfMeasured)[] {
  const { only, url, beside } = options
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
