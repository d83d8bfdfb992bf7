// POST /sandbox/evaluate (decisions §9, §12): the decision a transaction would get, why, and everything that is wrong with it; and the
// present values of signals that the database verifies. Stores nothing, consumes nothing, calls nothing, signs nothing.
import { parseBody } from '../../src/core/json/body.ts'
import { isObject, type Fields } from '../../src/formats/json/fields.ts'
import { Failure, failures } from '../../src/core/errors/errors.ts'
import { failureOf } from '../../src/core/errors/failure-of.ts'
import {
  traceRules,
  capabilityProblem,
  isLeftOut,
  type Evaluation,
  type PolicySubject,
} from '../../src/core/policy/evaluate.ts'
import type { Connectors } from '../connectors/index.ts'
import type { ThreadContext } from '../context.ts'
import { failureOfEvaluation, evaluateVersion } from '../execute/decide/decide.ts'
import { problemsOf } from '../execute/validate/problems.ts'
import {
  Finished,
  finishWithText,
  runStage,
  type InFlight,
  type ScopedCaller,
  type WorkerRequest,
} from '../in-flight.ts'
import { rebuild, validate } from '../execute/validate/validate.ts'
import type { LoadedPolicy, Policies } from '../policies.ts'
import {
  mismatchFinding,
  readableMismatches,
  shown,
  signalFindings,
  warningsOf,
  type Finding,
} from './findings.ts'
import { readPresent, type PresentState, type Stateful } from './present.ts'

interface SandboxWith {
  readonly policies: Policies
  readonly connectors: Connectors
}

export async function evaluateInSandbox(
  batch: readonly InFlight[],
  thread: ThreadContext,
): Promise<Finished[]> {
  const tools = { ...thread, now: thread.clock() }
  const read = runStage(batch, ({ request }) => {
    const body = parseBody(request.body)
    return body instanceof Failure ? body : { request, body, stateful: statefulOf(request, body, tools) }
  })
  const looked = []
  // One after the other: a batch takes one connection.
  for (const item of read) {
    if (item instanceof Finished) looked.push(item)
    else {
      const state = item.stateful && (await readPresent(item.stateful, tools).catch(failureOf))
      looked.push(
        state instanceof Failure ? new Finished(item.request, state) : { ...item, state: state ?? {} },
      )
    }
  }
  return finishWithText(
    runStage(looked, ({ request, body, state }) => ({
      request,
      text: JSON.stringify(look(body, request.caller, { ...tools, state })),
    })),
  )
}

/** A transaction without a mistake under a policy in effect that verifies state; undefined: there is nothing to read. */
function statefulOf(request: WorkerRequest, body: unknown, { policies, now }: Looking): Stateful | undefined {
  const { name, version } = named(rebuild(body))
  const loaded = name === undefined || version === undefined ? undefined : policies.find({ name, version })
  if (loaded === undefined || loaded.standing !== 'APPROVED' || loaded.policy.verify.length === 0)
    return undefined
  const accepted = validate({ request }, now.toISOString())
  return accepted instanceof Failure ? undefined : { ...accepted, version: loaded }
}

type Looking = SandboxWith & { readonly now: Date }

/** `body` is JSON of any shape. */
function look(
  body: unknown,
  caller: ScopedCaller,
  { policies, connectors, now, state }: Looking & { state: PresentState },
) {
  const rebuilt = rebuild(body)
  const rest = problemsOf(body, rebuilt, caller)
  const { value: first } = rest.next()
  const { name, version, action } = named(rebuilt)
  const loaded = name === undefined || version === undefined ? undefined : policies.find({ name, version })
  const subject = action === undefined ? undefined : subjectOf(rebuilt, action, caller)
  const connector = action === undefined ? undefined : connectors.find(action, name)
  const decided = loaded && subject && decideOn(loaded, subject, { now, state })

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

/** The names by which everything else is looked up; undefined for a value that is no name. */
function named({ policy, intent }: Fields) {
  const [{ name, version }, { action }] = [policy as Fields, intent as Fields]
  return { name: textOf(name), version: textOf(version), action: textOf(action) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined
}

/** Reads the subject that the policy would see, as far as it can be read. Undefined where its signals cannot. */
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

/** @param given.granted approvals that are taken as given, by signal; those that were left out take these values and not the present ones */
export function decideOn(
  loaded: LoadedPolicy,
  subject: PolicySubject,
  {
    now,
    state,
    granted = {},
  }: { now: Date; state: PresentState; granted?: Readonly<Record<string, boolean>> },
) {
  const { policy, contentHash, standing, successor } = loaded
  const present = Object.entries(state).flatMap(([signal, { value }]) =>
    value !== null && isLeftOut(signal, policy, subject.signals) ? [[signal, value] as const] : [],
  )
  const filled: Readonly<Record<string, boolean | number>> = { ...Object.fromEntries(present), ...granted }
  const evaluation = evaluateVersion(loaded, subject, now, filled)
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
      rules: traceRules(policy, { ...subject, signals: { ...subject.signals, ...filled } }, now),
      mismatches,
      pendingVerification: evaluation.verify.flatMap((verifier) => {
        const { [verifier.signal]: declared } = subject.signals
        return declared === undefined ? [] : [{ ...verifier, declared }]
      }),
      presentState: state,
    },
    *findings(): Generator<Finding> {
      if (standing !== 'APPROVED')
        yield {
          path: 'policy.version',
          message:
            successor === undefined
              ? evaluation.reason
              : `${evaluation.reason} Version '${successor}' took its place.`,
        }
      if (notGoverned !== undefined) yield { path: 'intent.action', message: notGoverned }
      yield* signalFindings(policy, subject.signals)
      yield* mismatches.map(mismatchFinding)
    },
  }
}

const OUTCOMES = {
  approved: 'APPROVED',
  rejected: 'REJECTED',
  denied: 'DENIED',
  unfilled: 'UNDECIDED',
} as const satisfies Record<Evaluation['kind'], string>

/** The answer as far as it is known, without a look at whether the id is taken, whether a declared signal is true, and how the connector answers. */
function answerOf(failure: Failure | undefined) {
  if (failure === undefined) return { status: 200 }
  const { status, message: error, code } = failure
  return code === undefined ? { status, error } : { status, error, code }
}
