// Sends a notice by one way, once.
import { createTransport } from 'nodemailer'
import { errorText } from '../../core/error-text.ts'
import { isLoopbackLiteral } from '../../core/outbound/address.ts'
import { call } from '../../core/outbound/call.ts'
import { hmacSignature, signedBytes, timestampOf } from '../../core/outbound/standard-webhooks.ts'
import type { ConfiguredWay } from './configuration.ts'
import { mailOf, slackMessage, teamsMessage, webhookMessage } from './messages.ts'
import type { Notice } from './notice.ts'

/** Shorter than the jobs of the queue live. */
const ATTEMPT_MS = 15_000

/** @returns undefined once it is sent or there is nobody to send it to; else a clause that completes "the notification …", without a secret */
export async function send(
  way: ConfiguredWay,
  notice: Notice,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (way.kind === 'email') return mail(way, notice)
  if (way.kind === 'webhook')
    return post(way.url, webhookMessage(notice), signal, (body) => signed(way.secret, notice, body))
  const message = way.kind === 'slack' ? slackMessage(notice) : teamsMessage(notice)
  return post(way.url, message, signal)
}

async function post(
  url: string,
  message: object,
  signal: AbortSignal,
  headersOf: (body: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<string | undefined> {
  const body = JSON.stringify(message)
  const outcome = await call({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', ...headersOf(body) },
    body,
    reach: 'any',
    timeoutMs: ATTEMPT_MS,
    signal,
  })
  if (outcome.kind === 'not-sent') return `was not sent: ${outcome.reason}`
  if (outcome.kind === 'lost') return `got no whole answer: ${outcome.cause}`
  const { status } = outcome
  return status >= 200 && status < 300 ? undefined : `was answered with status ${status}`
}

/** Standard Webhooks. The id is the request's: a receiver that gets the message twice can tell. */
function signed(
  secret: Buffer | undefined,
  { requestId }: Notice,
  body: string,
): Readonly<Record<string, string>> {
  const delivery = { id: requestId, atMs: Date.now(), body }
  return {
    'webhook-id': requestId,
    'webhook-timestamp': timestampOf(delivery),
    ...(secret && { 'webhook-signature': hmacSignature(signedBytes(delivery), secret) }),
  }
}

async function mail(
  way: Extract<ConfiguredWay, { kind: 'email' }>,
  notice: Notice,
): Promise<string | undefined> {
  const { server, password, from, approvers } = way
  const to = [...new Set([...way.to, ...notice.eligible.flatMap((id) => approvers[id] ?? [])])]
  if (to.length === 0) return undefined
  const secure = server.protocol === 'smtps:'
  const transport = createTransport({
    host: server.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: server.port === '' ? (secure ? 465 : 587) : Number(server.port),
    secure,
    // Without TLS anybody on the way could read and change it. A relay on this machine need not have it.
    requireTLS: !secure && !isLoopbackLiteral(server.hostname),
    ...(password !== undefined && { auth: { user: decodeURIComponent(server.username), pass: password } }),
    connectionTimeout: ATTEMPT_MS / 3,
    greetingTimeout: ATTEMPT_MS / 3,
    socketTimeout: ATTEMPT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    await transport.sendMail({
      from,
      to,
      ...mailOf(notice),
      // A mail that comes twice has one id, by which most programs show it once.
      messageId: `<${notice.requestId}.${way.name}@countersign>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
    })
    return undefined
  } catch (error) {
    return `was not taken by the mail server: ${errorText(error)}`
  } finally {
    transport.close()
  }
}
