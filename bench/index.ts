// `npm run bench -- [scenario…]` and `countersign bench`: the program of the suite. It prints figures only where all was right.
import { constants } from 'node:os'
import { resolve as absolute } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { errorText } from '../src/core/error-text.ts'
import { compare, missed, readReport, remarks, type Comparison, type Thresholds } from './compare.ts'
import { exportRecords, printedExport, type ExportOptions } from './export.ts'
import { npmStartOf } from './npm-start.ts'
import { checkOutputs, json, writeOutputs, type Output } from './outputs.ts'
import { markdown, page, printed } from './render.ts'
import type { Report } from './report.ts'
import { scenarios } from './scenarios.ts'
import { soak, type SoakOptions } from './soak.ts'
import { printedSoak } from './soak/report.ts'
import { runSuite, type SuiteOptions } from './suite.ts'
import type { TransactionOptions } from './transaction.ts'

/** All was measured and right, and a threshold was missed. */
const MISSED = 3

interface Options extends TransactionOptions, Thresholds {
  readonly seconds?: number
  readonly rounds?: number
  readonly connections?: readonly number[]
  readonly records?: readonly number[]
  readonly quick?: true
  readonly rate?: number
  readonly profile?: string
  readonly beside?: string
  readonly url?: string
  readonly key?: string
  readonly json?: string
  readonly html?: string
  readonly markdown?: string
  readonly compare?: string
}

/** What the options stand for where they are left out. */
const WHOLE = { seconds: 5, rounds: 3, levels: [0, 500_000, 2_000_000], storedCount: 2_000 }
const QUICK = { seconds: 1, rounds: 1, levels: [0, 20_000], storedCount: 50, connections: [1, 64] }

/**
 * @param name what was typed before the arguments
 * @returns the exit code: 0, 1 something was wrong, 3 a threshold was missed
 */
export async function main(args: readonly string[], name = 'npm run bench --'): Promise<number> {
  let exitCode = 1
  const ends = async (work: Promise<number>) => {
    exitCode = await work
  }
  const program = new Command(name)
    .description(
      'Measures a fresh service of its own, or a deployment; every figure is checked before it is printed.',
    )
    .enablePositionalOptions()
    .argument('[scenario...]', 'of those below (default: all)')
    .option('--quick', 'seconds in place of minutes: one short round; to see that it works, not to compare')
    .option('--seconds <n>', `length of each run (default: ${WHOLE.seconds})`, number(0.1, 3600))
    .option(
      '--rounds <n>',
      `how often everything is measured; their spread is the noise (default: ${WHOLE.rounds})`,
      whole(1, 100),
    )
    .option(
      '--connections <list>',
      'connection counts, one after another (default: by scenario)',
      connections,
    )
    .option('--records <list>', `stored records of growth (default: ${WHOLE.levels.join(',')})`, levels)
    .option(
      '--rate <n>',
      'requests per second of the latency runs (default: half of the throughput)',
      number(0.1, 1e6),
    )
    .option('--profile <folder>', 'write a .cpuprofile of each thread of the fresh service; slows it down')
    .option(
      '--beside <checkout>',
      'folder of another checkout of this repository: measures its service in turn with this one, and prints ratios, this ÷ other',
    )
    .option('--url <address>', 'measure this deployment; what it executes is real')
    .addOption(new Option('--key <key>', 'API key, for --url').env('COUNTERSIGN_API_KEY'))
    .option('--transaction <file>', 'JSON: execute this; ids and times are replaced')
    .option('--action <name>', 'intent.action')
    .option('--target <name>', 'intent.target')
    .option('--parameters <json>', 'intent.parameters', jsonObject)
    .option('--policy <name>', 'policy.name')
    .option('--policy-version <version>', 'policy.version')
    .option('--signals <json>', 'signals', jsonObject)
    .option('--principal <id>', "authority.principalId (default: the caller's first)")
    .option('--json <file>', 'write the report as JSON')
    .option('--html <file>', 'write the report as a page with plots, one file')
    .option('--markdown <file>', 'write the report as Markdown, as in bench/RESULTS.md')
    .option('--compare <file>', 'an earlier --json: print what has changed by more than the noise')
    .option(
      '--max-p99-ms <n>',
      `exit ${MISSED} where a scenario's p99 is higher, at the connection count that brings the most`,
      number(0.001, 1e6),
    )
    .option(
      '--min-rate <n>',
      `exit ${MISSED} where a scenario brings fewer replies per second, at the same`,
      number(0.001, 1e9),
    )
    .addHelpText('after', scenarioHelp())
    .action((only: string[], options: Options) => {
      // From the environment it may stand there for other runs.
      if (options.url === undefined && program.getOptionValueSource('key') === 'cli')
        throw new Error('--key is for --url, and there is none')
      return ends(suite(suiteOptions(only, options, `${name} ${shown(args)}`.trim()), options))
    })
  program
    .command('export')
    .description('GET /trust-records by cursor: time per page at several depths, beside pages by number')
    .option('--records <n>', 'stored records', number(1_000, 100_000_000), 1_000_000)
    .option('--pages <n>', 'pages at each depth, where there are so many', number(10, 100_000), 200)
    .option('--json <file>', 'write the report as JSON too')
    .action(({ json: file, ...options }: ExportOptions & { json?: string }) =>
      ends(run((stack) => exportRecords(options, stack), printedExport, [json(file)])),
    )
  program
    .command('soak')
    .description('every route at half of saturation: memory, descriptors, statuses, and fsck at the end')
    .option('--minutes <n>', 'how long', number(0.01, 10_000), 10)
    .option('--rate <n>', 'stories per second (default: half of saturation)', number(0.1, 100_000))
    .option('--json <file>', 'write the report as JSON too')
    .action(({ json: file, ...options }: SoakOptions & { json?: string }) =>
      ends(run((stack) => soak(options, stack), printedSoak, [json(file)])),
    )
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    process.stderr.write(`bench: ${errorText(error)}\n`)
  }
  return exitCode
}

function suiteOptions(only: readonly string[], options: Options, command: string): SuiteOptions {
  const { quick, url, key, records, rate, profile, beside, connections: counts } = options
  if (url !== undefined && key === undefined)
    throw new Error('--url needs --key, or COUNTERSIGN_API_KEY in the environment')
  if (url !== undefined && beside !== undefined) throw new Error('--beside is not for --url')
  if (beside !== undefined) npmStartOf(beside)
  const base = quick === true ? QUICK : { ...WHOLE, connections: undefined }
  const { action, target, policy, policyVersion, parameters, signals, principal, transaction } = options
  return {
    only,
    command,
    isShared: quick === true,
    seconds: options.seconds ?? base.seconds,
    rounds: options.rounds ?? base.rounds,
    connections: counts ?? base.connections,
    levels: records ?? base.levels,
    storedCount: url === undefined ? base.storedCount : QUICK.storedCount,
    rate,
    profile,
    beside: beside === undefined ? undefined : absolute(beside),
    transaction: { action, target, policy, policyVersion, parameters, signals, principal, transaction },
    deployment: url === undefined || key === undefined ? undefined : { url, key },
  }
}

/** Returns the exit code. */
async function suite(options: SuiteOptions, asked: Options): Promise<number> {
  const earlier = asked.compare === undefined ? undefined : readReport(asked.compare)
  const compared = (report: Report): Comparison | undefined => {
    if (earlier === undefined) return undefined
    const differences = compare(earlier, report)
    return { differences, remarks: remarks(earlier, report, differences) }
  }
  let misses: string[] = []
  const print = (report: Report) => {
    misses = missed(report, asked)
    return printed(report, compared(report), asked.compare)
  }
  const outputs: Output<Report>[] = [
    json(asked.json),
    { option: '--html', file: asked.html, render: (report) => page(report, compared(report)) },
    { option: '--markdown', file: asked.markdown, render: markdown },
  ]
  const exitCode = await run((stack) => runSuite(options, stack), print, outputs)
  for (const miss of misses) process.stderr.write(`bench: ${miss}\n`)
  return exitCode === 0 && misses.length > 0 ? MISSED : exitCode
}

/** Runs something, prints its report if it has no problem, and returns the exit code. */
async function run<Result>(
  work: (stack: AsyncDisposableStack) => Promise<{ report: Result; problems: string[] }>,
  print: (report: Result) => string,
  outputs: readonly Output<Result>[],
): Promise<number> {
  checkOutputs(outputs)
  const stack = new AsyncDisposableStack()
  let exitCode = 1
  try {
    const { report, problems, signalled } = await Promise.race([interrupted(), work(stack)]).then(
      (ended) => ({ signalled: undefined, ...ended }),
    )
    if (report !== undefined && problems.length === 0) {
      process.stdout.write(print(report))
      problems.push(...writeOutputs(report, outputs))
      exitCode = problems.length === 0 ? 0 : 1
    }
    for (const problem of problems) process.stderr.write(`bench: ${problem}\n`)
    if (signalled !== undefined) exitCode = signalled
  } catch (error) {
    process.stderr.write(`bench: ${errorText(error)}\n`)
  } finally {
    await stack.disposeAsync()
  }
  return exitCode
}

/** At the first signal to stop, whose exit code is then the process's; a second one does not cut the clean-up short. */
function interrupted(): Promise<{ report?: never; problems: string[]; signalled: number }> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () =>
        resolve({ problems: [`stopped by ${signal}`], signalled: 128 + constants.signals[signal] }),
      )
  })
}

function scenarioHelp(): string {
  const width = Math.max(...scenarios.map(({ name }) => name.length))
  const lines = scenarios.map(
    ({ name, description, isLocal }) =>
      `  ${name.padEnd(width)}  ${description}${isLocal === true ? ' (not with --url)' : ''}`,
  )
  return `\nScenarios:\n${lines.join('\n')}`
}

/** The command line as it can be typed again, without the key. */
function shown(args: readonly string[]): string {
  return args
    .map((arg, i) => (args[i - 1] === '--key' ? '…' : arg.startsWith('--key=') ? '--key=…' : arg))
    .map((arg) => (/^[\w./:,=…-]*$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`))
    .join(' ')
}

function number(min: number, max: number) {
  return (text: string) => {
    const value = Number(text)
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`must be from ${min} to ${max}.`)
    return value
  }
}

function whole(min: number, max: number) {
  return (text: string) => {
    if (!/^\d+$/.test(text)) throw new InvalidArgumentError('must be a whole number.')
    return number(min, max)(text)
  }
}

const list = (of: (text: string) => number) => (text: string) => text.split(',').map(of)
const connections = list(whole(1, 9999))
const levels = (text: string) => list(whole(0, 1e9))(text).toSorted((a, b) => a - b)

function jsonObject(text: string): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    value = undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new InvalidArgumentError('must be a JSON object.')
  return value
}

if (import.meta.main) {
  const exitCode = await main(process.argv.slice(2))
  // What an interrupted scenario still waits for went away with its service.
  process.exit(exitCode)
}
