// Options of the command line, in the groups and the order of its help.
import { Option, type Command } from 'commander'
import { jsonObject, list, number, stages, transactions, whole } from './arguments.ts'

/** Exit code where nothing was measured because the command line asks for what cannot be, as of every command. */
export const WRONG_USAGE = 2

/** Exit code where all was measured and right, and a threshold was missed. */
export const MISSED = 3

/** The values of options that are left out. */
export const WHOLE = { seconds: 5, rounds: 3, records: [0, 5e5, 2e6], storedCount: 2_000, sampleSize: 50 }
export const QUICK = {
  seconds: 1,
  rounds: 1,
  records: [0, 20_000],
  storedCount: 50,
  sampleSize: 10,
  connections: [1, 64],
}

/** Adds the options that say what is measured, how long, how often and by what generator. */
export function addLoad(command: Command): void {
  command
    .option(
      '--quick',
      'one short round, in the minutes that it says at the start; to see that it works, not to compare',
    )
    .option(
      '--seconds <n>',
      `length of each run, in seconds (default: ${WHOLE.seconds})`,
      number(0.1, 86_400),
    )
    .option(
      '--rounds <n>',
      `how often everything is measured; their spread is the noise (default: ${WHOLE.rounds})`,
      whole(1, 100),
    )
    .option(
      '--connections <list>',
      'connection counts, one after another (default: by scenario)',
      list(whole(1, 9999)),
    )
    .option(
      '--records <list>',
      `stored records of growth (default: ${WHOLE.records.join(',')})`,
      list(whole(0, 1e9)),
    )
    .option(
      '--rate <list>',
      'requests per second of the latency runs (default: half of the throughput); 100..500 rises or falls evenly over --seconds; several, one after another, --seconds each; with --url nothing is sent at open throttle then',
      stages,
    )
    .addOption(
      new Option(
        '--generator <name>',
        'what sends the load; both: in turn on the same service, and ratios, own ÷ autocannon (default: autocannon with --url where it is installed, else own)',
      ).choices(['own', 'autocannon', 'both']),
    )
    .option(
      '--beside <checkout>',
      'folder of another checkout of this repository: measures its service in turn with this one, and prints ratios, this ÷ other',
    )
    .option('--url <address>', 'measure this deployment; what it executes is real')
    .addOption(
      new Option(
        '--key <list>',
        'API keys, for --url; with several, separated by commas, connections take them in turn',
      ).env('COUNTERSIGN_API_KEY'),
    )
    .option(
      '--max-error-percent <n>',
      'percent of the replies of --url that may be errors; 429 is none (default: 0: the first ends the run)',
      number(0, 100),
    )
}

/** Adds the options that replace the transaction that is executed, or parts of it. */
export function addTransaction(command: Command): void {
  command
    .option(
      '--transaction <file>',
      'JSON: execute this, or in turn these, in an array or one on a line; ids and times are replaced',
      transactions,
    )
    .option('--action <name>', 'intent.action')
    .option('--target <name>', 'intent.target')
    .option('--parameters <json>', 'intent.parameters', jsonObject)
    .option('--policy <name>', 'policy.name')
    .option('--policy-version <version>', 'policy.version')
    .option('--signals <json>', 'signals', jsonObject)
    .option('--principal <id>', "authority.principalId (default: the caller's first)")
}

/** Adds the options that judge the report. */
export function addJudgement(command: Command): void {
  const atMost = 'at the connection count that brings the most'
  command
    .option('--compare <file>', 'an earlier --json: print what has changed by more than the noise')
    .option(
      '--max-p99-ms <n>',
      `exit ${MISSED} where a scenario's p99 is higher, ${atMost}`,
      number(0.001, 1e6),
    )
    .option(
      '--min-rate <n>',
      `exit ${MISSED} where a scenario brings fewer replies per second, at the same`,
      number(0.001, 1e9),
    )
}

/** Adds the options that write the report to files. */
export function addOutputs(command: Command): void {
  command
    .option('--json <file>', 'write the report as JSON')
    .option('--html <file>', 'write the report as a page with plots, one file')
    .option('--markdown <file>', 'write the report as Markdown, as in bench/RESULTS.md')
}
