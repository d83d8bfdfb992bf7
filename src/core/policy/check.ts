// Compiles a policy document, and refuses at load time any content that would surprise at run time (decisions §6).
import type { ASTNode } from '@marcbachmann/cel-js'
import { compileExpression, type Inspection } from '../cel/expression.ts'
import {
  DocumentError,
  documentOf,
  mistakesAs400,
  placed,
  type Found,
  type PositionOf,
} from '../cel/mistakes.ts'
import { CHOICES_MAX } from '../approval-requests/grants.ts'
import { failures, type Failure } from '../errors/errors.ts'
import { isObject } from '../../formats/json/fields.ts'
import { didYouMean } from '../../formats/text/nearest.ts'
import { reachOf } from '../cel/reach.ts'
import { PARAMETER_PATH, PolicyDocument, type SignalVerifier } from '../../formats/schemas/policy.ts'
import { compileAsk, type Ask } from './ask.ts'
import { compileGrouping, type Grouping } from './counting.ts'
import { PLACE, shownOf } from './display.ts'
import { ruleEnvironment, ruleVocabulary, type Facts, type Reads, type Source } from './facts.ts'

const policyDocument = documentOf(PolicyDocument)

type SignalType = 'boolean' | 'number'

/** Signals, bindings and verifiers are sorted by name: a stored document has no other order. */
export interface CompiledPolicy {
  readonly name: string
  readonly version: string
  readonly capabilities: ReadonlySet<string>
  readonly signals: ReadonlyMap<string, SignalType>
  readonly bindings: readonly {
    readonly signal: string
    readonly path: string
    readonly members: readonly string[]
  }[]
  readonly verify: readonly ({ readonly signal: string } & SignalVerifier)[]
  /** The groupings of the velocity limits that have `per` or `where`, by their signal. */
  readonly groupings: ReadonlyMap<string, Grouping>
  /** When approvers are notified of an open request again. */
  readonly ask: Ask
  /** Number of humans who must state how an execution in doubt ended. */
  readonly closeQuorum: number
  readonly rules: readonly CompiledRule[]
  readonly reads: Reads
}

export interface CompiledRule {
  readonly id: string
  readonly outcome: 'approve' | 'reject'
  readonly reason: string
  /** Signals that the condition reads. */
  readonly signals: ReadonlySet<string>
  /** @throws EvaluationError; Error for failures that the language's implementation did not foresee */
  readonly matches: (facts: Facts) => boolean
}

interface ParsedRule extends CompiledRule {
  readonly ast: ASTNode
}

export interface Compiled {
  readonly document: PolicyDocument
  readonly policy: CompiledPolicy
  readonly warnings: string[]
}

/**
 * Checks a whole document and compiles its rules.
 *
 * @param parsed from YAML or from stored content
 * @param file its name in the mistakes
 * @param options.positionOf finds the place in the file, for the mistakes
 * @param options.isStored the document was checked before it was stored: the search for rules that cannot match is skipped, as it would
 *   cost every thread some 20 ms of its start
 * @returns the document; the policy; and one sentence per `warning`, which follows "Policy <name> <version>: ", for content that
 *   is allowed but looks unintended
 * @throws DocumentError with every mistake in the document
 */
export function compilePolicy(
  parsed: unknown,
  file: string,
  { isStored = false, positionOf = () => undefined }: { isStored?: boolean; positionOf?: PositionOf } = {},
): Compiled {
  const given = { file, document: parsed, positionOf }
  const document = policyDocument(parsed, given)

  const signals = new Map(byName(document.signals))
  const bindings = byName(document.bindings ?? {}).map(([signal, path]) => ({
    signal,
    path,
    members: path.split('.').slice(1),
  }))
  const verify = byName(document.verify ?? {}).map(([signal, verifier]) => ({ signal, ...verifier }))
  const { rules, reads, mistakes, warnings } = compileRules(document.rules, signals, isStored)
  const limits = compileLimits(verify)
  const { ask, mistakes: askMistakes } = compileAsk(document)

  const problems = [
    ...displayMistakes(document),
    ...signalMistakes({ signals, bindings, verify }),
    ...limits.mistakes,
    ...askMistakes,
    ...mistakes,
  ]
  if (problems.length > 0) throw new DocumentError(placed(problems, given))
  return {
    document,
    policy: {
      name: document.policyId,
      version: document.policyVersion,
      capabilities: new Set(document.capabilities),
      signals,
      bindings,
      verify,
      groupings: limits.groupings,
      ask,
      closeQuorum: document.closeQuorum ?? 1,
      rules,
      reads,
    },
    warnings: [...signalWarnings({ signals, bindings, verify, reads }), ...limits.warnings, ...warnings],
  }
}

function byName<T>(entries: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(entries).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

type Declared = Pick<CompiledPolicy, 'signals' | 'bindings' | 'verify'>

/** A verifier whose answer can never equal the signal would deny everything. */
const VERIFIED_TYPE = { approval: 'boolean', history: 'number', 'crm-deal': null } as const

const parameterPath = new RegExp(PARAMETER_PATH)

function signalMistakes({ signals, bindings, verify }: Declared): Found[] {
  const mistakes: Found[] = []
  for (const [place, entries] of [['bindings', bindings] as const, ['verify', verify] as const]) {
    for (const { signal } of entries) {
      if (signals.has(signal)) continue
      const meant = didYouMean(signal, signals.keys())
      mistakes.push({
        path: [place, signal],
        message: `${place}.${signal} names no declared signal${meant}.`,
      })
    }
  }
  for (const { signal, path } of bindings) {
    if (!parameterPath.test(path))
      mistakes.push({
        path: ['bindings', signal],
        message: `bindings.${signal} must be intent.parameters.<member>, is ${path}.`,
      })
  }
  const byApproval = verify.filter((verifier) => verifier.by === 'approval')
  const naming = byApproval.find(({ from }) => from !== undefined)
  if (naming !== undefined && byApproval.length > CHOICES_MAX)
    mistakes.push({
      path: ['verify', naming.signal, 'from'],
      message: `verify.${naming.signal}.from is allowed with at most ${CHOICES_MAX} signals verified by approval; this policy has ${byApproval.length}.`,
    })
  for (const { signal, by } of verify) {
    const type = VERIFIED_TYPE[by]
    if (type !== null && signals.has(signal) && signals.get(signal) !== type)
      mistakes.push({
        path: ['verify', signal],
        message: `verify.${signal} by ${by} needs a ${type} signal.`,
      })
  }
  return mistakes
}

/** Finds a capability that the policy does not govern, a place that no request has, or an unmatched brace. */
function displayMistakes({ display = {}, capabilities, signals }: PolicyDocument): Found[] {
  const mistakes: Found[] = []
  for (const [capability, shown] of Object.entries(display)) {
    const { text, ...places } = shownOf(shown)
    const path = ['display', capability]
    const add = (what: string) => mistakes.push({ path, message: `display.${capability} ${what}.` })
    if (!capabilities.includes(capability))
      add(`names no capability of the policy${didYouMean(capability, capabilities)}`)
    for (const [i, part] of text.split(PLACE).entries()) {
      if (i % 2 === 1 && !isPlace(part, signals))
        add(
          `has {${part}}, which is none of {intent.target}, {intent.parameters.<member>} and {signals.<declared signal>}`,
        )
      if (i % 2 === 0 && /[{}]/.test(part)) add('has a brace without its other one')
    }
    for (const [member, place] of Object.entries(places))
      if (place !== undefined && !isPlace(place, signals))
        add(
          `has ${member}: ${place}, which is none of intent.target, intent.parameters.<member> and signals.<declared signal>`,
        )
  }
  return mistakes
}

function isPlace(place: string, signals: PolicyDocument['signals']): boolean {
  const [, signal] = /^signals\.(.*)$/.exec(place) ?? []
  if (signal !== undefined) return Object.hasOwn(signals, signal)
  return place === 'intent.target' || parameterPath.test(place)
}

function signalWarnings({ signals, bindings, verify, reads }: Declared & { reads: Reads }): string[] {
  const names = [...signals.keys()]
  const known = new Set([...bindings, ...verify].map(({ signal }) => signal))
  const unread = names.filter((name) => reads.get('signals')?.has(name) !== true)
  const unchecked = names.filter((name) => !known.has(name))
  return [
    ...unread.map((name) => `No rule reads the signal '${name}'.`),
    ...unchecked.map((name) => `Nothing checks the signal '${name}'; it is the caller's word.`),
  ]
}

/** `per` and `where` of the velocity limits. */
function compileLimits(verify: CompiledPolicy['verify']): {
  readonly groupings: Map<string, Grouping>
  readonly mistakes: Found[]
  readonly warnings: string[]
} {
  const groupings = new Map<string, Grouping>()
  const mistakes: Found[] = []
  const warnings: string[] = []
  for (const verifier of verify) {
    if (verifier.by !== 'history') continue
    const { signal } = verifier
    const { grouping, inspection } = compileGrouping(verifier)
    if (grouping !== undefined) groupings.set(signal, grouping)
    for (const found of inspection?.mistakes ?? [])
      mistakes.push({ path: ['verify', signal, 'where'], part: `verify.${signal}.where`, ...found })
    for (const { at, message } of inspection?.warnings ?? [])
      warnings.push(`verify.${signal}.where, column ${at + 1}: ${message}`)
  }
  return { groupings, mistakes, warnings }
}

interface CompiledRules {
  readonly rules: CompiledRule[]
  readonly reads: Reads
  readonly mistakes: Found[]
  readonly warnings: string[]
}

function compileRules(
  documents: PolicyDocument['rules'],
  signals: ReadonlyMap<string, SignalType>,
  isStored: boolean,
): CompiledRules {
  const given = { environment: ruleEnvironment(signals), vocabulary: ruleVocabulary(signals) }
  const rules: ParsedRule[] = []
  const reads = new Map<Source, Set<string>>()
  const mistakes: Found[] = []
  const warnings: string[] = []
  const ids = new Set<string>()

  for (const [i, document] of documents.entries()) {
    const { id } = document
    if (ids.has(id))
      mistakes.push({ path: ['rules', i, 'id'], message: 'This id is taken by an earlier rule.' })
    ids.add(id)
    const parsed = parseRule(document, given)
    mistakes.push(...parsed.mistakes.map((finding) => ({ path: ['rules', i, 'when'], ...finding })))
    warnings.push(
      ...parsed.warnings.map((finding) => `Rule ${id}, column ${finding.at + 1}: ${finding.message}`),
    )
    if (parsed.rule !== undefined) rules.push(parsed.rule)
    for (const [source, paths] of parsed.reads)
      reads.set(source, (reads.get(source) ?? new Set()).union(new Set(paths.map(([member = '']) => member))))
  }
  const reach = isStored ? { mistakes: [], warnings: [] } : checkReach(rules)
  const unreachable = reach.mistakes.map(({ rule, message }) => ({
    path: ['rules', documents.findLastIndex(({ id }) => id === rule), 'when'],
    at: 0,
    message,
  }))
  return {
    rules,
    reads,
    mistakes: [...mistakes, ...unreachable],
    warnings: [...warnings, ...reach.warnings],
  }
}

function parseRule(
  { id, when, outcome, reason }: PolicyDocument['rules'][number],
  given: Pick<Parameters<typeof compileExpression<Source>>[1], 'environment' | 'vocabulary'>,
): Inspection<Source> & { rule?: ParsedRule } {
  const { expression, ...inspection } = compileExpression(when, { ...given, types: ['bool'] })
  if (expression === undefined) return inspection
  const matches = (facts: Facts) => expression.evaluate(facts) as boolean
  const signals = new Set(
    Iterator.from(inspection.reads).flatMap(([source, paths]) =>
      source === 'signals' ? paths.map(([member = '']) => member) : [],
    ),
  )
  return { ...inspection, rule: { id, outcome, reason, signals, matches, ast: expression.ast } }
}

function checkReach(rules: readonly ParsedRule[]): Pick<ReturnType<typeof reachOf>, 'mistakes' | 'warnings'> {
  const { mistakes, warnings, catchAll } = reachOf(rules)
  if (rules.find(({ id }) => id === catchAll)?.outcome === 'approve')
    warnings.push(`Rule ${catchAll} approves whatever no earlier rule decided.`)
  if (rules.every(({ outcome }) => outcome === 'reject')) warnings.push('No rule approves.')
  return { mistakes, warnings }
}

/**
 * Compiles a policy that a request contains.
 * @param name the body's member that holds the policy
 * @returns the policy, or a 400 with a line for each mistake
 */
export function compiledOr400(document: unknown, name: string): Compiled | Failure {
  if (!isObject(document)) return failures.invalidField(`${name} must be a policy document.`)
  return mistakesAs400(() => compilePolicy(document, name))
}
