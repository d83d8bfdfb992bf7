// The suite: one scenario after another, and one report of them all.
import { Client } from 'pg'
import { deployment, humans } from './calls.ts'
import { commitOf, describeMachine } from './machine.ts'
import { LATENCY_RATE_SHARE, measureScenario, WARM_UP_CONNECTIONS } from './measure.ts'
import { REPORT_VERSION, type Report, type ScenarioReport } from './report.ts'
import type { MeasureOptions, Scenario, SelfMeasured, Subject } from './scenario.ts'
import { scenarios } from './scenarios.ts'
import { startServer, startService, type DatabaseServer } from './service.ts'
import { isSandbox, type TransactionOptions } from './transaction.ts'

export interface SuiteOptions extends Pick<
  MeasureOptions,
  'seconds' | 'rounds' | 'connections' | 'levels' | 'storedCount' | 'rate' | 'beside' | 'transaction'
> {
  /** Names; empty stands for all. */
  readonly only: readonly string[]
  /** One database server for all, and one service for all scenarios that need no other settings. */
  readonly isShared: boolean
  readonly profile: string | undefined
  /** A deployment to measure in place of a service of the bench's own. */
  readonly deployment: { readonly url: string; readonly key: string } | undefined
  /** The command line. */
  readonly command: string
}

type Any = Scenario | SelfMeasured

/**
 * @param stack takes what has to be undone, whether or not this ends well
 * @returns the report, and anything that is not as it must be: with any problem the report is worth nothing
 * @throws Error with a sentence at the first reply that is not what it must be
 */
export async function runSuite(
  options: SuiteOptions,
  stack: AsyncDisposableStack,
): Promise<{ report: Report; problems: string[] }> {
  const startedAt = new Date()
  const machine = describeMachine()
  const { transaction, rate, beside } = options
  const chosen = choose(options)
  const subject = options.deployment && (await deployment(options.deployment, transaction))
  const measured: ScenarioReport[] = []
  const problems: string[] = []
  const pool = openPool({ ...options, stack })
  for (const scenario of chosen) {
    // What only this scenario needs is gone before the next.
    const own = stack.use(new AsyncDisposableStack())
    const start: MeasureOptions['start'] = (service, of) => pool.start(service, transaction, of)
    const settings = { ...options, deployment: subject, start, say }
    const { report, problems: found } =
      'measure' in scenario
        ? await scenario.measure(settings, own)
        : await measureScenario(scenario, settings, own)
    if (!options.isShared) found.push(...(await pool.stop()))
    await own.disposeAsync()
    measured.push(report)
    problems.push(...found.map((problem) => `${scenario.name}: ${problem}`))
  }
  problems.push(...(await pool.stop()))
  const latencyAt = rate === undefined ? `${LATENCY_RATE_SHARE} of the throughput` : `${rate} per second`
  const report: Report = {
    version: REPORT_VERSION,
    subject:
      subject === undefined
        ? 'a fresh service on this machine'
        : `${subject.url}, version ${subject.version ?? 'unknown'}`,
    startedAt: startedAt.toISOString(),
    seconds: (Date.now() - startedAt.getTime()) / 1000,
    command: options.command,
    machine,
    constants: {
      rounds: options.rounds,
      'seconds per run': options.seconds,
      'warm-up': `${options.seconds} s at ${subject === undefined ? '' : 'up to '}${WARM_UP_CONNECTIONS} connections`,
      'latency at': latencyAt,
      ...(beside === undefined ? {} : { beside: commitOf(beside) }),
      ...(options.isShared && subject === undefined ? { services: 'shared by scenarios' } : {}),
      transaction: isSandbox(transaction) ? 'sandbox-echo 1.0.0' : ownTransaction(transaction),
    },
    scenarios: measured,
  }
  return { report, problems }
}

/** The services that are under measurement, and the database server that they may share. */
function openPool({ isShared, stack }: { isShared: boolean; stack: AsyncDisposableStack }) {
  let server: Promise<DatabaseServer> | undefined
  let subjects: { subject: Subject; settings: string }[] = []
  return {
    async start(
      { isFresh = false, ...service }: Parameters<MeasureOptions['start']>[0],
      transaction: TransactionOptions,
      of: AsyncDisposableStack,
    ): Promise<Subject> {
      const settings = isShared && !isFresh ? JSON.stringify(service) : ''
      const known = subjects.find((one) => settings !== '' && one.settings === settings)
      if (known !== undefined) return known.subject
      const takes = isShared ? stack : of
      const callers = [humans.maker.entry, humans.checker.entry]
      const on = isShared ? { server: await (server ??= startServer(stack)) } : {}
      const started = await startService({ ...service, ...on, callers }, takes)
      const database = new Client({ connectionString: started.databaseUrl })
      await database.connect()
      takes.defer(() => database.end())
      const own = { service: started, database }
      const subject: Subject = { url: started.url, key: started.key, transaction, own }
      subjects.push({ subject, settings })
      return subject
    },
    /** Stops them all, and returns what was wrong with how they ended. */
    async stop(): Promise<string[]> {
      const services = subjects.flatMap(({ subject }) => subject.own?.service ?? [])
      const ended = await Promise.all(services.map((service) => service.stop()))
      subjects = []
      return ended.flat()
    },
  }
}

/** Reports of unlike transactions must be told from each other. */
function ownTransaction({ transaction: file, ...members }: TransactionOptions): string {
  // The principal is often the caller's own, filled in by the bench.
  return `the caller's own, ${JSON.stringify({ file, ...members, principal: undefined })}`
}

/** @throws Error with a sentence for a name that does not exist, or for a scenario that does not fit the options */
function choose({ only, deployment: remote, transaction, beside }: SuiteOptions): Any[] {
  const unknown = only.find((name) => !scenarios.some((scenario) => scenario.name === name))
  if (unknown !== undefined)
    throw new Error(
      `there is no scenario ${unknown}; there are ${scenarios.map(({ name }) => name).join(', ')}`,
    )
  const hindrance = (scenario: Any) => {
    if (remote !== undefined && scenario.isLocal === true) return '--url'
    if ('isPossible' in scenario && !scenario.isPossible(transaction)) return 'a transaction of your own'
    const isAlone = 'measure' in scenario || scenario.hasLevels === true
    return beside !== undefined && isAlone ? '--beside' : undefined
  }
  const named = scenarios.filter(({ name }) => only.length === 0 || only.includes(name))
  const impossible = named.flatMap((scenario) => {
    const by = hindrance(scenario)
    return by === undefined ? [] : [`${scenario.name}: not with ${by}`]
  })
  if (only.length > 0 && impossible.length > 0) throw new Error(impossible.join('; '))
  return named.filter((scenario) => hindrance(scenario) === undefined)
}

/** One line on standard error for each step. */
function say(what: string): void {
  process.stderr.write(`bench: ${what}\n`)
}
