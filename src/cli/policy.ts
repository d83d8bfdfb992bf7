// countersign policy check | test | explain.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { DocumentError, lineOf, placed } from '../core/cel/mistakes.ts'
import { readYaml } from '../core/cel/yaml.ts'
import { isObject, type Fields } from '../formats/json/fields.ts'
import { parseJsonText } from '../formats/json/text.ts'
import { runCases } from '../core/policy/cases.ts'
import type { CompiledPolicy } from '../core/policy/check.ts'
import {
  bindingMismatches,
  evaluate,
  isLeftOut,
  signalProblem,
  type Evaluation,
  type PolicySubject,
  traceRules,
  type TracedRule,
} from '../core/policy/evaluate.ts'
import { displayOf, valueText } from '../core/policy/display.ts'
import { policyFilesAt, readPolicyFile, type PolicySource } from '../core/policy/load.ts'
import { printable } from '../formats/text/printable.ts'
import { isTimestamp } from '../formats/schemas/primitives.ts'
import { counted } from '../formats/text/text.ts'
import type { Given } from './command.ts'
import type { policy } from './commands.ts'

/** @returns the exit code: 1 where a policy has a mistake */
export function checkPolicies(path: string): 0 | 1 {
  return eachPolicy(path, (source) => {
    const { document, contentHash } = source
    const sizes = [
      counted(document.rules.length, 'rule'),
      counted(Object.keys(document.signals).length, 'signal'),
    ]
    console.log(`${nameOf(source)}: ${sizes.join(', ')}, no mistake, contentHash ${contentHash}`)
    return true
  })
}

/** @returns the exit code: 1 where a policy has a mistake, a case does not hold, or a rule decides no case */
export function testPolicies(path: string): 0 | 1 {
  return eachPolicy(path, (source) => {
    const casesFile = join(dirname(source.file), 'cases.yaml')
    if (!existsSync(casesFile)) {
      console.error(printable(`${casesFile} is not there: nothing says what the policy is meant to do.`))
      return false
    }
    const { count, failures, decidedBy } = runCases(source.policy, readYaml(casesFile))
    const unreached = unreachedBy(source, decidedBy)
    for (const line of [...failures, ...unreached]) console.error(printable(line))
    const cases =
      failures.length === 0
        ? `${counted(count, 'case')} hold`
        : `${failures.length} of ${counted(count, 'case')} fail`
    console.log(
      `${nameOf(source)}: ${cases}; ${decidedBy.size - unreached.length} of ${counted(decidedBy.size, 'rule')} decide a case`,
    )
    return failures.length + unreached.length === 0
  })
}

/** Every file is checked, also after one with mistakes. */
function eachPolicy(path: string, look: (source: PolicySource) => boolean): 0 | 1 {
  let good = true
  const files = withMistakesShown(() => policyFilesAt(path)) ?? []
  for (const file of files) {
    const holds = withMistakesShown(() => {
      const source = readPolicyFile(file)
      for (const warning of source.warnings)
        console.error(printable(`warning: ${nameOf(source)}: ${warning}`))
      return look(source)
    })
    good &&= holds === true
  }
  return good && files.length > 0 ? 0 : 1
}

function withMistakesShown<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    for (const mistake of error.mistakes) console.error(printable(lineOf(mistake)))
    return undefined
  }
}

function unreachedBy(
  { file, document, positionOf }: PolicySource,
  decidedBy: ReadonlyMap<string, number>,
): string[] {
  const unreached = document.rules.flatMap(({ id }, i) =>
    decidedBy.get(id) === 0 ? [{ path: ['rules', i], message: 'No case is decided by this rule.' }] : [],
  )
  return placed(unreached, { file, document, positionOf }).map(lineOf)
}

/**
 * Prints how a policy decides a transaction.
 * @throws Error with one sentence, or DocumentError with every mistake of the policy
 */
export function explainPolicy({
  file,
  transaction: transactionFile,
  at,
}: Given<typeof policy.explain>): void {
  if (at !== undefined && !isTimestamp(at)) throw new Error('--at must be a time as in 2026-03-02T10:00:00Z.')
  const source = readPolicyFile(file)
  const subject = readSubject(transactionFile, source)
  const now = at === undefined ? new Date() : new Date(at)
  const evaluation = evaluate(source.policy, subject, now)
  const lines = [
    `${nameOf(source)} at ${now.toISOString()}`,
    '',
    `${evaluation.kind === 'unfilled' ? 'UNDECIDED' : evaluation.kind.toUpperCase()}${byRule(evaluation)}: ${evaluation.reason}`,
    ...inWords(source, subject),
    '',
    'Signals',
    ...table(signalRows(source.policy, subject)),
    '',
    'Rules',
    ...table(ruleRows(source, evaluation, traceRules(source.policy, subject, now))),
  ]
  for (const line of lines) console.log(printable(line))
}

/** Writes the words that the approvers of the transaction read. */
function inWords({ document }: PolicySource, { intent, signals }: PolicySubject): string[] {
  const { action: capability, target, parameters } = intent
  const pieces = displayOf(document, { capability, target, parameters, signals })
  if (pieces === undefined) return []
  return ['', pieces.map((piece) => ('words' in piece ? piece.words : valueText(piece.value))).join('')]
}

function readSubject(file: string, { name, version }: PolicySource): PolicySubject {
  const DEPTH_MAX = 64
  let sent: unknown
  try {
    sent = parseJsonText(readFileSync(file, 'utf8'), DEPTH_MAX)
  } catch (error) {
    throw new Error(`${file} is not JSON with one reading: ${String(error)}`, { cause: error })
  }
  const transaction = membersOf(sent)
  const { intent, policy } = transaction
  const { action, parameters } = membersOf(intent)
  if (typeof action !== 'string') throw new Error(`${file}: intent.action is missing.`)
  if (isObject(policy) && (policy['name'] !== name || policy['version'] !== version))
    console.error(
      printable(`warning: the transaction names ${String(policy['name'])} ${String(policy['version'])}.`),
    )
  return {
    intent: { ...membersOf(intent), action, parameters: membersOf(parameters) },
    authority: membersOf(transaction['authority']),
    metadata: membersOf(transaction['metadata']),
    signals: membersOf(transaction['signals']),
  }
}

function membersOf(value: unknown): Fields {
  return isObject(value) ? value : {}
}

function byRule({ matchedRuleId }: Evaluation): string {
  return matchedRuleId === null ? '' : ` by rule ${matchedRuleId}`
}

/** Each signal with its value and its basis. */
function signalRows(policy: CompiledPolicy, subject: PolicySubject): string[][] {
  const mismatches = new Map(
    bindingMismatches(policy, subject).map((mismatch) => [mismatch.signal, mismatch]),
  )
  return [...policy.signals.keys()].map((name) => {
    const { [name]: value } = subject.signals
    const problem = isLeftOut(name, policy, subject.signals)
      ? undefined
      : signalProblem(name, policy, subject.signals)
    const bound = policy.bindings.find(({ signal }) => signal === name)
    const verified = policy.verify.find(({ signal }) => signal === name)
    const basis = [
      ...(bound === undefined ? [] : [boundText(bound.path, mismatches.get(name)?.verified)]),
      ...(verified === undefined ? [] : [`verified by ${verifierText(verified)} when it is executed`]),
    ]
    return [name, shown(value), problem ?? (basis.join('; ') || "on the caller's word")]
  })
}

function boundText(path: string, found: unknown): string {
  return found === undefined ? `equals ${path}` : `differs from ${path}, which is ${shown(found)}`
}

function verifierText({ by, ...options }: CompiledPolicy['verify'][number]): string {
  const words = Object.entries(options).flatMap(([name, value]) =>
    name === 'signal'
      ? []
      : [`${name} ${Array.isArray(value) ? value.join(name === 'from' ? ' or ' : ' and ') : value}`],
  )
  return words.length === 0 ? by : `${by} (${words.join(', ')})`
}

/** Each rule with its result; for those behind the rule that decided, the result that they would have had. */
function ruleRows(
  { document }: PolicySource,
  { evaluatedRules, matchedRuleId }: Evaluation,
  traced: readonly TracedRule[],
): string[][] {
  return traced.map(({ id, outcome, matched, error, column }, i) => {
    const found =
      matched === null
        ? `fails${column === undefined ? '' : ` at column ${column}`}: ${error}`
        : matched
          ? `matches: ${outcome}`
          : 'does not match'
    const reached = evaluatedRules.includes(id)
    const decides = id === matchedRuleId ? ', and decides' : ''
    return [id, reached ? `${found}${decides}` : `not reached (${found})`, document.rules[i]?.when ?? '']
  })
}

function shown(value: unknown): string {
  return value === undefined ? '(none)' : JSON.stringify(value)
}

/** Columns as wide as their widest cell; the last one as it is. */
function table(rows: readonly string[][]): string[] {
  const widths = rows[0]?.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0))) ?? []
  return rows.map(
    (row) =>
      `  ${row.map((cell, i) => (i === row.length - 1 ? cell : cell.padEnd(widths[i] ?? 0))).join('  ')}`,
  )
}

function nameOf({ name, version }: PolicySource): string {
  return `${name} ${version}`
}
