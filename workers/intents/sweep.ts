// The sweep (decisions §8): finds intents that are still RELEASED after their deadline, notes them as in doubt and tells the audit; and
// deletes the notes of those that have been closed since. It changes no intent: an effect that may have happened is never tried again.
// Each sweep looks at every open intent, so an intent that it passes over, because somebody is closing it, is found by the next one.
import { readIntents } from '../../src/store/tables/execution-intents.ts'
import { findInDoubt, lockFree } from '../../src/store/tables/released-batches.ts'
import { readLastRevocations } from '../../src/store/tables/external-connectors.ts'
import { forgetClosed, noteInDoubt } from '../../src/store/tables/in-doubt-intents.ts'
import type { Swept } from '../../src/core/operations/sweep-intents.ts'
import { LEAST_UUID } from '../../src/store/tables/position.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import { inTransaction, type Transaction } from '../../src/store/postgres/transaction.ts'
import type { Registration } from '../connectors/external.ts'
import type { ThreadContext } from '../context.ts'
import { expireOverdue } from '../approval-requests/expire.ts'
import { startRecording, type Done } from '../evidence/recording.ts'
import { Finished, type InFlight } from '../in-flight.ts'

/** One transaction notes at most this many: each of them reads the text of a business transaction, 100 KB at most. */
const BATCH_MAX = 100

/** How far instances may be apart in learning of a change of connectors, and in their clocks. */
const CHANGE_KNOWN_MS = 60_000

type SweepWith = Pick<ThreadContext, 'pool' | 'key' | 'startLogEntries' | 'connectors'>

/**
 * Sweeps once for all requests of the batch, and ends approval requests whose time is over.
 * @returns {noticed} in the answer to the first request alone
 */
export async function sweepIntents(batch: readonly InFlight[], tools: SweepWith): Promise<Finished[]> {
  const noticed = await sweep(tools)
  await expireOverdue(tools)
  return batch.map(
    ({ request }, i) =>
      new Finished(request, { body: JSON.stringify({ noticed: i === 0 ? noticed : 0 } satisfies Swept) }),
  )
}

async function sweep(tools: SweepWith): Promise<number> {
  const { pool } = tools
  await forgetClosed(pool)
  let noticed = 0
  let after = LEAST_UUID
  for (;;) {
    const found = await findInDoubt(pool, { after, limit: BATCH_MAX })
    const last = found.at(-1)
    if (last === undefined) return noticed
    noticed += await notice(found, tools)
    if (found.length < BATCH_MAX) return noticed
    after = last
  }
}

/** Takes sorted ids, and resolves to how many of them this call noted. */
function notice(ids: readonly string[], tools: SweepWith): Promise<number> {
  const { pool, connectors } = tools
  return inTransaction(pool, async (sql) => {
    const locked = await readDoubted(sql, ids)
    const noted = await noteInDoubt(sql, await withConnectors(locked, { sql, connectors }))
    const recording = startRecording(tools)
    for (const intent of locked.filter(({ id }) => noted.has(id))) recording.audit(doubtOf(intent))
    sql.runLast(recording.statements())
    return noted.size
  })
}

/** Data for the audit event of an intent in doubt. */
interface DoubtedIntent {
  readonly id: string
  /** ISO 8601. */
  readonly deadline: string
  /** Undefined: released through `passGateway`, without a stored transaction. */
  readonly stored:
    { readonly callerId: string; readonly body: string; readonly releasedAt: string } | undefined
}

/** Locks intents that are still in doubt and not being closed at this moment: the others are left for the next sweep. */
async function readDoubted(sql: Transaction, ids: readonly string[]): Promise<DoubtedIntent[]> {
  const { open } = await lockFree(sql, ids)
  const stored = await readIntents(sql, [...open.keys()], open)
  return [...open.values()]
    .filter(({ inDoubt }) => inDoubt)
    .map(({ id, deadline }) => {
      const found = stored.get(id)
      if (!found?.intent) return { id, deadline, stored: undefined }
      const { callerId, body, intent } = found
      return { id, deadline, stored: { callerId, body, releasedAt: intent.releasedAt } }
    })
}

/** Adds the registration that each was released to, where its connector can be asked about the outcome. In order of id. */
async function withConnectors(
  locked: readonly DoubtedIntent[],
  { sql, connectors }: Pick<SweepWith, 'connectors'> & { readonly sql: Sql },
): Promise<{ id: string; askConnector: string | null }[]> {
  const found = locked
    .map((intent) => ({ ...intent, connector: askableConnector(intent, connectors) }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const revocations = found.some(({ connector }) => connector !== undefined)
    ? await readLastRevocations(sql)
    : undefined
  return found.map(({ id, stored, connector }) => {
    if (connector === undefined || stored === undefined) return { id, askConnector: null }
    const { capability, changeId } = connector
    const revokedMs = revocations?.get(capability)?.getTime() ?? -Infinity
    // Another registration may have been in effect then: this connector would deny, truthfully, a release that it was never sent.
    const isTheOne = revokedMs + CHANGE_KNOWN_MS < Date.parse(stored.releasedAt)
    return { id, askConnector: isTheOne ? changeId : null }
  })
}

function askableConnector(
  { stored }: DoubtedIntent,
  connectors: SweepWith['connectors'],
): Registration | undefined {
  const read = stored && readTransaction(stored.body)
  const connector = read && connectors.find(read.intent.action, read.policy.name)
  // A built-in connector's version is no change.
  const registration = connector && connectors.registered(connector.connectorVersion)
  return registration?.readBack === true ? registration : undefined
}

function doubtOf({ id, deadline, stored }: DoubtedIntent): Done {
  return {
    type: 'intent.in_doubt',
    // No request asked for it: the service looks on its own.
    route: 'service',
    reason:
      'The execution intent is still RELEASED after its deadline: whether the effect happened is not known.',
    capability: stored && readTransaction(stored.body)?.intent.action,
    severity: 'WARNING',
    detail: {
      businessTransactionId: id,
      deadline,
      ...(stored === undefined ? {} : { submittedBy: stored.callerId }),
    },
  }
}

/** Undefined where the text was changed in the database and is no transaction any more: its intent is in doubt all the same. */
function readTransaction(text: string): { intent: { action: string }; policy: { name: string } } | undefined {
  try {
    const { intent, policy } = JSON.parse(text) as ReturnType<typeof readTransaction> & object
    return { intent: { action: intent.action }, policy: { name: policy.name } }
  } catch {
    return undefined
  }
}
