// Between the rules and the claim, for policies that verify state (decisions §6): what a signal was declared to be must be what is
// independently known, and what that knowledge rests on is claimed with the execution. Everything else never comes here.
import { randomUUID } from 'node:crypto'
import type { Json } from '../../src/core/json/canonical.ts'
import { Failure } from '../../src/core/errors.ts'
import { denied, type Evaluation, type Mismatch } from '../../src/core/policy/evaluate.ts'
import type { AdvisoryLock, Sql } from '../../src/core/tables/sql.ts'
import { verifierOf } from '../verifiers/index.ts'
import type { SignalCheck, ConsumedApproval, Verified, VerifyWith } from '../verifiers/verifier.ts'
import { conclude, evaluateVersion, type Concluded, type StateUnverified } from './decide.ts'

/** What was seen outside before the claim, by signal; and the decision whose id stands in what was signed for it. */
export interface Observed {
  readonly decision: SignalCheck['decision']
  readonly checks: readonly SignalCheck[]
  readonly verified: ReadonlyMap<string, Verified>
}

type ProveWith = VerifyWith & { readonly now: Date }

/** Whether any of its signals is known outside of the database only. */
export function looksOutside({ version }: StateUnverified): boolean {
  return version.policy.verify.some((verifier) => verifierOf(verifier).when === 'before the claim')
}

/**
 * Asks all verifiers that look outside of the database at once. Nothing is claimed yet, so an answer may take its time.
 * @returns what they observed, or 503 where one of them cannot read its state
 */
export async function observe(item: StateUnverified, tools: ProveWith): Promise<Observed | Failure> {
  const { policy, contentHash, limitedSince } = item.version
  const decision = { decisionId: randomUUID(), policyContentHash: contentHash }
  const checks = policy.verify.map(({ signal, ...verifier }): SignalCheck => {
    const declared = item.transaction.signals[signal] as boolean | number
    return { signal, declared, verifier, accepted: item, decision, limitedSince, now: tools.now }
  })
  const observed = await Promise.all(
    checks.map(async (one) => {
      const verifier = verifierOf(one.verifier)
      const seen = verifier.when === 'before the claim' ? await verifier.observe(one, tools) : undefined
      return { signal: one.signal, seen }
    }),
  )
  const verified = new Map<string, Verified>()
  for (const { signal, seen } of observed) {
    if (seen instanceof Failure) return seen
    if (seen !== undefined) verified.set(signal, seen)
  }
  return { decision, checks, verified }
}

/** What has to be locked before `prove` reads, in any order. */
export function locksOf({ checks }: Observed): AdvisoryLock[] {
  return checks.flatMap((one) => {
    const verifier = verifierOf(one.verifier)
    return verifier.when === 'with the claim' ? verifier.locks(one) : []
  })
}

interface ConcludedOnState {
  readonly concluded: Concluded
  /** To be used up if, and only if, `concluded` is claimed and released. */
  readonly consumes: readonly ConsumedApproval[]
}

/**
 * Decides in the transaction of the claim: by the rules once more, which may look at the time, and by what is read under the locks.
 * @param tools.now taken under the locks: approvals must be valid and windows begin relative to it
 */
export async function prove(
  item: StateUnverified,
  observed: Observed,
  { sql, ...tools }: ProveWith & { sql: Sql },
): Promise<ConcludedOnState> {
  const concludeWith = { ...tools, ...observed.decision, version: item.version }
  const evaluation = evaluateVersion(item.version, item.transaction, tools.now)
  if (evaluation.kind !== 'approved')
    return { concluded: conclude(item, evaluation, concludeWith), consumes: [] }

  const verified = new Map(observed.verified)
  const consumes: ConsumedApproval[] = []
  for (const one of observed.checks) {
    const verifier = verifierOf(one.verifier)
    if (verifier.when === 'before the claim') continue
    // One approval stands for one signal.
    const taken = new Set(consumes.map(({ approvalId }) => approvalId))
    const found = await verifier.read({ ...one, now: tools.now }, { ...tools, sql, taken })
    consumes.push(...(found.consumes ?? []))
    verified.set(one.signal, found)
  }
  const concluded = conclude(item, judged(evaluation, observed.checks, verified), {
    ...concludeWith,
    verifiedSignals: shown(observed.checks, verified),
    approvedBy: [...new Set(consumes.map(({ approverId }) => approverId))],
  })
  return { concluded, consumes: concluded.outcome === 'approved' ? consumes : [] }
}

function judged(
  evaluation: Evaluation,
  checks: readonly SignalCheck[],
  verified: ReadonlyMap<string, Verified>,
): Evaluation {
  const mismatches = checks.flatMap(({ signal, declared, verifier }): Mismatch[] => {
    const value = verified.get(signal)?.value ?? null
    return value === declared ? [] : [{ signal, declared, verified: value, source: verifier.by }]
  })
  const { matchedRuleId, evaluatedRules } = evaluation
  return mismatches.length === 0 ? evaluation : { ...denied(mismatches), matchedRuleId, evaluatedRules }
}

/** The decision's verifiedSignals (decisions §4): what could be verified, each with what proves it. */
function shown(
  checks: readonly SignalCheck[],
  verified: ReadonlyMap<string, Verified>,
): Record<string, Json> {
  return Object.fromEntries(
    checks.flatMap(({ signal, verifier }): [string, Json][] => {
      const { value = null, evidence = {} } = verified.get(signal) ?? {}
      return value === null ? [] : [[signal, { value, by: verifier.by, ...evidence }]]
    }),
  )
}
