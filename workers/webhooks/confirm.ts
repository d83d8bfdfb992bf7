// Confirmations by a batch of deliveries, and the intents that they close, in one commit.
import { randomUUID } from 'node:crypto'
import { providerConfirmation } from '../../src/formats/artifacts/provider-confirmation.ts'
import type { Json } from '../../src/formats/json/canonical.ts'
import { proofIn } from '../../src/core/intents/proof.ts'
import { printable } from '../../src/formats/text/printable.ts'
import { findNamed } from '../../src/store/tables/confirmed-transactions.ts'
import { readIntents, type IntendedTransaction } from '../../src/store/tables/execution-intents.ts'
import { findConfirmations, insertConfirmations } from '../../src/store/tables/provider-confirmations.ts'
import { lockOpen, type LockedBatches } from '../../src/store/tables/released-batches.ts'
import type { Transaction } from '../../src/store/postgres/transaction.ts'
import { readEvidence } from '../../src/store/tables/trust-records.ts'
import type { DeliveryEnd, WaitingDelivery } from '../../src/store/tables/webhook-outcomes.ts'
import type { DeliveryOutcome } from '../../src/formats/schemas/webhook-outcomes.ts'
import {
  compare,
  matchRules,
  payloadOf,
  type Delivery,
  type Match,
} from '../../src/core/webhook-rules/match.ts'
import type { ThreadContext } from '../context.ts'
import type { Recording } from '../evidence/recording.ts'
import { signEnd, closeLocked, type SignedEnd } from '../intents/transition.ts'
import { conclude, type Conclusion, type Word } from './conclude.ts'
import type { WebhookRules } from './rules.ts'

export interface ConfirmWith extends Pick<ThreadContext, 'key' | 'crypto'> {
  readonly webhookRules: Pick<WebhookRules, 'find'>
}

/** The end of a delivery. */
export interface Confirmed extends DeliveryEnd {
  readonly says: Match['says'] | undefined
  readonly confirmationId: string | undefined
}

interface Read {
  readonly event: WaitingDelivery
  readonly delivery: Delivery
  readonly rulesHash: string
  readonly match: Match
}

const ROUTE = 'POST /webhooks/{provider}'

/**
 * Applies the rules in effect to deliveries, in the order in which they came.
 * @param transaction stores confirmations and ends before it returns, and locks the intents that the deliveries name
 * @param recording takes the audit events too; the caller stores its last statements
 * @returns the end of each delivery
 */
export async function confirmDeliveries(
  events: readonly WaitingDelivery[],
  {
    at,
    recording,
    transaction,
    tools,
  }: { at: string; recording: Recording; transaction: Transaction; tools: ConfirmWith },
): Promise<Confirmed[]> {
  const read = events.map((event) => readDelivery(event, tools.webhookRules))
  const matched = read.filter((one) => 'match' in one)
  const named = await findNamed(
    transaction,
    matched.map(({ match }) => match.transaction),
  )
  const ids = [
    ...new Set([...named.values()].flatMap((found) => (found.length === 1 ? found : []))),
  ].toSorted()
  const { standing, batches } = await readStanding(ids, transaction, tools)
  const before = await findConfirmations(
    transaction,
    matched.flatMap(({ event }) => (event.reruns > 0 ? [event.eventKey] : [])),
  )
  const made: Made = { confirmations: [], ends: [] }
  const confirmed = read.map((one): Confirmed => {
    if (!('match' in one)) return one
    const found = named.get(one.match.transaction) ?? []
    const of = found.length === 1 ? standing.get(found[0] ?? '') : undefined
    if (of === undefined) return withoutTransaction(one, found)
    return confirm(one, of, { at, recording, before, made })
  })
  await closeLocked(made.ends, batches, transaction, insertConfirmations(made.confirmations))
  return confirmed
}

/** The rows that a commit writes, as they grow. */
interface Made {
  readonly confirmations: Parameters<typeof insertConfirmations>[0][number][]
  readonly ends: SignedEnd[]
}

function readDelivery(event: WaitingDelivery, webhookRules: ConfirmWith['webhookRules']): Read | Confirmed {
  const inEffect = webhookRules.find(event.provider)
  if (inEffect === undefined)
    return closesNothing(event, 'no-rules', { detail: 'No rules are in effect for the provider.' })
  const delivery = {
    payload: payloadOf(event.body),
    headers: JSON.parse(event.headers) as Record<string, string>,
  }
  const match = matchRules(inEffect.rules, delivery)
  if ('outcome' in match) return closesNothing(event, match.outcome, match)
  return { event, delivery, rulesHash: inEffect.rulesHash, match }
}

function closesNothing(
  { eventKey }: WaitingDelivery,
  outcome: DeliveryOutcome,
  { detail, ruleId, says, id }: { detail: string; ruleId?: string; says?: Match['says']; id?: string },
): Confirmed {
  return {
    eventKey,
    outcome,
    // The detail may quote the delivery, and PostgreSQL stores no NUL.
    detail: printable(detail),
    ruleId: ruleId ?? null,
    businessTransactionId: id ?? null,
    says,
    confirmationId: undefined,
  }
}

function withoutTransaction({ event, match }: Read, found: readonly string[]): Confirmed {
  const { ruleId, says, transaction } = match
  return found.length > 1
    ? closesNothing(event, 'ambiguous', {
        ruleId,
        says,
        detail: `${transaction} is the id of several transactions, or cannot be told from theirs.`,
      })
    : closesNothing(event, 'unknown', { ruleId, says, detail: `No transaction has the id ${transaction}.` })
}

/** The state of a transaction, also after an earlier delivery of the batch has closed its intent. */
interface Standing extends Omit<IntendedTransaction, 'intent'> {
  intent: IntendedTransaction['intent']
  readonly provenEnd: 'FINALIZED' | 'ERRORED' | undefined
}

/**
 * Reads the state of transactions, and locks the batches of those that are open, so that no other transaction closes them meanwhile. A
 * valid stored record outweighs any statement (`workers/intents/resolve.ts`).
 */
export async function readStanding(
  ids: readonly string[],
  transaction: Transaction,
  { crypto }: Pick<ConfirmWith, 'crypto'>,
): Promise<{ standing: Map<string, Standing>; batches: LockedBatches }> {
  const batches = await lockOpen(transaction, ids)
  const found = await readIntents(transaction, ids, batches.open)
  const open = [...batches.open.keys()]
  const records = await readEvidence(
    transaction,
    open.map((id) => ({ id, owner: null })),
  )
  const ends = new Map(
    open.map((id, i) => {
      const stored = records[i]
      const proof = stored && proofIn({ ...stored, id }, crypto)
      return [id, proof?.kind === 'proven' ? proof.end.state : undefined]
    }),
  )
  const standing = Array.from(found, ([id, one]) => [id, { ...one, provenEnd: ends.get(id) }] as const)
  return { standing: new Map(standing), batches }
}

interface ConfirmingWith {
  /** ISO 8601. */
  readonly at: string
  readonly recording: Recording
  /** As `findConfirmations` reads them. */
  readonly before: ReadonlyMap<string, string>
  readonly made: Made
}

function confirm(read: Read, of: Standing, given: ConfirmingWith): Confirmed {
  const { event, match, rulesHash } = read
  const { ruleId, says } = match
  const { businessTransactionId: id } = of
  const comparisons = compared(read, of)
  const failed = comparisons.find((one) => one.holds === null)
  if (failed !== undefined)
    return closesNothing(event, 'rule-failed', {
      ruleId,
      says,
      id,
      detail: `Rule '${ruleId}' could not be compared: ${failed.expression}: ${failed.why}.`,
    })
  const word: Word = { says, comparisons: comparisons.map((one) => ({ ...one, holds: one.holds === true })) }
  const conclusion = conclude(word, of)
  const shared = {
    eventKey: event.eventKey,
    ruleId,
    says,
    businessTransactionId: id,
    detail: conclusion.detail,
  }
  if (conclusion.outcome === 'waits') return { ...shared, outcome: null, confirmationId: undefined }
  const { at, recording, before, made } = given
  let confirmationId = before.get(`${event.eventKey} ${rulesHash}`)
  if (confirmationId === undefined) {
    const row = recording.record(
      providerConfirmation,
      confirmationOf({ event, rulesHash, ruleId, word, id }),
      {
        at,
        owner: of.callerId,
        execution: { caller: of.callerId, transaction: of.body, isReleased: of.intent !== null },
      },
    )
    made.confirmations.push({ ...row, eventKey: event.eventKey, at })
    ;({ confirmationId } = row)
  }
  act({ event, of, word, conclusion, detail: { confirmationId, ruleId } }, given)
  return { ...shared, outcome: conclusion.outcome, confirmationId }
}

function compared({ match, delivery }: Read, { body }: Standing) {
  return compare(match.rule, { ...delivery, transaction: JSON.parse(body) as Json })
}

/** Closes the intent, or raises the contradiction. */
function act(
  {
    event: { provider, eventId },
    of,
    word,
    conclusion,
    detail,
  }: {
    event: WaitingDelivery
    of: Standing
    word: Word
    conclusion: Exclude<Conclusion, { outcome: 'waits' }>
    detail: { readonly confirmationId: string; readonly ruleId: string }
  },
  { at, recording, made }: ConfirmingWith,
): void {
  const { businessTransactionId: id, callerId, body } = of
  const capability = (JSON.parse(body) as { intent: { action: string } }).intent.action
  const about = { businessTransactionId: id, submittedBy: callerId, provider, eventId, ...detail }
  if (conclusion.closes !== undefined && of.intent !== null) {
    const resolution = conclusion.closes
    const end = { state: 'RESOLVED', resolution, confirmationId: detail.confirmationId } as const
    const by = `webhook:${provider}`
    const signed = signEnd({ id, from: of.intent.state, end, by, at, owner: callerId }, recording)
    made.ends.push(signed)
    of.intent = { ...of.intent, state: end.state, inDoubt: false, resolution }
    recording.audit({
      type: 'intent.resolved',
      route: ROUTE,
      at,
      reason: `The execution intent is RESOLVED: ${resolution}.`,
      capability,
      detail: { ...about, transitionId: signed.transitionId },
    })
  }
  if (conclusion.outcome === 'contradicted')
    recording.audit({
      type: 'confirmation.contradicts',
      route: ROUTE,
      at,
      reason: conclusion.detail,
      capability,
      severity: 'WARNING',
      detail: { ...about, says: word.says },
    })
}

function confirmationOf({
  event,
  rulesHash,
  ruleId,
  word,
  id,
}: {
  event: WaitingDelivery
  rulesHash: string
  ruleId: string
  word: Word
  id: string
}) {
  const { provider, eventId, bodySha256, receivedAt } = event
  return {
    confirmationId: randomUUID(),
    provider,
    eventId,
    deliveryHash: bodySha256,
    ruleId,
    rulesHash,
    businessTransactionId: id,
    says: word.says,
    comparisons: word.comparisons.map(({ expression, holds }) => ({ expression, holds })),
    receivedAt,
  }
}
