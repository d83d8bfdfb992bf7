// Sends a message by one way, once.
import { createTransport } from 'nodemailer'
import { errorText } from '../../formats/text/error-text.ts'
import { isLoopbackLiteral } from '../../core/outbound/address.ts'
import { call } from '../../core/outbound/call.ts'
import { secondsToWait } from '../../core/outbound/retry-after.ts'
import { hmacSignature, signedBytes, timestampOf } from '../../core/outbound/standard-webhooks.ts'
import type { ConfiguredWay } from './configuration.ts'
import { mailOf, slackMessage, teamsMessage, webhookMessage } from './messages.ts'
import type { Message, Notice } from './notice.ts'

/** Shorter than the lifetime of the queue's jobs. */
const ATTEMPT_MS = 15_000

/** Why a message is not sent. */
export interface NotSent {
  /** A clause that completes "the notification …", without a secret. */
  readonly problem: string
  /** How long the receiver asked to wait, seconds; 0: it did not. */
  readonly waitSeconds: number
}

/** @returns undefined once the message is sent, or if it has no recipient */
export async function send(
  way: ConfiguredWay,
  message: Message,
  signal: AbortSignal,
): Promise<NotSent | undefined> {
  if (way.kind === 'email') return mail(way, message)
  if (way.kind === 'webhook')
    return post(way.url, webhookMessage(message), signal, (body) => signed(way.secret, message, body))
  return post(way.url, way.kind === 'slack' ? slackMessage(message) : teamsMessage(message), signal)
}

async function post(
  url: string,
  message: object,
  signal: AbortSignal,
  headersOf: (body: string) => Readonly<Record<string, string>> = () => ({}),
): Promise<NotSent | undefined> {
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
  const failed = (problem: string) => ({ problem, waitSeconds: secondsToWait(outcome, Date.now()) })
  if (outcome.kind === 'not-sent') return failed(`was not sent: ${outcome.reason}`)
  if (outcome.kind === 'lost') return failed(`got no whole answer: ${outcome.cause}`)
  const { status } = outcome
  return status >= 200 && status < 300 ? undefined : failed(`was answered with status ${status}`)
}

/** The headers of Standard Webhooks. A receiver that gets the message twice can tell by the id. */
function signed(secret: Buffer | undefined, { id }: Message, body: string): Readonly<Record<string, string>> {
  const delivery = { id, atMs: Date.now(), body }
  return {
    'webhook-id': id,
    'webhook-timestamp': timestampOf(delivery),
    ...(secret && { 'webhook-signature': hmacSignature(signedBytes(delivery), secret) }),
  }
}

/** Sends one mail to all recipients of the same requests. */
async function mail(
  way: Extract<ConfiguredWay, { kind: 'email' }>,
  message: Message,
): Promise<NotSent | undefined> {
  const { server, password, from } = way
  const secure = server.protocol === 'smtps:'
  const transport = createTransport({
    host: server.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: server.port === '' ? (secure ? 465 : 587) : Number(server.port),
    secure,
    // Without TLS anybody on the way could read and change the mail. A relay on this machine need not have TLS.
    requireTLS: !secure && !isLoopbackLiteral(server.hostname),
    ...(password !== undefined && { auth: { user: decodeURIComponent(server.username), pass: password } }),
    connectionTimeout: ATTEMPT_MS / 3,
    greetingTimeout: ATTEMPT_MS / 3,
    socketTimeout: ATTEMPT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    for (const { to, notices } of addressed(way, message.notices))
      await transport.sendMail({
        from,
        to,
        ...mailOf(notices),
        // A mail that comes twice has one id, by which most programs show it once.
        messageId: `<${message.id}.${notices[0]!.requestId}.${notices.length}.${way.name}@countersign>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
    return undefined
  } catch (error) {
    return { problem: `was not taken by the mail server: ${errorText(error)}`, waitSeconds: 0 }
  } finally {
    transport.close()
  }
}

/** Groups addresses by their requests: addresses in `to` get all requests, an approver's address the requests that the approver could sign. */
function addressed(
  { to, approvers }: Extract<ConfiguredWay, { kind: 'email' }>,
  notices: readonly Notice[],
): { readonly to: string[]; readonly notices: readonly Notice[] }[] {
  const addresses = new Set([
    ...to,
    ...notices.flatMap(({ eligible }) => eligible).flatMap((id) => approvers[id] ?? []),
  ])
  const told = Array.from(addresses, (address) => ({
    address,
    notices: notices.filter(
      ({ eligible }) => to.includes(address) || eligible.some((id) => approvers[id] === address),
    ),
  }))
  const groups = Map.groupBy(told, ({ notices: own }) => own.map(({ requestId }) => requestId).join())
  return Array.from(groups.values(), (group) => ({
    to: group.map(({ address }) => address),
    notices: group[0]!.notices,
  }))
}
