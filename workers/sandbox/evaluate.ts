// POST /sandbox/evaluate (decisions §9): the decision a transaction would get, why, and everything that is wrong with it. Stores
// nothing, consumes nothing, calls nothing, signs nothing.
import { isObject, parseBody, type Fields } from '../../src/core/json/body.ts'
import { Failure, failures } from '../../src/core/errors.ts'
import { capabilityProblem, type Evaluation, type PolicySubject } from '../../src/core/policy/evaluate.ts'
import type { Connectors } from '../connectors/index.ts'
import { failureOfEvaluation, evaluateVersion } from '../execute/decide.ts'
import { problemsOf } from '../execute/problems.ts'
import { finishWithText, runStep, type Finished, type ScopedCaller, type InFlight } from '../in-flight.ts'
import { rebuild } from '../execute/validate.ts'
import type { LoadedPolicy, Policies } from '../policies.ts'
import {
  mismatchFinding,
  readableMismatches,
  shown,
  signalFindings,
  warningsOf,
  type Finding,
} from './findings.ts'
import { traceRules } from './trace.ts'

interface SandboxWith {
  readonly policies: Policies
  readonly connectors: Connectors
}

export function evaluateInSandbox(batch: readonly InFlight[], tools: SandboxWith): Finished[] {
  const now = new Date()
  return finishWithText(
    runStep(batch, ({ request }) => {
      const body = parseBody(request.body)
      if (body instanceof Failure) return body
      return { request, text: JSON.stringify(look(body, request.caller, { ...tools, now })) }
    }),
  )
}

/** `body` is JSON of any shape. */
function look(
  body: unknown,
  caller: ScopedCaller,
  { policies, connectors, now }: SandboxWith & { now: Date },
) {
  const rebuilt = rebuild(body)
  const rest = problemsOf(body, rebuilt, caller)
  const { value: first } = rest.next()
  const { name, version, action } = named(rebuilt)
  const loaded = name === undefined || version === undefined ? undefined : policies.find({ name, version })
  const subject = action === undefined ? undefined : subjectOf(rebuilt, action, caller)
  const connector = action === undefined ? undefined : connectors.find(action, name)
  const decided = loaded && subject && decide(loaded, subject, now)

  function* problems(): Generator<Finding> {
    if (first !== undefined) yield first
    yield* rest
    if (name !== undefined && version !== undefined && loaded === undefined)
      yield { path: 'policy', message: failures.policyNotFound({ name, version }).message }
    if (decided !== undefined) yield* decided.findings()
    if (action !== undefined && connector === undefined)
      yield { path: 'intent.action', message: failures.noConnector(action).message }
  }
  function failure(): Failure | undefined {
    if (first !== undefined) return first.failure
    if (decided === undefined) return failures.policyNotFound({ name: name ?? '', version: version ?? '' })
    const noConnector = connector === undefined ? failures.noConnector(action ?? '') : undefined
    return failureOfEvaluation(decided.evaluation, String(rebuilt['businessTransactionId'])) ?? noConnector
  }
  const listed = shown(problems())
  return {
    valid: listed.length === 0,
    problems: listed,
    warnings: shown(warningsOf(body, loaded?.policy)),
    decision: decided?.decision ?? null,
    connector:
      connector === undefined
        ? { registered: false }
        : { registered: true, connectorId: connector.connectorId },
    wouldAnswer: answerOf(failure()),
  }
}

/** The names by which everything else is looked up; undefined for what is none. */
function named({ policy, intent }: Fields) {
  const [{ name, version }, { action }] = [policy as Fields, intent as Fields]
  return { name: textOf(name), version: textOf(version), action: textOf(action) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** What the policy would see, as far as it can be read. Undefined where the signals cannot. */
function subjectOf(rebuilt: Fields, action: string, caller: ScopedCaller): PolicySubject | undefined {
  const { authority, metadata, signals } = rebuilt
  const intent = rebuilt['intent'] as Fields
  const { parameters } = intent
  if (!isObject(signals)) return undefined
  return {
    intent: { ...intent, action, parameters: isObject(parameters) ? parameters : {} },
    authority: authority as Fields,
    metadata: { ...(metadata as Fields), submittedBy: caller.callerId },
    signals,
  }
}

function decide(loaded: LoadedPolicy, subject: PolicySubject, now: Date) {
  const { policy, contentHash, approved } = loaded
  const evaluation = evaluateVersion(loaded, subject, now)
  const mismatches = readableMismatches(policy, subject)
  const notGoverned = capabilityProblem(policy, subject.intent.action)
  return {
    evaluation,
    decision: {
      outcome: OUTCOMES[evaluation.kind],
      reason: evaluation.reason,
      policyContentHash: contentHash,
      matchedRuleId: evaluation.matchedRuleId,
      evaluatedRules: evaluation.evaluatedRules,
      rules: traceRules(policy, subject, now),
      mismatches,
      pendingVerification: evaluation.verify.map((verifier) => ({
        ...verifier,
        declared: subject.signals[verifier.signal],
      })),
    },
    *findings(): Generator<Finding> {
      if (!approved) yield { path: 'policy.version', message: evaluation.reason }
      if (notGoverned !== undefined) yield { path: 'intent.action', message: notGoverned }
      yield* signalFindings(policy, subject.signals)
      yield* mismatches.map(mismatchFinding)
    },
  }
}

const OUTCOMES = { approved: 'APPROVED', rejected: 'REJECTED', denied: 'DENIED' } as const satisfies Record<
  Evaluation['kind'],
  string
>

/** As far as it is known without looking at stored state: no duplicate, no verified signal, no connector's answer. */
function answerOf(failure: Failure | undefined) {
  if (failure === undefined) return { status: 200 }
  const { status, message: error, code } = failure
  return code === undefined ? { status, error } : { status, error, code }
}
