// An execution intent as GET /execution-intents/{id} shows it: it contains the signed texts unchanged (decisions §8).
import { signedText, type Sealed } from '../../store/tables/sealed.ts'
import { readIntent, type IntentRow } from '../../store/tables/execution-intents.ts'
import type { FirstWord } from '../../store/tables/in-doubt-intents.ts'
import { readTransitions } from '../../store/tables/intent-transitions.ts'
import type { Sql } from '../../store/postgres/sql.ts'

/**
 * The JSON text of an intent as the routes answer it.
 * @param transitions the signed transitions of this intent, oldest first
 */
export function intentText(row: IntentRow, transitions: readonly Sealed[]): string {
  const { intent } = JSON.parse(row.transaction) as { intent: { action: string; target: string } }
  const shown = JSON.stringify({
    businessTransactionId: row.businessTransactionId,
    state: row.state,
    inDoubt: row.inDoubt,
    callerId: row.callerId,
    action: intent.action,
    target: intent.target,
    releasedAt: row.releasedAt,
    deadline: row.deadline,
    ...(row.closedAt === null ? {} : { closedAt: row.closedAt }),
    ...(row.resolution === null ? {} : { resolution: row.resolution }),
    ...(row.inDoubt && row.firstWord !== null ? { firstWord: JSON.parse(row.firstWord) as FirstWord } : {}),
  })
  const signed = transitions.map((transition) => signedText('transition', transition))
  return `${shown.slice(0, -1)},"authorization":${row.authorization},"transitions":[${signed.join(',')}]}`
}

/** One intent as JSON; null when there is none or `callerId` (null: anyone) did not submit it. */
export async function readIntentText(sql: Sql, id: string, callerId: string | null): Promise<string | null> {
  const row = await readIntent(sql, id, callerId)
  if (row === null) return null
  const transitions = await readTransitions(sql, [row.businessTransactionId])
  return intentText(row, transitions.get(row.businessTransactionId) ?? [])
}
