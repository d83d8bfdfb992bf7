// The options of the command line: the help, the possible values and the default of each.
import { InvalidArgumentError, Option, type Command } from 'commander'
import { errorText } from '../src/formats/text/error-text.ts'
import type { Stage } from './pace.ts'
import { WARM_AFTER } from './report.ts'
import { readTransactions } from './transaction.ts'

/** Exit code where nothing was measured because the command line is wrong, as of every command. */
export const WRONG_USAGE = 2
/** Exit code where all was measured and right, and a threshold was missed. */
export const MISSED = 3

/** The defaults of the options. */
export const WHOLE = {
  seconds: 5,
  rounds: 3,
  warmUp: 0,
  records: [0, 5e5, 2e6],
  storedCount: 2_000,
  sampleSize: 50,
}
/** Short runs in many turns: a machine that changes its speed changes it for both services alike. */
export const BESIDE = { ...WHOLE, seconds: 1.5, rounds: 8, warmUp: WARM_AFTER }
const ONE_ROUND = { seconds: 1, rounds: 1, warmUp: 0, records: [0, 20_000], connections: [1, 64] }
export const QUICK = { ...ONE_ROUND, storedCount: 50, sampleSize: 10 }

/** The warm-up ends after this time, however few requests were answered. */
export const WARM_UP_SECONDS_MAX = 240

/** A parser of one value, to whose error commander adds the option; or the list of possible values. */
type Parse = ((text: string) => unknown) | readonly string[]

/** @param help a line for each option: its flags, two spaces, its description */
export function addOptions(
  command: Command,
  help: string,
  parse: Readonly<Record<string, Parse>> = {},
): void {
  for (const line of help.trim().split('\n')) {
    const [flags = '', description = ''] = line.split(/ {2,}/)
    const option = new Option(flags, description)
    const name = option.attributeName()
    if (name === 'key') option.env('COUNTERSIGN_API_KEY')
    const of = parse[name]
    if (typeof of === 'function') option.argParser(of)
    else if (of !== undefined) option.choices(of)
    command.addOption(option)
  }
}

export function addSuiteOptions(suite: Command): void {
  addOptions(suite, LOAD + TRANSACTION + JUDGEMENT, {
    seconds: number(0.1, 86_400),
    rounds: whole(1, 100),
    warmUp: whole(0, 1e7),
    connections: list(whole(1, 9999)),
    records: list(whole(0, 1e9)),
    rate: stages,
    generator: ['own', 'autocannon', 'both'],
    callers: ['key', 'token'],
    besideEnv: settings,
    maxErrorPercent: number(0, 100),
    transaction: checked(readTransactions),
    parameters: jsonObject,
    signals: jsonObject,
    maxP99Ms: number(0.001, 1e6),
    minRate: number(0.001, 1e9),
  })
}

const LOAD = `
--quick  one short round, whose maximum duration it prints at the start: a trial run, not for comparisons
--seconds <n>  length of each run, in seconds (default: ${WHOLE.seconds}; with --beside or --callers token ${BESIDE.seconds})
--rounds <n>  how often everything is measured; their spread is the noise (default: ${WHOLE.rounds}; with --beside or --callers token ${BESIDE.rounds})
--warm-up <n>  requests that each service has answered before it is measured, in up to ${WARM_UP_SECONDS_MAX / 60} minutes (default: those of one run; with --beside or --callers token ${BESIDE.warmUp})
--connections <list>  connection counts, one after another (default: by scenario)
--records <list>  stored records of growth (default: ${WHOLE.records.join(',')})
--rate <list>  requests per second of the latency runs (default: half of the throughput); 100..500 rises or falls evenly over --seconds; several, one after another, --seconds each; with --url nothing is sent at open throttle then
--generator <name>  what sends the load: own, autocannon; both: in turn on the same service, and ratios, own ÷ autocannon (default: autocannon with --url where it is installed, else own)
--beside <checkout>  folder of another checkout of this repository: measures its service in turn with this one, and prints ratios, this ÷ other
--beside-env <settings>  variables of the service beside, NAME=value,…; without --beside that is this checkout's: what a setting brings, this ÷ other
--callers <kind>  key, token: with token the callers send an access token and, in turn, a key, and there are ratios, by token ÷ by key (default: key)
--service <checkout>  folder of the checkout whose service is measured, in place of this one's
--url <address>  measure this deployment; what it executes is real
--key <list>  API keys, for --url; with several, separated by commas, connections take them in turn
--max-error-percent <n>  percent of the replies of --url that may be errors; 429 is none (default: 0: the first ends the run)
`.trimStart()

const TRANSACTION = `\
--transaction <file>  JSON: execute this, or in turn these, in an array or one on a line; ids and times are replaced
--action <name>  intent.action
--target <name>  intent.target
--parameters <json>  intent.parameters
--policy <name>  policy.name
--policy-version <version>  policy.version
--signals <json>  signals
--principal <id>  authority.principalId (default: the caller's first)
`

const JUDGEMENT = `\
--compare <file>  an earlier --json: print what has changed by more than the noise
--max-p99-ms <n>  exit ${MISSED} where a scenario's p99 is higher, at the connection count that brings the most
--min-rate <n>  exit ${MISSED} where a scenario brings fewer replies per second, at the same
`

export const OUTPUTS = `
--json <file>  write the report as JSON
--html <file>  write the report as a page with plots, one file
--markdown <file>  write the report as Markdown, as in bench/RESULTS.md
`

/** @returns the variables of `NAME=value,…` */
function settings(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(',').map((pair) => /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(pair))
  if (pairs.includes(null))
    throw new InvalidArgumentError('must be NAME=value, or several with commas between them')
  return Object.fromEntries(pairs.map((pair) => [pair?.[1], pair?.[2]]))
}

export function number(min: number, max: number, form = /^[\d.e]+$/) {
  return (text: string) => {
    const value = form.test(text) ? Number(text) : Number.NaN
    const what = form === WHOLE_NUMBER ? 'whole number' : 'number'
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(`must be a ${what} from ${min} to ${max}.`)
    return value
  }
}

const WHOLE_NUMBER = /^\d+$/
export const whole = (min: number, max: number) => number(min, max, WHOLE_NUMBER)

function list(of: (text: string) => number) {
  return (text: string) => text.split(',').map(of)
}

/** `200`, `10..500`, or several of them separated by commas. */
function stages(text: string): Stage[] {
  const rate = number(0.1, 1e6)
  return text.split(',').map((stage) => {
    const [from = '', to, ...more] = stage.split('..')
    if (more.length > 0) throw new InvalidArgumentError('a ramp has two ends, as 10..500.')
    if (to === undefined) return { from: rate(from), to: rate(from) }
    // A ramp may begin or end at 0.
    const [start = 0, end = 0] = [from, to].map((one) => (one === '0' ? 0 : rate(one)))
    if (start + end === 0) throw new InvalidArgumentError('a ramp from 0 to 0 sends nothing.')
    return { from: start, to: end }
  })
}

/** @throws Error that does not quote a key */
export function keysOf(text: string): string[] {
  const keys = text.split(',').map((key) => key.trim())
  const wrong = keys.findIndex((key, i) => !/^[!-~]+$/.test(key) || keys.indexOf(key) < i)
  if (wrong < 0) return keys
  throw new Error(`--key: number ${wrong + 1} of ${keys.length} is no API key, or stands there twice`)
}

function checked<Value>(parse: (text: string) => Value, before = '', after = '') {
  return (text: string) => {
    try {
      return parse(text)
    } catch (error) {
      throw new InvalidArgumentError(before + errorText(error) + after)
    }
  }
}

function jsonObject(text: string): object {
  if (!/^\s*\{/.test(text)) throw new InvalidArgumentError('must be a JSON object.')
  return checked((json) => JSON.parse(json) as object, 'must be a JSON object: ', '.')(text)
}
