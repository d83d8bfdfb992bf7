// The use of the limits by which policies bound a sum over a window, from the amounts in the catalogue. This is for display: the decision makes
// its own exact count.
import { limitIn } from '../policy/limit.ts'
import { windowMs } from '../policy/counting.ts'
import { shownOf } from '../policy/display.ts'
import { byNameAndVersion, documentOf, standingOf } from '../policy/versions.ts'
import type { PolicyDocument, SignalVerifier } from '../../formats/schemas/policy.ts'
import { sumUsed, type UsedPlace } from '../../store/tables/catalogue-read.ts'
import type { StoredPolicyVersion } from '../../store/tables/policy-versions.ts'
import type { Sql } from '../../store/postgres/sql.ts'

type History = Extract<SignalVerifier, { by: 'history' }>

/** A limit that the catalogue has the amounts for. */
interface SummedLimit {
  readonly policy: string
  readonly policyVersion: string
  readonly signal: string
  readonly window: string
  /** The members by which use is counted separately. */
  readonly per: readonly UsedPlace[]
  /** The only number that the rules compare the signal with; undefined: none, or several. */
  readonly limit?: number
}

/** Maximum for all policies together: each limit costs a statement. */
const LIMITS_MAX = 20

/** @returns the limits of the newest version in effect of each policy, with their current use, highest first */
export async function limitsInUse(
  sql: Sql,
  versions: readonly StoredPolicyVersion[],
  { owner, nowMs }: { readonly owner: string | null; readonly nowMs: number },
) {
  const inEffect = versions.filter((row) => standingOf(row) === 'APPROVED').toSorted(byNameAndVersion)
  const newest = inEffect.filter(({ name }, i) => inEffect[i - 1]?.name !== name)
  const limits = newest.flatMap((row) => limitsOf(documentOf(row))).slice(0, LIMITS_MAX)
  const used = []
  for (const limit of limits) {
    const since = new Date(nowMs - windowMs(limit.window)).toISOString()
    used.push({ ...limit, used: await sumUsed(sql, { policy: limit.policy, since, owner }, limit.per) })
  }
  return used
}

export function limitsOf(document: PolicyDocument): SummedLimit[] {
  const { policyId: policy, policyVersion, verify = {}, display = {}, capabilities } = document
  const shown = capabilities.map((capability) => shownOf(display[capability] ?? ''))
  return Object.entries(verify).flatMap(([signal, verifier]) => {
    if (verifier.by !== 'history' || verifier.sum === undefined || verifier.where !== undefined) return []
    // The catalogue has only the amounts that `display` names.
    if (!shown.every(({ amount }) => amount === verifier.sum)) return []
    const per = placesOf(verifier, new Set(shown.map(({ currency }) => currency)))
    if (per === undefined) return []
    const limit = limitIn(document, signal)
    return [
      {
        policy,
        policyVersion,
        signal,
        window: verifier.window,
        per,
        ...(limit === undefined ? {} : { limit }),
      },
    ]
  })
}

function placesOf(
  { per = ['caller'] }: History,
  currencies: ReadonlySet<string | undefined>,
): UsedPlace[] | undefined {
  const places = per.map((place): UsedPlace | undefined => {
    if (place === 'caller') return 'callerId'
    if (place === 'target') return 'target'
    return currencies.size === 1 && currencies.has(place) ? 'currency' : undefined
  })
  return places.every((place) => place !== undefined) ? places : undefined
}
