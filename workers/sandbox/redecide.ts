// One past decision, and the decision of another policy document on the same transaction at the same time (decisions §9). Pure.
import { rowOf } from '../../src/core/policy/display.ts'
import type { PolicyDocument } from '../../src/formats/schemas/policy.ts'
import type { CompiledPolicy } from '../../src/core/policy/check.ts'
import { countedApprovers, type Persons } from '../../src/formats/people/persons.ts'
import {
  denied,
  evaluate,
  isLeftOut,
  type Evaluation,
  type Mismatch,
  type PolicySubject,
} from '../../src/core/policy/evaluate.ts'
import type { PastDecision } from '../../src/store/tables/past-decisions.ts'
import { cut } from '../../src/formats/text/text.ts'

/** A past execution as a list shows it. */
interface Row extends ReturnType<typeof rowOf> {
  readonly businessTransactionId: string
  readonly createdAt: string
}

export interface Flip extends Row {
  readonly was: { readonly outcome: Outcome; readonly reason?: string }
  readonly wouldBe: {
    readonly outcome: Outcome
    readonly reason: string
    readonly matchedRuleId: string | null
    /** Signals that this approval takes as declared: their state was not verified then. */
    readonly unverified?: readonly string[]
    /** Approvals that nobody was asked for then. With them it would be approved: as it was sent, it would wait for them. */
    readonly needs?: readonly string[]
  }
}

/** A Decision's outcomes (decisions §4): a denial is REJECTED, with mismatches. */
type Outcome = 'APPROVED' | 'REJECTED'

/** Approved then, under a version that would be retired: refused as it was sent. */
export interface Refused extends Row {
  readonly version: string
}

/** The subject of a simulation: the decisions of a document, the end of versions, or both. */
export interface Simulated {
  readonly name: string
  /** Undefined: nothing is decided again. */
  readonly policy: CompiledPolicy | undefined
  /** The words of the document; undefined: it has none, or there is none. */
  readonly display: PolicyDocument['display']
  readonly retires: ReadonlySet<string>
}

/**
 * `other`: it is of another policy. `undecided`: nothing shows how it was decided, as where there was no connector. `unknown`: it was decided,
 * and the document decides it by past values of these signals that nothing shows.
 */
type Redecided =
  | 'other'
  | 'undecided'
  | { readonly flip?: Flip; readonly refused?: Refused; readonly unknown?: readonly string[] }

interface Past {
  readonly outcome: Outcome
  readonly reason?: string
  readonly mismatches: readonly Mismatch[]
  /** Values of the signals that were verified then. */
  readonly verified: Readonly<Record<string, boolean | number>>
}

export function redecide(
  row: PastDecision & { readonly record?: string | undefined },
  { name, policy, display, retires, persons }: Simulated & { readonly persons: Persons },
): Redecided {
  if (row.body === null) return 'other'
  const transaction = JSON.parse(row.body) as Transaction
  if (transaction.policy.name !== name) return 'other'
  const past = pastOf(row, { transaction, persons })
  if (past === undefined) return 'undecided'
  const { version } = transaction.policy
  const found = policy && flipOf(row, { transaction, policy, past })
  const [flip, unknown] = found !== undefined && 'unknown' in found ? [undefined, found] : [found, {}]
  const isRefused = past.outcome === 'APPROVED' && retires.has(version)
  if (flip === undefined && !isRefused) return unknown
  const { intent, signals } = transaction
  const { action: capability, target, parameters } = intent
  const shown = {
    businessTransactionId: row.id,
    createdAt: row.createdAt,
    ...rowOf(display === undefined ? {} : { display }, { capability, target, parameters, signals }),
  }
  return {
    ...unknown,
    ...(flip === undefined ? {} : { flip: { ...shown, ...flip } }),
    ...(isRefused ? { refused: { ...shown, version } } : {}),
  }
}

/** Undefined: the decision is the same. `unknown`: it left signals out whose value at the time is not known, a sum of the past for example. */
function flipOf(
  row: PastDecision,
  { transaction, policy, past }: { transaction: Transaction; policy: CompiledPolicy; past: Past },
): Pick<Flip, 'was' | 'wouldBe'> | { readonly unknown: readonly string[] } | undefined {
  const unasked = unaskedIn(policy, transaction, past)
  const decidedWith = (approved: boolean) => {
    const filled = { ...past.verified, ...Object.fromEntries(unasked.map((signal) => [signal, approved])) }
    return asVerifiedThen(evaluate(policy, transaction, new Date(row.createdAt), filled), past)
  }
  const evaluation = decidedWith(false)
  if (evaluation.kind === 'unfilled') return { unknown: evaluation.verify.map(({ signal }) => signal) }
  const outcome = evaluation.kind === 'approved' ? 'APPROVED' : 'REJECTED'
  if (outcome === past.outcome) return undefined
  const unverified = evaluation.verify.map(({ signal }) => signal)
  const isAskedFor = unasked.length > 0 && outcome === 'REJECTED' && decidedWith(true).kind === 'approved'
  return {
    was: { outcome: past.outcome, ...(past.reason === undefined ? {} : { reason: short(past.reason) }) },
    wouldBe: {
      outcome,
      reason: short(evaluation.reason),
      matchedRuleId: evaluation.matchedRuleId,
      ...(unverified.length === 0 ? {} : { unverified }),
      ...(isAskedFor ? { needs: unasked } : {}),
    },
  }
}

/** Signals that approvals of humans fill, and that were neither declared nor verified then: the policy of that time asked nobody for them. */
function unaskedIn(policy: CompiledPolicy, { signals }: PolicySubject, { verified }: Past): string[] {
  return policy.verify.flatMap(({ signal, by }) =>
    by === 'approval' && isLeftOut(signal, policy, signals) && !Object.hasOwn(verified, signal)
      ? [signal]
      : [],
  )
}

interface Transaction extends PolicySubject {
  readonly authority: { readonly principalId: string }
  readonly metadata: { readonly submittedBy: string }
  readonly policy: { readonly name: string; readonly version: string }
}

interface PastDecisionText {
  readonly reason: string
  readonly verifiedSignals: Readonly<
    Record<
      string,
      {
        readonly value: boolean | number
        readonly by: string
        readonly approvals?: readonly { readonly payload: { readonly approverId: string } }[]
      }
    >
  >
}

function pastOf(
  { released, refusal, record }: Parameters<typeof redecide>[0],
  who: { readonly transaction: Transaction; readonly persons: Persons },
): Past | undefined {
  if (released) {
    const { executions: [execution] = [] } = JSON.parse(record ?? '{}') as {
      executions?: { decision: PastDecisionText }[]
    }
    return { outcome: 'APPROVED', ...stateOf(execution?.decision, who) }
  }
  if (refusal === null) return undefined
  const { decision, mismatches } = JSON.parse(refusal) as {
    decision: PastDecisionText
    mismatches: readonly Mismatch[]
  }
  const state = stateOf(decision, who)
  return {
    outcome: 'REJECTED',
    reason: decision.reason,
    ...state,
    mismatches: [...mismatches, ...state.mismatches],
  }
}

/** Takes the state that was verified then, less the approvals that would not count now. */
function stateOf(
  decision: PastDecisionText | undefined,
  who: Parameters<typeof pastOf>[1],
): Pick<Past, 'mismatches' | 'verified'> {
  const mismatches = selfApprovedIn(decision, who)
  const values = Object.entries(decision?.verifiedSignals ?? {}).map(
    ([signal, { value }]) => [signal, value] as const,
  )
  const uncounted = mismatches.map(({ signal }) => [signal, false] as const)
  return { mismatches, verified: Object.fromEntries([...values, ...uncounted]) }
}

/**
 * Signals that approvals verified then, and would not now: one of them is by a person behind the execution, or two are by one person, as is now
 * known.
 */
function selfApprovedIn(
  decision: PastDecisionText | undefined,
  { transaction: { authority, metadata }, persons }: Parameters<typeof pastOf>[1],
): Mismatch[] {
  const initiators = [metadata.submittedBy, authority.principalId]
  return Object.entries(decision?.verifiedSignals ?? {}).flatMap(([signal, { by, approvals = [] }]) => {
    const approverIds = approvals.map(({ payload }) => payload.approverId)
    const counted = countedApprovers(persons, approverIds, initiators)
    return counted.length === approverIds.length
      ? []
      : [{ signal, declared: true, verified: false, source: by }]
  })
}

/**
 * State is not read again: it is no longer what it was. A signal that was found to differ from its state then still does; every other one is
 * taken as declared.
 */
function asVerifiedThen(evaluation: Evaluation, { mismatches }: Past): Evaluation {
  const failed = mismatches.filter(({ signal, source }) =>
    evaluation.verify.some((verifier) => verifier.signal === signal && verifier.by === source),
  )
  return failed.length === 0 ? evaluation : { ...denied(failed), matchedRuleId: evaluation.matchedRuleId }
}

/** A reason may hold a caller's whole text, and an answer hundreds of reasons. */
const short = (reason: string) => cut(reason, 300)
