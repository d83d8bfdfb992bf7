// `npm run bench -- <scenario>`: runs a scenario against a fresh service and prints what it measured, if all of it was right.
import { writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import { Command, InvalidArgumentError, Option } from 'commander'
import { execute, type ExecuteOptions } from './execute.ts'
import { exportRecords, printedExport, type ExportOptions } from './export.ts'
import { printed } from './report.ts'

const program = new Command('bench').description(
  'Measures a fresh service of its own; every figure is checked before it is printed.',
)
program
  .command('execute')
  .description(
    'unique approved executions: throughput, latency, CPU per execution and its ratio to the floor',
  )
  .option('--seconds <n>', 'length of each measurement', number(0.1, 3600), 5)
  .option('--connections <list>', 'connection counts, one after another', connections, [1, 16, 64, 256])
  .addOption(
    new Option('--listener <name>', 'the HTTP server of the service')
      .choices(['auto', 'uWebSockets.js', 'node:http'])
      .default('auto'),
  )
  .option('--profile <folder>', 'write a .cpuprofile of each thread of the service; slows it down')
  .option('--json <file>', 'write the report as JSON too')
  .action(({ json, ...options }: ExecuteOptions & { json?: string }) =>
    run((stack) => execute(options, stack), printed, json),
  )
program
  .command('export')
  .description('GET /trust-records by cursor: time per page at several depths, beside pages by number')
  .option('--records <n>', 'stored records', number(1_000, 100_000_000), 1_000_000)
  .option('--pages <n>', 'pages at each depth, where there are so many', number(10, 100_000), 200)
  .option('--json <file>', 'write the report as JSON too')
  .action(({ json, ...options }: Omit<ExportOptions, 'listener'> & { json?: string }) =>
    run((stack) => exportRecords({ ...options, listener: 'auto' }, stack), printedExport, json),
  )

/** Runs a scenario, and prints its report where nothing was wrong with it. */
async function run<Report>(
  scenario: (stack: AsyncDisposableStack) => Promise<{ report: Report; problems: string[] }>,
  print: (report: Report) => string,
  json: string | undefined,
): Promise<void> {
  const stack = new AsyncDisposableStack()
  try {
    const { report, problems } = await Promise.race([interrupted(), scenario(stack)])
    if (report !== undefined && problems.length === 0) {
      process.stdout.write(print(report))
      if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`)
      process.exitCode = 0
    }
    for (const problem of problems) process.stderr.write(`bench: ${problem}\n`)
  } finally {
    await stack.disposeAsync()
  }
}

/** At the first signal to stop, whose exit code is then the process's; a second one does not cut the clean-up short. */
function interrupted(): Promise<{ report?: never; problems: string[] }> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => {
        process.exitCode = 128 + constants.signals[signal]
        resolve({ problems: [`stopped by ${signal}`] })
      })
  })
}

function number(min: number, max: number) {
  return (text: string) => {
    const value = Number(text)
    if (!(value >= min && value <= max)) throw new InvalidArgumentError(`must be from ${min} to ${max}.`)
    return value
  }
}

function connections(text: string): number[] {
  return text.split(',').map((item) => {
    if (!/^[1-9]\d{0,3}$/.test(item)) throw new InvalidArgumentError('must be whole numbers, as in 1,16,64.')
    return Number(item)
  })
}

// Until a report is out there is nothing to be satisfied with.
process.exitCode = 1
await program.parseAsync()
// What an interrupted scenario still waits for went away with its service.
process.exit()
