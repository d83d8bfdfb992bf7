// Makes an execution's row of the catalogue from its stored evidence only: following the feed, building from the tables and fsck make the
// same row.
import { displayOf, moneyOf, sentenceOf } from '../policy/display.ts'
import { compileStored, documentOf } from '../policy/versions.ts'
import { cut } from '../../formats/text/text.ts'
import { isTimestamp, isUuid } from '../../formats/schemas/primitives.ts'
import type { PolicyDocument } from '../../formats/schemas/policy.ts'
import type { IntentState, Resolution } from '../../formats/schemas/intent-states.ts'
import { findAuthority } from '../../store/tables/authority.ts'
import type { CatalogueRow } from '../../store/tables/catalogue-entries.ts'
import { readStoredExecutions, type StoredExecution } from '../../store/tables/catalogue-evidence.ts'
import { policyVersionOf, type StoredPolicyVersion } from '../../store/tables/policy-versions.ts'
import { plainText } from '../../store/postgres/json.ts'
import type { Sql } from '../../store/postgres/sql.ts'

/** Keeps rows narrow: a refused action may have any text in these members. */
const NAME_MAX = 200
const SEARCH_MAX = 1_000

interface Transaction {
  readonly authority: { readonly principalId: string }
  readonly intent: {
    readonly action: string
    readonly target: string
    readonly parameters: Readonly<Record<string, unknown>>
  }
  readonly policy: { readonly name: string; readonly version: string }
  readonly signals: Readonly<Record<string, unknown>>
}

interface Decision {
  readonly matchedRuleId: string | null
  readonly verifiedSignals: Readonly<Record<string, { readonly request?: { readonly requestId: string } }>>
}

/** Policies by `<name>/<version>`. An approved version never changes, so each is read once. */
export interface Documents {
  readonly read: (sql: Sql, keys: ReadonlySet<string>) => Promise<ReadonlyMap<string, KnownDocument>>
}

interface KnownDocument {
  readonly document: PolicyDocument
  /** ISO 8601. */
  readonly approvedAt: string
}

/** Documents are small, and a service has some dozens. */
const REMEMBERED_MAX = 500

export function openDocuments(): Documents {
  const known = new Map<string, KnownDocument>()
  return {
    async read(sql, keys) {
      const unknown = [...keys].filter((key) => !known.has(key))
      if (known.size + unknown.length > REMEMBERED_MAX) known.clear()
      for (const row of await findAuthority(sql, 'policy', unknown)) {
        const document = documentIn(policyVersionOf(row))
        if (row.beganAt !== null && document !== undefined)
          known.set(row.key, { document, approvedAt: row.beganAt })
      }
      return known
    },
  }
}

/** Undefined when the document is damaged, or was written by another release with terms that this release does not know. */
function documentIn(row: StoredPolicyVersion): PolicyDocument | undefined {
  return orNothing(() => (compileStored(row) === undefined ? undefined : documentOf(row)))
}

/** A row that was changed in the database and cannot be read must not keep the others from the catalogue; fsck reports its damage. */
function orNothing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** @returns the rows of those executions that have ended, were refused or are in doubt */
export async function catalogueRows(
  sql: Sql,
  ids: readonly string[],
  documents: Documents,
): Promise<CatalogueRow[]> {
  const executions = (await readStoredExecutions(sql, ids)).flatMap(
    (stored) =>
      orNothing(() => ({ stored, transaction: JSON.parse(stored.transaction) as Transaction })) ?? [],
  )
  const keys = executions.flatMap(
    ({ transaction }) => orNothing(() => `${transaction.policy.name}/${transaction.policy.version}`) ?? [],
  )
  const policies = await documents.read(sql, new Set(keys))
  return executions.flatMap((execution) => orNothing(() => rowOf(execution, policies)) ?? [])
}

interface Execution {
  readonly stored: StoredExecution
  readonly transaction: Transaction
}

function rowOf(
  { stored, transaction }: Execution,
  policies: ReadonlyMap<string, KnownDocument>,
): CatalogueRow | undefined {
  const standing = standingOf(stored)
  if (standing === undefined) return undefined
  const { decision, approvable = null, ...ended } = standing
  const { authority, intent, policy, signals } = transaction
  const { action: capability, target, parameters } = intent
  const known = policies.get(`${policy.name}/${policy.version}`)
  // A later approval of the policy changes no row: otherwise a row would depend on the time at which it was made.
  const document = known !== undefined && known.approvedAt <= stored.decidedAt ? known.document : {}
  const displayed = { capability, target, parameters, signals }
  const pieces = displayOf(document, displayed)
  const { amount, currency } = moneyOf(document, displayed)
  return {
    businessTransactionId: stored.id,
    ...ended,
    decidedAt: stored.decidedAt,
    callerId: stored.callerId,
    principalId: plain(authority.principalId, NAME_MAX),
    capability: plain(capability, NAME_MAX),
    target: plain(target, NAME_MAX),
    policyName: plain(policy.name, NAME_MAX),
    policyVersion: plain(policy.version, NAME_MAX),
    rule: plainOrNull(decision?.matchedRuleId ?? null),
    summary: pieces === undefined ? null : plain(sentenceOf(pieces), SEARCH_MAX),
    amount,
    currency: plainOrNull(currency),
    requestId: decision === undefined ? null : requestIdOf(decision),
    approvable,
    search: searchText([capability, target, ...Object.values(parameters)]),
  }
}

interface Standing extends Pick<CatalogueRow, 'status' | 'resolution' | 'completedAt'> {
  /** Undefined when no stored evidence contains it, as for an execution in doubt. */
  readonly decision?: Decision
  /** Set for refusals only. */
  readonly approvable?: boolean
}

/** @returns undefined for an execution that is in progress, or that came to nothing for lack of a policy or a connector */
function standingOf(stored: StoredExecution): Standing | undefined {
  const { record, recordedAt, refusal, doubtedAt, closedBefore } = stored
  if (record !== null) {
    const [execution] = (
      JSON.parse(record) as { executions: [{ status: 'COMPLETED' | 'FAILED'; decision: Decision }] }
    ).executions
    const status = execution.status === 'COMPLETED' ? 'completed' : 'failed'
    return { status, resolution: null, completedAt: recordedAt, decision: execution.decision }
  }
  if (refusal !== null) {
    const { decision, approvable = false } = JSON.parse(refusal) as { decision: Decision; approvable?: true }
    return { status: 'refused', resolution: null, completedAt: null, decision, approvable }
  }
  const closed = closedBefore ?? closedByWord(stored)
  if (closed !== undefined) {
    const { state, at, resolution } = closed
    const happened = state === 'FINALIZED' || resolution === 'EXECUTED'
    return { status: happened ? 'completed' : 'failed', resolution, completedAt: isTimestamp(at) ? at : null }
  }
  return doubtedAt === null ? undefined : { status: 'in_doubt', resolution: null, completedAt: null }
}

function closedByWord({ transition }: StoredExecution) {
  if (transition === null) return undefined
  const {
    to: state,
    at,
    resolution = null,
  } = JSON.parse(transition) as { to: IntentState; at: string; resolution?: Resolution }
  return { state, at, resolution }
}

function requestIdOf({ verifiedSignals }: Decision): string | null {
  const requested = Object.values(verifiedSignals).find(({ request }) => request !== undefined)
  const id = requested?.request?.requestId
  return isUuid(id) ? id : null
}

/** The line break keeps a search from matching across two values. */
function searchText(values: readonly unknown[]): string {
  const texts = values.filter((value) => ['string', 'number', 'boolean'].includes(typeof value)).map(String)
  return plain(texts.join('\n').toLowerCase(), SEARCH_MAX)
}

function plainOrNull(name: string | null): string | null {
  return name === null ? null : plain(name, NAME_MAX)
}

function plain(text: string, max: number): string {
  return plainText(cut(text, max))
}
