// countersign intents: lists executions that have not ended, and shows the history of one (decisions §8). Works on the database,
// beside running services.
import { readIntentText } from '../core/intents/shown.ts'
import { actionOf } from '../formats/artifacts/account-text.ts'
import type { Members } from '../formats/json/members.ts'
import { amountOf } from '../formats/verifier/overview.ts'
import { readTransaction } from '../store/tables/business-transactions.ts'
import { printable } from '../formats/text/printable.ts'
import type { ExecutionIntent } from '../formats/schemas/execution-intent.ts'
import { isUuid } from '../formats/schemas/primitives.ts'
import type { ProviderConfirmation } from '../formats/schemas/provider-confirmation.ts'
import { listInDoubt } from '../store/tables/execution-intents.ts'
import { listConfirmations } from '../store/tables/provider-confirmations.ts'
import type { Given } from './command.ts'
import type { intents } from './commands.ts'
import { onDatabase, type Env } from './database.ts'

/** Prints a line for each execution in doubt, the newest first: id, in doubt since, caller, action, target, and its amount if it has one. */
export async function listIntents(env: Env, { limit }: Given<typeof intents.list>): Promise<void> {
  const { rows, next } = await onDatabase(env, (pool) => listInDoubt(pool, { limit, offset: 0, after: null }))
  // On standard error, because programs read the rows.
  if (rows.length > 0)
    console.error('BUSINESS TRANSACTION ID  IN DOUBT SINCE  CALLER  ACTION  TARGET  AMOUNT')
  for (const { businessTransactionId, callerId, body, intent } of rows) {
    const { action, target } = (JSON.parse(body) as { intent: { action: string; target: string } }).intent
    const parts = [businessTransactionId, intent.deadline, callerId, action, target, ...amountIn(body)]
    console.log(printable(parts.join('  ')))
  }
  console.error(
    rows.length === 0
      ? 'Nothing is in doubt.'
      : `${rows.length} in doubt${next === null ? '' : ', and more: give a greater --limit'}.`,
  )
}

/** @param body of a transaction @returns its amount as the parameters have it, with the currency; nothing where they have none */
function amountIn(body: string): string[] {
  const { intent } = JSON.parse(body) as { intent: Members }
  const amount = amountOf(actionOf(intent, { ending: 'Not done', at: '' }))
  return amount === '' ? [] : [amount]
}

type IntentTransition = ExecutionIntent['transitions'][number]['transition']

/** A line of the history: the time and the event. */
type Line = readonly [at: string, what: string]

/**
 * Prints the state of an execution, and beneath it its events, oldest first: its release, the statements of providers, its end.
 * @throws Error where no such execution was released
 */
export async function showIntent(env: Env, { id }: Given<typeof intents.show>): Promise<void> {
  if (!isUuid(id)) throw new Error('The id must be a businessTransactionId, a UUID.')
  const { text, transaction, confirmations } = await onDatabase(env, async (pool) => ({
    text: await readIntentText(pool, id, null),
    transaction: await readTransaction(pool, id, null),
    confirmations: await listConfirmations(pool, id, { limit: CONFIRMATIONS_SHOWN, offset: 0, after: null }),
  }))
  if (text === null) throw new Error(`No execution ${id} was released.`)
  const intent = JSON.parse(text) as ExecutionIntent
  const state = intent.inDoubt ? `in doubt since ${intent.deadline}` : intent.state
  const lines: Line[] = [
    [intent.releasedAt, 'RELEASED'],
    ...confirmations.rows.map(({ body }) => confirmed(JSON.parse(body) as ProviderConfirmation)),
    ...(intent.firstWord === undefined ? [] : [said(intent.firstWord)]),
    ...intent.transitions.map(({ transition }) => closed(transition)),
  ]
  // Evidence closed it: the record, not a transition, proves the end.
  if (intent.closedAt !== undefined && intent.transitions.length === 0)
    lines.push([intent.closedAt, `${intent.state} by its Execution Trust Record`])
  console.log(
    printable(
      [
        id,
        intent.action,
        intent.target,
        ...(transaction === null ? [] : amountIn(transaction)),
        intent.callerId,
        state,
      ].join('  '),
    ),
  )
  for (const line of lines.toSorted(([a], [b]) => (a < b ? -1 : Number(a > b))))
    console.log(printable(line.join('  ')))
  if (confirmations.next !== null)
    console.error(`Only the newest ${CONFIRMATIONS_SHOWN} confirmations are shown.`)
}

const CONFIRMATIONS_SHOWN = 100

function confirmed({ receivedAt, provider, eventId, ruleId, says, comparisons }: ProviderConfirmation): Line {
  const failed = comparisons.filter(({ holds }) => !holds).map(({ expression }) => expression)
  const but = failed.length === 0 ? '' : `, but these comparisons fail: ${failed.join('; ')}`
  return [receivedAt, `${provider} says ${says} (delivery ${eventId}, rule ${ruleId})${but}`]
}

function said({ at, by, resolution, note }: NonNullable<ExecutionIntent['firstWord']>): Line {
  return [at, `${by} says ${resolution}, and a second human must say the same: ${note}`]
}

function closed({ at, by, agreedWith, to, resolution, note }: IntentTransition): Line {
  return [
    at,
    [
      `${to}${resolution === undefined ? '' : ` ${resolution}`} by ${by}${agreedWith === undefined ? '' : ` and ${agreedWith}`}`,
      ...(note === undefined ? [] : [note]),
    ].join(': '),
  ]
}
