// Between the rules and the claim, for policies that verify state (decisions §6): what a signal was declared to be must be what is
// independently known, and what that knowledge rests on is claimed with the execution. Everything else never comes here.
import { randomUUID } from 'node:crypto'
import type { Json } from '../../src/core/json/canonical.ts'
import { Failure } from '../../src/core/errors.ts'
import { denied, type Evaluation, type Mismatch } from '../../src/core/policy/evaluate.ts'
import type { AdvisoryLock, Sql } from '../../src/core/tables/sql.ts'
import { verifierOf } from '../verifiers/index.ts'
import type { Asked, ConsumedApproval, Verified, VerifyWith } from '../verifiers/verifier.ts'
import { conclude, ruling, type Decided, type Unproven } from './decide.ts'

/** What was seen outside before the claim, by signal; and the decision whose id stands in what was signed for it. */
export interface Observed {
  readonly decision: Asked['decision']
  readonly asked: readonly Asked[]
  readonly verified: ReadonlyMap<string, Verified>
}

type ProveWith = VerifyWith & { readonly now: Date }

/** Whether any of its signals is known outside of the database only. */
export function looksOutside({ version }: Unproven): boolean {
  return version.policy.verify.some((verifier) => verifierOf(verifier).when === 'before the claim')
}

/**
 * Asks the verifiers that look outside of the database, all at once. Nothing is claimed yet: an answer may take its time.
 * fails as 503 where one of them cannot read its state
 */
export async function observe(item: Unproven, tools: ProveWith): Promise<Observed | Failure> {
  const { policy, contentHash, limitedSince } = item.version
  const decision = { decisionId: randomUUID(), policyContentHash: contentHash }
  const asked = policy.verify.map(({ signal, ...verifier }): Asked => {
    const declared = item.transaction.signals[signal] as boolean | number
    return { signal, declared, verifier, accepted: item, decision, limitedSince, now: tools.now }
  })
  const observed = await Promise.all(
    asked.map(async (one) => {
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
  return { decision, asked, verified }
}

/** What has to be locked before `prove` reads, in any order. */
export function locksOf({ asked }: Observed): AdvisoryLock[] {
  return asked.flatMap((one) => {
    const verifier = verifierOf(one.verifier)
    return verifier.when === 'with the claim' ? verifier.locks(one) : []
  })
}

interface Proven {
  readonly decided: Decided
  /** To be used up if, and only if, `decided` is claimed and released. */
  readonly consumes: readonly ConsumedApproval[]
}

/**
 * Decides in the transaction of the claim: by the rules once more, which may look at the time, and by what is read under the locks.
 * in  now  taken under them: as of it approvals are valid and windows begin
 */
export async function prove(
  item: Unproven,
  observed: Observed,
  { sql, ...tools }: ProveWith & { sql: Sql },
): Promise<Proven> {
  const concludeWith = { ...tools, ...observed.decision, version: item.version }
  const evaluation = ruling(item.version, item.transaction, tools.now)
  if (evaluation.kind !== 'approved')
    return { decided: conclude(item, evaluation, concludeWith), consumes: [] }

  const verified = new Map(observed.verified)
  const consumes: ConsumedApproval[] = []
  for (const one of observed.asked) {
    const verifier = verifierOf(one.verifier)
    if (verifier.when === 'before the claim') continue
    // One approval stands for one signal.
    const taken = new Set(consumes.map(({ approvalId }) => approvalId))
    const found = await verifier.read({ ...one, now: tools.now }, { ...tools, sql, taken })
    consumes.push(...(found.consumes ?? []))
    verified.set(one.signal, found)
  }
  const decided = conclude(item, judged(evaluation, observed.asked, verified), {
    ...concludeWith,
    verifiedSignals: shown(observed.asked, verified),
    approvedBy: [...new Set(consumes.map(({ approverId }) => approverId))],
  })
  return { decided, consumes: decided.outcome === 'authorized' ? consumes : [] }
}

function judged(
  evaluation: Evaluation,
  asked: readonly Asked[],
  verified: ReadonlyMap<string, Verified>,
): Evaluation {
  const mismatches = asked.flatMap(({ signal, declared, verifier }): Mismatch[] => {
    const value = verified.get(signal)?.value ?? null
    return value === declared ? [] : [{ signal, declared, verified: value, source: verifier.by }]
  })
  const { matchedRuleId, evaluatedRules } = evaluation
  return mismatches.length === 0 ? evaluation : { ...denied(mismatches), matchedRuleId, evaluatedRules }
}

/** The decision's verifiedSignals (decisions §4): what could be verified, each with what proves it. */
function shown(asked: readonly Asked[], verified: ReadonlyMap<string, Verified>): Record<string, Json> {
  return Object.fromEntries(
    asked.flatMap(({ signal, verifier }): [string, Json][] => {
      const { value = null, evidence = {} } = verified.get(signal) ?? {}
      return value === null ? [] : [[signal, { value, by: verifier.by, ...evidence }]]
    }),
  )
}
