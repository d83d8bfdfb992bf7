// Between the rules and the claim, for policies that verify state (decisions §6, §12): a declared signal must equal its independently known
// value, a signal that was left out gets that value before a rule reads it, and the basis of the value is claimed with the execution.
// Executions under other policies never come here.
import type { Json } from '../../../src/formats/json/canonical.ts'
import { Failure } from '../../../src/core/errors/errors.ts'
import { denied, rejected, type Evaluation, type Mismatch } from '../../../src/core/policy/evaluate.ts'
import type { AdvisoryLock, Sql } from '../../../src/store/postgres/sql.ts'
import { verifierOf } from '../../verifiers/index.ts'
import type { SignalCheck, ConsumedApproval, SignalValue, VerifyWith } from '../../verifiers/verifier.ts'
import type { LoadedPolicy } from '../../policies.ts'
import type { Accepted } from '../validate/validate.ts'
import { canBeNamed, grantsOf } from '../../../src/core/approval-requests/grants.ts'
import { conclude, evaluateVersion, type Concluded, type StateUnverified } from '../decide/decide.ts'

/** The outside state read before the claim, by signal; and the decision whose id the authorization of the read contains. */
export interface Observed {
  readonly decision: SignalCheck['decision']
  readonly checks: readonly SignalCheck[]
  readonly verified: ReadonlyMap<string, SignalValue>
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
  const decision = { decisionId: tools.newId(), policyContentHash: item.version.contentHash }
  const checks = checksOf(item, { decision, now: tools.now })
  const observed = await Promise.all(
    checks.map(async (one) => {
      const verifier = verifierOf(one.verifier)
      const seen = verifier.when === 'before the claim' ? await verifier.observe(one, tools) : undefined
      return { signal: one.signal, seen }
    }),
  )
  const verified = new Map<string, SignalValue>()
  for (const { signal, seen } of observed) {
    if (seen instanceof Failure) return seen
    if (seen !== undefined) verified.set(signal, seen)
  }
  return { decision, checks, verified }
}

/** The signals that its policy verifies, in the order of their names. */
export function checksOf(
  item: Accepted & { readonly version: LoadedPolicy },
  given: { readonly decision: SignalCheck['decision']; readonly now: Date },
): SignalCheck[] {
  const { version } = item
  const { policy } = version
  return policy.verify.map(({ signal, ...verifier }) => ({
    signal,
    declared: item.transaction.signals[signal],
    type: policy.signals.get(signal)!,
    verifier,
    accepted: item,
    version,
    ...given,
  }))
}

/** Lists the locks that have to be taken before `prove` reads, in any order. */
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
 * Decides in the transaction of the claim: by the rules once more, which may look at the time, and by the state that is read under the locks.
 * A signal that was left out is read when the first rule needs it, so that an approval which no rule asks for is not used up.
 * @param tools.now taken under the locks: approvals must be valid and windows begin relative to it
 */
export async function prove(
  item: StateUnverified,
  observed: Observed,
  { sql, ...tools }: ProveWith & { sql: Sql },
): Promise<ConcludedOnState> {
  const verified = new Map<string, SignalValue>()
  const consumes: ConsumedApproval[] = []
  const readAll = async (signals: readonly { readonly signal: string }[]) => {
    for (const { signal } of signals) {
      if (verified.has(signal)) continue
      const one = observed.checks.find((check) => check.signal === signal)!
      const verifier = verifierOf(one.verifier)
      if (verifier.when === 'before the claim') {
        verified.set(signal, observed.verified.get(signal)!)
        continue
      }
      const found = await verifier.read({ ...one, now: tools.now }, { ...tools, sql, before: verified })
      consumes.push(...(found.consumes ?? []))
      verified.set(signal, found)
    }
  }

  /** @param granted approvals that are taken as given, or as not given: those signals are not read */
  const decideOn = async (granted: Readonly<Record<string, boolean>> = {}): Promise<Evaluation> => {
    const valueOf = (signal: string) => granted[signal] ?? verified.get(signal)?.value ?? null
    const read = (signals: Evaluation['verify']) =>
      readAll(signals.filter(({ signal }) => !Object.hasOwn(granted, signal)))
    const filled: Record<string, boolean | number> = { ...granted }
    const evaluateAgain = () => evaluateVersion(item.version, item.transaction, tools.now, filled)
    let evaluation = evaluateAgain()
    while (evaluation.kind === 'unfilled') {
      await read(evaluation.verify)
      const missing = evaluation.verify.find(({ signal }) => valueOf(signal) === null)
      if (missing !== undefined)
        return rejected(`Signal '${missing.signal}' is missing, and ${missing.by} has no value for it.`)
      for (const { signal } of evaluation.verify) filled[signal] = valueOf(signal)!
      evaluation = evaluateAgain()
    }
    if (evaluation.kind !== 'approved') return evaluation
    await read(evaluation.verify)
    return judged(evaluation, observed.checks, valueOf)
  }

  const evaluation = await decideOn()
  // Taken before anything is read that this decision did not need.
  const verifiedSignals = shown(observed.checks, verified)
  const concluded = conclude(item, evaluation, {
    ...tools,
    ...observed.decision,
    version: item.version,
    verifiedSignals,
    approvedBy: [...new Set(consumes.map(({ approverId }) => approverId))],
    approvable:
      evaluation.kind !== 'approved' && (await isApprovable(item, observed, { verified, decideOn })),
  })
  return { concluded, consumes: concluded.outcome === 'approved' ? consumes : [] }
}

/** Whether the same transaction would be approved with the missing approvals, all other state being as it is. */
async function isApprovable(
  { transaction }: Accepted,
  { checks }: Observed,
  given: {
    readonly verified: ReadonlyMap<string, SignalValue>
    readonly decideOn: (granted: Readonly<Record<string, boolean>>) => Promise<Evaluation>
  },
): Promise<boolean> {
  // A caller that declares false claims no approval.
  const lacking = checks.flatMap(({ signal, declared, verifier }) =>
    verifier.by === 'approval' && declared !== false && given.verified.get(signal)?.value !== true
      ? [{ signal, quorum: verifier.quorum }]
      : [],
  )
  if (lacking.length === 0 || !canBeNamed(transaction.intent)) return false
  for (const granted of grantsOf(lacking))
    if ((await given.decideOn(granted)).kind === 'approved') return true
  return false
}

/** Compares declared signals; a filled-in signal has the verified value itself. */
function judged(
  evaluation: Evaluation,
  checks: readonly SignalCheck[],
  valueOf: (signal: string) => SignalValue['value'],
): Evaluation {
  const mismatches = checks.flatMap(({ signal, declared, verifier }): Mismatch[] => {
    if (declared === undefined) return []
    const value = valueOf(signal)
    return value === declared ? [] : [{ signal, declared, verified: value, source: verifier.by }]
  })
  const { matchedRuleId, evaluatedRules } = evaluation
  return mismatches.length === 0 ? evaluation : { ...denied(mismatches), matchedRuleId, evaluatedRules }
}

/** The decision's verifiedSignals (decisions §4): the signals that could be verified, each with its proof. */
function shown(
  checks: readonly SignalCheck[],
  verified: ReadonlyMap<string, SignalValue>,
): Record<string, Json> {
  return Object.fromEntries(
    checks.flatMap(({ signal, verifier }): [string, Json][] => {
      const { value = null, evidence = {} } = verified.get(signal) ?? {}
      return value === null ? [] : [[signal, { value, by: verifier.by, ...evidence }]]
    }),
  )
}
