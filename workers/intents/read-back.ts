// Asks external connectors about intents in doubt (docs/handbook/executions.md): a thread signs the questions and concludes from the answers;
// the front end sends them and waits (src/server/jobs/read-back.ts), so that an endpoint that hangs holds no thread.
import { isReleaseOver, questionTo, readBackOf } from '../connectors/read-back.ts'
import type { Registration } from '../connectors/external.ts'
import type { Resolution } from '../../src/formats/schemas/intent-states.ts'
import type { HttpOutcome } from '../../src/core/outbound/call.ts'
import type { Said } from '../../src/formats/schemas/provider-confirmation.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { readIntents } from '../../src/store/tables/execution-intents.ts'
import { takeToAsk } from '../../src/store/tables/in-doubt-intents.ts'
import type { LockedBatches } from '../../src/store/tables/released-batches.ts'
import { readTransitions } from '../../src/store/tables/intent-transitions.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { inTransaction, type Transaction } from '../../src/store/postgres/transaction.ts'
import type {
  AnsweredQuestion,
  AskConnector,
  Question,
  ReadBackOutcome,
  ReadBackReport,
} from '../../src/core/operations/read-back.ts'
import type { ThreadContext } from '../context.ts'
import { startRecording, type Recording } from '../evidence/recording.ts'
import { conclude } from '../webhooks/conclude.ts'
import { readStanding } from '../webhooks/confirm.ts'
import { signEnd, closeLocked } from './transition.ts'

type AskWith = Pick<ThreadContext, 'pool' | 'key' | 'connectors'>
type ConcludeWith = Pick<ThreadContext, 'pool' | 'key' | 'crypto' | 'startLogEntries'>

/**
 * Signs questions about intents in doubt that are due. From then on each is due later, whatever becomes of the question.
 * @returns none where the registration is no longer in effect
 */
export async function askConnector(
  { changeId, countMax }: AskConnector,
  tools: AskWith,
): Promise<Question[]> {
  const registration = tools.connectors.registered(changeId)
  if (registration?.readBack !== true) return []
  const ids = await takeToAsk(tools.pool, { connector: changeId, limit: countMax })
  const questions = await Promise.all(ids.map((id) => questionAbout(id, registration, tools)))
  return questions.filter((question) => question !== undefined)
}

/** Undefined for an intent that was closed meanwhile. */
async function questionAbout(
  id: string,
  registration: Registration,
  { pool, key }: AskWith,
): Promise<Question | undefined> {
  const intent = (await readIntents(pool, [id])).get(id)?.intent
  if (intent?.inDoubt !== true) return undefined
  const { authorizationId, expiresAt } = (
    JSON.parse(intent.authorization) as { payload: { authorizationId: string; expiresAt: string } }
  ).payload
  const { capability, changeId, timeoutMs } = registration
  const asked = { businessTransactionId: id, authorizationId, capability }
  const now = new Date()
  return {
    ...asked,
    ...questionTo(registration, asked, { key, now }),
    changeId,
    timeoutMs,
    isOver: isReleaseOver(expiresAt, now),
  }
}

/** Closes an intent in doubt as its connector says. */
export async function concludeReadBack(
  answered: AnsweredQuestion,
  tools: ConcludeWith,
): Promise<ReadBackReport> {
  const { question, exchange } = answered
  const { businessTransactionId: id } = question
  const read = readBackOf(outcomeOf(exchange), question, question.isOver)
  if ('unknown' in read) return { outcome: 'unknown', problem: read.unknown }
  const { says } = read
  return inTransaction(tools.pool, async (sql) => {
    // A thread that is storing its evidence or closing it at this moment comes first.
    const { standing: all, batches } = await readStanding([id], sql, tools)
    const standing = all.get(id)
    if (standing === undefined || standing.intent === null)
      return { outcome: 'unknown', problem: 'was asked about no intent' }
    const { callerId } = standing
    const conclusion = conclude({ says, comparisons: [] }, standing, 'connector')
    if (conclusion.outcome === 'waits' || conclusion.outcome === 'pending')
      return { outcome: 'unknown', problem: 'answered, and the clock was set back meanwhile' }
    const heard: Heard = {
      ...read,
      sql,
      answered,
      callerId,
      at: new Date().toISOString(),
      recording: startRecording(tools),
    }
    if (conclusion.closes !== undefined) {
      await close(heard, batches, conclusion.closes)
      return { outcome: says satisfies ReadBackOutcome }
    }
    if (conclusion.outcome === 'confirmed') return { outcome: 'closed' }
    await storeContradiction(heard, conclusion.detail)
    return { outcome: 'contradicted' }
  })
}

/** The statement of a connector on an intent whose rows are locked. */
interface Heard {
  readonly sql: Transaction
  readonly answered: AnsweredQuestion
  readonly says: Said
  readonly note: string
  /** The caller that submitted the transaction. */
  readonly callerId: string
  readonly at: string
  readonly recording: Recording
}

async function close(heard: Heard, batches: LockedBatches, resolution: Resolution): Promise<void> {
  const { sql, answered, note, callerId, at, recording } = heard
  const { businessTransactionId: id, capability } = answered.question
  const end = { state: 'RESOLVED', resolution, note } as const
  const signed = signEnd({ id, from: 'RELEASED', end, by: byOf(answered), at, owner: callerId }, recording)
  recording.audit({
    type: 'intent.resolved',
    route: 'service',
    at,
    reason: `The execution intent is RESOLVED: ${resolution}.`,
    capability,
    detail: { ...aboutAnswer(heard), transitionId: signed.transitionId },
  })
  await closeLocked([signed], batches, sql)
  sql.runLast(recording.statements())
}

/** Stores a contradiction; the intent stays as it is. */
async function storeContradiction(heard: Heard, reason: string): Promise<void> {
  const { sql, answered, says, at, recording } = heard
  const { businessTransactionId: id, capability } = answered.question
  const confirmationId = await confirmationOf(id, sql)
  recording.audit({
    type: 'confirmation.contradicts',
    route: 'service',
    at,
    reason,
    capability,
    severity: 'WARNING',
    detail: { ...aboutAnswer(heard), says, ...(confirmationId === undefined ? {} : { confirmationId }) },
  })
  sql.runLast(recording.statements())
}

function byOf({ question }: AnsweredQuestion): string {
  return `connector:${question.capability}`
}

function aboutAnswer({ answered, callerId }: Heard) {
  const { question, exchange } = answered
  return {
    businessTransactionId: question.businessTransactionId,
    submittedBy: callerId,
    by: byOf(answered),
    connectorVersion: question.changeId,
    ...(exchange.kind === 'answered'
      ? { answerSha256: sha256Hex(Buffer.from(exchange.body, 'base64')) }
      : {}),
  }
}

/** The confirmation by which a provider closed it, if one did. */
async function confirmationOf(id: string, sql: Sql): Promise<string | undefined> {
  const transitions = (await readTransitions(sql, [id])).get(id) ?? []
  const last = transitions.at(-1)
  return last && (JSON.parse(last.body) as { confirmationId?: string }).confirmationId
}

function outcomeOf(exchange: AnsweredQuestion['exchange']): HttpOutcome {
  if (exchange.kind !== 'answered') return exchange
  const { kind, status, encoding, body } = exchange
  return {
    kind,
    status,
    headers: encoding === undefined ? {} : { 'content-encoding': encoding },
    body: Buffer.from(body, 'base64'),
  }
}
