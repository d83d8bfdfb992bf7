// Contradictions by payment providers: the signed confirmations of executions that a delivery contradicts, and the values that differ,
// from the bytes whose hash the confirmation has.
import { withValues } from '../../formats/compared-values.ts'
import type { Json } from '../../formats/json/canonical.ts'
import type { Fields } from '../../formats/json/fields.ts'
import type { ProviderConfirmation } from '../../formats/schemas/provider-confirmation.ts'
import type { WebhookEvent, WebhookEventWithBody } from '../../formats/schemas/webhook.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { get, jsonOf, type ServiceAt } from '../service.ts'
import { entriesOf, isWithin, type Period } from './lists.ts'

export interface Contradictions {
  /** Signed, each `{confirmation, signature}`. */
  readonly confirmations: readonly Fields[]
  /** The values that differ, those of both sides, by confirmationId. */
  readonly differences: ReadonlyMap<string, string>
}

/**
 * Reads the confirmations whose delivery came in the period, and later ones of executions of the period.
 * @param isOfPeriod whether an execution, by its businessTransactionId, is of the period
 */
export async function readContradictions(
  service: ServiceAt,
  period: Period,
  isOfPeriod: (id: string) => boolean,
): Promise<Contradictions> {
  const query = new URLSearchParams({
    outcome: 'contradicted',
    pageSize: '100',
    ...(period.since === undefined ? {} : { since: period.since }),
  })
  const ids = new Set<string>()
  for await (const entry of entriesOf(service, `/webhook-events?${query}`, 'events')) {
    const { businessTransactionId: id, receivedAt } = entry as unknown as WebhookEvent
    if (id !== undefined && (isWithin(receivedAt, period) || isOfPeriod(id))) ids.add(id)
  }
  const confirmations: Fields[] = []
  const differences = new Map<string, string>()
  for (const id of ids) {
    const transaction = await jsonAt(service, `/transactions/${id}`)
    for await (const entry of entriesOf(service, `/confirmations/${id}?pageSize=100`, 'confirmations')) {
      confirmations.push(entry)
      const { confirmation } = entry as unknown as { confirmation: ProviderConfirmation }
      const differing = confirmation.comparisons.filter(({ holds }) => !holds)
      if (differing.length === 0) continue
      const payload = await payloadOf(service, confirmation)
      const said = differing.map(({ expression }) => withValues(expression, { payload, transaction }))
      differences.set(confirmation.confirmationId, said.join('; '))
    }
  }
  return { confirmations, differences }
}

/** @returns the body of the delivery that the confirmation was made from; undefined where it was emptied, or has another hash */
async function payloadOf(
  service: ServiceAt,
  { provider, eventId, receivedAt, deliveryHash }: ProviderConfirmation,
): Promise<Json | undefined> {
  const until = new Date(Date.parse(receivedAt) + 1).toISOString()
  const query = new URLSearchParams({ provider, since: receivedAt, until, pageSize: '100' })
  for await (const entry of entriesOf(service, `/webhook-events?${query}`, 'events')) {
    const found = entry as unknown as WebhookEvent
    if (found.eventId !== eventId) continue
    const whole = (await jsonAt(service, `/webhook-events/${found.webhookEventId}`)) as
      WebhookEventWithBody | undefined
    if (whole?.bodyEncoding !== 'text' || sha256Hex(whole.body) !== deliveryHash) return undefined
    try {
      return JSON.parse(whole.body) as Json
    } catch {
      return undefined
    }
  }
  return undefined
}

async function jsonAt(service: ServiceAt, path: string): Promise<Json | undefined> {
  const answer = await get(service, path, { accept: [404] })
  return answer.status === 200 ? (jsonOf(answer) as Json) : undefined
}
