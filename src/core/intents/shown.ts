// An execution intent as GET /execution-intents/{id} returns it: it contains the signed texts unchanged (decisions §8).
import { signedText } from '../../store/tables/sealed.ts'
import { readIntents, type ReleasedTransaction } from '../../store/tables/execution-intents.ts'
import { readFirstWord } from '../../store/tables/in-doubt-intents.ts'
import type { Sql } from '../../store/postgres/sql.ts'

/** The JSON text of an intent in the replies of the routes. */
export function intentText({
  businessTransactionId,
  callerId,
  body,
  intent,
  firstWord,
}: ReleasedTransaction): string {
  const { action, target } = (JSON.parse(body) as { intent: { action: string; target: string } }).intent
  const { state, inDoubt, releasedAt, deadline, closedAt, resolution, authorization, transitions } = intent
  const shown = JSON.stringify({
    businessTransactionId,
    state,
    inDoubt,
    callerId,
    action,
    target,
    releasedAt,
    deadline,
    ...(closedAt === null ? {} : { closedAt }),
    ...(resolution === null ? {} : { resolution }),
    ...(inDoubt && firstWord !== undefined ? { firstWord } : {}),
  })
  const signed = transitions.map((transition) => signedText('transition', transition))
  return `${shown.slice(0, -1)},"authorization":${authorization},"transitions":[${signed.join(',')}]}`
}

/** One intent as JSON; null when there is none or `callerId` (null: anyone) did not submit it. */
export async function readIntentText(sql: Sql, id: string, callerId: string | null): Promise<string | null> {
  const found = (await readIntents(sql, [id])).values().next().value
  if (!found?.intent || (callerId !== null && found.callerId !== callerId)) return null
  const { intent } = found
  const firstWord = intent.inDoubt ? await readFirstWord(sql, found.businessTransactionId) : undefined
  return intentText({ ...found, intent, firstWord })
}
