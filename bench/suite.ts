// The suite: one scenario after another, and one report of them all.
import { commitOf, describeMachine } from './machine.ts'
import { measureScenario, type MeasureOptions } from './measure.ts'
import { openProgress } from './progress.ts'
import { REPORT_VERSION, type Report, type ScenarioReport } from './report.ts'
import type { Scenario, SelfMeasured } from './scenario.ts'
import { scenarios } from './scenarios/index.ts'
import type { ServiceOptions } from './service.ts'
import { LATENCY_RATE_SHARE, WARM_UP_CONNECTIONS } from './session.ts'
import { deployment } from './subject.ts'
import { isSandbox, type TransactionOptions } from './transaction.ts'

export interface SuiteOptions {
  /** Names; empty stands for all. */
  readonly only: readonly string[]
  readonly seconds: number
  readonly rounds: number
  readonly connections?: readonly number[]
  readonly levels: readonly number[]
  readonly storedCount: number
  readonly listener: ServiceOptions['listener']
  readonly profile?: string
  /** Folder of another checkout. */
  readonly beside?: string
  /** A deployment to measure in place of a service of the bench's own. */
  readonly deployment?: { readonly url: string; readonly key: string }
  readonly transaction: TransactionOptions
  /** What was typed. */
  readonly command: string
}

type Any = Scenario | SelfMeasured

/**
 * in    stack  takes what has to be undone, whether or not this ends well
 * out   problems  what was not as it must be: with any of them the report is worth nothing
 * fails with a sentence at the first reply that is not what it must be
 */
export async function runSuite(
  options: SuiteOptions,
  stack: AsyncDisposableStack,
): Promise<{ report: Report; problems: string[] }> {
  const startedAt = new Date()
  const machine = describeMachine()
  const { transaction } = options
  const chosen = choose(options)
  const subject = options.deployment && (await deployment(options.deployment, transaction))
  const measured: ScenarioReport[] = []
  const problems: string[] = []
  const progress = openProgress(estimatedSeconds(options))
  stack.defer(() => progress.end())
  const settings: MeasureOptions = {
    seconds: options.seconds,
    rounds: options.rounds,
    connections: options.connections,
    levels: options.levels,
    storedCount: options.storedCount,
    listener: options.listener,
    profile: options.profile,
    beside: options.beside,
    transaction,
    deployment: subject,
    progress,
  }
  for (const scenario of chosen) {
    // Each has a service of its own, which is gone before the next.
    const own = stack.use(new AsyncDisposableStack())
    const { report, problems: found } =
      'measure' in scenario
        ? await scenario.measure(settings, own)
        : await measureScenario(scenario, settings, own)
    await own.disposeAsync()
    measured.push(report)
    problems.push(...found)
  }
  progress.end()
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
      'latency at': `${LATENCY_RATE_SHARE} of the throughput`,
      ...(options.beside === undefined ? {} : { beside: commitOf(options.beside) }),
      transaction: isSandbox(transaction) ? 'sandbox-echo 1.0.0' : ownTransaction(transaction),
    },
    scenarios: measured,
  }
  return { report, problems }
}

/** What was asked for: reports of unlike transactions are to be told from each other. */
function ownTransaction({
  transaction,
  action,
  target,
  policy,
  policyVersion,
  ...more
}: TransactionOptions): string {
  const { parameters, signals } = more
  const members = { file: transaction, action, target, policy, policyVersion, parameters, signals }
  return `the caller's own, ${JSON.stringify(members)}`
}

/** fails with a sentence for a name that there is not, or where nothing is left */
function choose({ only, deployment: remote, transaction, beside }: SuiteOptions): Any[] {
  const unknown = only.find((name) => !scenarios.some((scenario) => scenario.name === name))
  if (unknown !== undefined)
    throw new Error(
      `there is no scenario ${unknown}; there are ${scenarios.map(({ name }) => name).join(', ')}`,
    )
  const isNamed = ({ name }: Any) => only.length === 0 || only.includes(name)
  const hindrance = (scenario: Any) =>
    remote !== undefined && scenario.isLocal === true
      ? '--url'
      : 'isPossible' in scenario && !scenario.isPossible(transaction)
        ? 'a transaction of your own'
        : beside !== undefined && ('measure' in scenario || scenario.hasLevels === true)
          ? '--beside'
          : undefined
  const named = scenarios.filter(isNamed)
  const impossible = named.flatMap((scenario) => {
    const by = hindrance(scenario)
    return by === undefined ? [] : [`${scenario.name}: not with ${by}`]
  })
  if (only.length > 0 && impossible.length > 0) throw new Error(impossible.join('; '))
  return named.filter((scenario) => hindrance(scenario) === undefined)
}

/** Without the filling of a database. */
export function estimatedSeconds(options: SuiteOptions): number {
  const { seconds, rounds, connections, levels, beside } = options
  return choose(options)
    .map((scenario) => {
      if ('measure' in scenario) return scenario.estimatedSeconds({ seconds, rounds })
      const counts = (connections ?? scenario.connections).length
      const times = scenario.hasLevels === true ? levels.length : 1
      const services = scenario.hasLevels === true || beside !== undefined ? 2 : 1
      const perRound = 2 * services * counts + (scenario.hasYardsticks === true ? 3 : 0)
      return times * (services + rounds * perRound) * seconds
    })
    .reduce((total, of) => total + of, 0)
}
