// `npm run bench -- [scenario…]` and `countersign bench`: the program of the suite. It prints figures only where all checks pass.
import os from 'node:os'
import { resolve as absolute } from 'node:path'
import { Command } from 'commander'
import { errorText } from '../src/formats/text/error-text.ts'
import { compare, missed, readReport, type Thresholds } from './compare.ts'
import { consoleProgram } from './console.ts'
import { exportProgram } from './export.ts'
import { markdown, plottedMarkdown } from './markdown.ts'
import { CHECKOUT, npmStartOf } from './npm-start.ts'
import {
  addOptions,
  addSuiteOptions,
  BESIDE,
  keysOf,
  OUTPUTS,
  MISSED,
  QUICK,
  WHOLE,
  WRONG_USAGE,
} from './options.ts'
import { checkOutputs, writeOutputs, type Output } from './outputs.ts'
import { page } from './page.ts'
import { mcpProgram } from './mcp.ts'
import { proofsProgram } from './proofs.ts'
import { disturbed, FRESH, startReport, type Report } from './report.ts'
import type { Measured, Program, SuiteOptions } from './scenario.ts'
import { scenarios } from './scenarios.ts'
import { soakProgram } from './soak.ts'
import { openSuite } from './suite.ts'

type Judged = Thresholds & Partial<Readonly<Record<'json' | 'html' | 'markdown' | 'compare', string>>>

/** The suite's options as they are typed. */
type Given = Omit<Partial<SuiteOptions>, 'key'> & Judged & { readonly key?: string }

/**
 * @param name the command as it was typed before the arguments
 * @returns the exit code: 0, 1 something was wrong, 2 the command line is wrong, 3 a threshold was missed
 */
export async function main(args: readonly string[], name = 'npm run bench --'): Promise<number> {
  const command = `${name} ${shown(args)}`.trim()
  let exitCode = WRONG_USAGE
  const suite = suiteCommand(name).action(async (only: string[], { key, ...options }: Given) => {
    refuseWithoutUrl(suite)
    const isUsed = key !== undefined && options.url !== undefined
    const asked = suiteOptions({ only, command, ...(isUsed && { key: keysOf(key) }) }, options)
    const { work, soFar } = openSuite(asked)
    exitCode = await run(work, options, soFar)
  })
  for (const program of programs) {
    const sub = suite.command(program.name).description(program.description)
    addOptions(sub, program.help, program.parse)
    sub.action(async (given: Judged) => {
      const reported = startReport()
      const work = async (stack: AsyncDisposableStack) => {
        const {
          report: scenario,
          constants,
          ...ended
        } = await program.measure({ ...program.defaults, ...given }, stack)
        return { ...ended, report: reported({ subject: FRESH, command, constants, scenarios: [scenario] }) }
      }
      exitCode = await run(work, given)
    })
  }
  for (const each of [suite, ...suite.commands]) addOptions(each, OUTPUTS)
  try {
    await suite.parseAsync(args, { from: 'user' })
  } catch (error) {
    process.stderr.write(`bench: ${errorText(error)}\n`)
  }
  return exitCode
}

const programs: readonly Program<object>[] = [
  exportProgram,
  consoleProgram,
  soakProgram,
  proofsProgram,
  mcpProgram,
]

function suiteCommand(name: string): Command {
  const suite = new Command(name)
    .description(
      'Measures a fresh service of its own, or a deployment; every figure is checked before it is printed.',
    )
    .enablePositionalOptions()
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : WRONG_USAGE))
    .argument('[scenario...]', 'of those below (default: all)')
    .addHelpText('after', scenarioHelp())
  addSuiteOptions(suite)
  return suite
}

/** @throws Error for an option on the command line that needs --url; in the environment a key may stand for other runs */
function refuseWithoutUrl(suite: Command): void {
  if (suite.getOptionValue('url') !== undefined) return
  for (const [option, flag] of Object.entries({ key: '--key', maxErrorPercent: '--max-error-percent' }))
    if (suite.getOptionValueSource(option) === 'cli')
      throw new Error(`${flag} is for --url, and there is none`)
}

function suiteOptions(
  given: Pick<SuiteOptions, 'only' | 'command' | 'key'>,
  options: Partial<SuiteOptions>,
): SuiteOptions {
  const { url, besideEnv, service, callers, quick } = options
  const beside = options.beside ?? (besideEnv === undefined ? undefined : (service ?? CHECKOUT))
  const generator = generatorOf(options)
  for (const [flag, checkout] of Object.entries({ '--beside': beside, '--service': service })) {
    if (checkout === undefined) continue
    if (url !== undefined) throw new Error(`${flag} is not for --url`)
    npmStartOf(checkout)
  }
  const inTurn = {
    '--beside': beside !== undefined,
    '--callers token': callers === 'token',
    '--generator both': generator === 'both',
  }
  const [first, second] = Object.keys(inTurn).filter((flag) => inTurn[flag as keyof typeof inTurn])
  if (second !== undefined) throw new Error(`${first} is not for ${second}`)
  if (callers === 'token' && url !== undefined) throw new Error('--callers token is not for --url')
  const isCompared = beside !== undefined || callers === 'token'
  const defaults = quick === true ? QUICK : isCompared ? BESIDE : WHOLE
  const base: SuiteOptions = { ...given, ...defaults, ...options, generator }
  // Each of two sides runs first in half of the rounds, because the first run finds another disk and another cache.
  return {
    ...base,
    ...(url === undefined ? {} : { storedCount: QUICK.storedCount }),
    ...(beside === undefined ? {} : { beside: absolute(beside) }),
    ...(service === undefined ? {} : { service: absolute(service) }),
    rounds: base.rounds + (first === undefined ? 0 : base.rounds % 2),
  }
}

/**
 * A deployment is measured by autocannon, which a tester knows, where it is installed.
 * @throws Error where the command line names autocannon and it is not installed
 */
function generatorOf({ url, generator }: Partial<SuiteOptions>): SuiteOptions['generator'] {
  const isWanted = generator === undefined ? url !== undefined : generator !== 'own'
  if (!isWanted) return 'own'
  if (isInstalled('autocannon')) return generator ?? 'autocannon'
  const why = 'autocannon is not installed here: it is a development dependency'
  if (generator !== undefined) throw new Error(`--generator ${generator}: ${why}`)
  process.stderr.write(`bench: ${why}. The bench's own generator sends the load.\n`)
  return 'own'
}

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

/**
 * Runs the work, prints its report if it has no problem, and returns the exit code.
 * @param soFar returns the finished part when a signal stops the work
 */
async function run(
  work: (stack: AsyncDisposableStack) => Promise<Measured<Report>>,
  { json, html, markdown: file, compare: earlierFile, ...thresholds }: Judged,
  soFar: () => Report | undefined = () => undefined,
): Promise<number> {
  const earlier = earlierFile === undefined ? undefined : readReport(earlierFile)
  const compared = (report: Report) => earlier && compare(earlierFile ?? '', earlier, report)
  const outputs: Output[] = [
    { option: '--json', file: json, render: (report) => `${JSON.stringify(report, null, 2)}\n` },
    { option: '--html', file: html, render: (report) => page(report, compared(report)) },
    { option: '--markdown', file, render: plottedMarkdown },
  ]
  checkOutputs(outputs)
  const stack = new AsyncDisposableStack()
  let exitCode = 1
  try {
    const ended = await Promise.race([interrupted(), work(stack)])
    if ('signalled' in ended) {
      exitCode = ended.signalled
      process.stdout.write(incomplete(soFar(), ended.problems.join()))
    } else if (ended.problems.length > 0) {
      if (ended.isWorthReading === true) process.stderr.write(markdown(ended.report))
    } else {
      process.stdout.write(markdown(ended.report, compared(ended.report)))
      const misses = missed(ended.report, thresholds)
      ended.problems.push(...writeOutputs(ended.report, outputs))
      exitCode = ended.problems.length > 0 ? 1 : misses.length > 0 ? MISSED : 0
      ended.problems.push(...misses)
      const warning = disturbed(ended.report)
      if (warning !== undefined) ended.problems.push(`DISTURBED: ${warning}`)
    }
    for (const problem of ended.problems) process.stderr.write(`bench: ${problem}\n`)
  } catch (error) {
    process.stderr.write(`bench: ${errorText(error)}\n`)
  }
  try {
    await stack.disposeAsync()
  } catch (error) {
    // Ctrl-C goes to every process of the terminal: a program that is starting, such as initdb, then fails for that reason alone.
    if (exitCode <= SIGNALLED) {
      process.stderr.write(`bench: ${errorText(error)}\n`)
      exitCode = 1
    }
  }
  return exitCode
}

/** The finished part of a report; empty where nothing is finished. */
function incomplete(report: Report | undefined, why: string): string {
  if (report === undefined || report.scenarios.length === 0) return ''
  const left =
    'runs that had ended stand here, what is stored was not counted and nothing was verified offline'
  return `**INCOMPLETE: ${why}; ${left}.**\n\n${markdown(report)}`
}

/** A shell's exit code for a process that a signal ended is the sum of this and the signal's number. */
const SIGNALLED = 128

/** Resolves at the first stop signal, which gives the exit code. A second signal does not cut the clean-up short. */
function interrupted(): Promise<{ problems: string[]; signalled: number }> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () =>
        resolve({ problems: [`stopped by ${signal}`], signalled: SIGNALLED + os.constants.signals[signal] }),
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

if (import.meta.main) {
  const exitCode = await main(process.argv.slice(2))
  // An interrupted scenario still waits for resources that went away with its service.
  process.exit(exitCode)
}
