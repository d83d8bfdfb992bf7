// POST /webhooks/<provider> (interface §6, decisions §10): what a provider sends, authenticated by its signature. What verifies is
// not limited: a provider that is told to slow down has to send the same again. What does not is charged to its address.
import type { Config } from '../../core/config.ts'
import { failures, type Failure } from '../../core/errors.ts'
import { webhookHeaders } from '../../core/webhooks/providers.ts'
import type { Handler, Params } from './route.ts'

/** Its own bound: MAX_BODY_BYTES is about what our callers send (decisions §1). */
export const WEBHOOK_BYTES_MAX = 1_000_000

export function isProvider({ provider = '' }: Params, { webhookSecrets }: Config): boolean {
  return Object.hasOwn(webhookSecrets, provider)
}

/**
 * What the thread needs besides the body. What cannot be a signature, several headers of the name included, is refused before a body
 * is read; a signature comes before the event id, which nobody signs.
 */
export function deliveryHead(
  { provider = '' }: Params,
  header: (name: string) => string | undefined,
): Params | Failure {
  const names = webhookHeaders(provider)
  const signature = header(names.signature)
  if (signature === undefined || signature === '') return failures.missingSignature(provider)
  if (!/^[0-9a-f]{64}$/.test(signature)) return failures.invalidSignature(provider)
  return { provider, signature, webhookEventId: header(names.eventId) ?? '' }
}

export const receiveWebhook: Handler = ({ body, client, params }, { dispatcher }) =>
  dispatcher.submit({ operation: 'receive-webhook', client, caller: -1, body, params })
