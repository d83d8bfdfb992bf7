// A ready receiver for Stripe: payment intents, refunds and payouts, each under the release's authorizationId as Stripe's idempotency key, with the
// businessTransactionId in its metadata, by which webhooks/stripe.yaml finds the execution.
import { Stripe } from 'stripe'
import { Refused, type Outcome, type Release } from '../../clients/typescript/src/receiver/index.ts'
import type { Json } from '../formats/json/canonical.ts'
import { isSettled } from './absence.ts'
import type { StripeReceiver } from './config.ts'

type StripeCapability = StripeReceiver['capabilities'][number]

/** The parameters of a release that are sent to Stripe. Any other parameter stops the release: the effect must include all that a human signed. */
const PARAMETERS: Readonly<Record<StripeCapability, readonly string[]>> = {
  'stripe:payment-intent': [
    'amount',
    'currency',
    'customer',
    'payment_method',
    'description',
    'statement_descriptor',
    'receipt_email',
    'confirm',
    'off_session',
  ],
  'stripe:refund': ['amount', 'charge', 'payment_intent', 'reason'],
  'stripe:payout': ['amount', 'currency', 'description', 'destination', 'method', 'statement_descriptor'],
}

const CLOCKS_DIFFER_SECONDS = 60
const LOOKED_AT_MAX = 10_000
const TIMEOUT_MS = 30_000

interface Made {
  readonly id: string
  readonly status: string | null
  readonly metadata: Stripe.Metadata | null
}

/**
 * @param secretKey of the account; a restricted key that may write these objects is enough
 * @param api another server than Stripe's, for a trial
 */
export function stripeEffect(secretKey: string, api?: string) {
  const elsewhere = api === undefined ? undefined : new URL(api)
  const stripe = new Stripe(secretKey, {
    // A refusal is certain only on the first attempt. After another failure Stripe is asked.
    maxNetworkRetries: 0,
    timeout: TIMEOUT_MS,
    telemetry: false,
    ...(elsewhere && {
      protocol: elsewhere.protocol === 'http:' ? 'http' : 'https',
      host: elsewhere.hostname,
      port: elsewhere.port,
    }),
  })
  const objects = {
    'stripe:payment-intent': stripe.paymentIntents,
    'stripe:refund': stripe.refunds,
    'stripe:payout': stripe.payouts,
  } as Readonly<
    Record<
      StripeCapability,
      {
        create: (params: object, options: Stripe.RequestOptions) => Promise<Made>
        list: (params: object) => AsyncIterable<Made>
      }
    >
  >

  async function act(release: Release): Promise<Json> {
    const capability = release.capability as StripeCapability
    for (const name of Object.keys(release.parameters))
      if (!PARAMETERS[capability].includes(name))
        throw new Refused(`${name} is no parameter of ${capability}.`)
    const { authorizationId, businessTransactionId, parameters } = release
    const metadata = { business_transaction_id: businessTransactionId, authorization_id: authorizationId }
    try {
      const options = { idempotencyKey: authorizationId }
      const made = await objects[capability].create({ ...parameters, metadata }, options)
      if (isUndone(made, release)) throw new Refused(`${made.id} is ${made.status}.`)
      return evidenceOf(made)
    } catch (error) {
      throw isRefusal(error) ? new Refused(error.message) : error
    }
  }

  async function readBack(release: Release): Promise<Outcome | undefined> {
    const since = Math.floor(Date.parse(release.issuedAt) / 1000) - CLOCKS_DIFFER_SECONDS
    const listed = objects[release.capability as StripeCapability].list({
      created: { gte: since },
      limit: 100,
    })
    let seen = 0
    for await (const made of listed) {
      if (made.metadata?.['authorization_id'] === release.authorizationId)
        return isUndone(made, release)
          ? { executed: false, reason: `${made.id} is ${made.status}` }
          : { executed: true, result: evidenceOf(made) }
      if (++seen >= LOOKED_AT_MAX) return undefined
    }
    if (!isSettled(release)) return undefined
    return { executed: false, reason: `Stripe has none with the authorization_id ${release.authorizationId}` }
  }

  return { act, readBack }
}

const evidenceOf = ({ id, status }: Made): Json => ({ id, status })

/** Whether Stripe has made the object, but no money moves: a failed payout, or a payment whose card was declined. */
function isUndone({ status }: Made, { capability, parameters }: Release): boolean {
  if (status === 'failed' || status === 'canceled') return true
  return (
    capability === 'stripe:payment-intent' &&
    parameters['confirm'] === true &&
    status === 'requires_payment_method'
  )
}

/** Error codes that mean that no connection was made. */
const NOT_CONNECTED: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN'])

/** Whether Stripe refused, declined the card, or was not reached. Idempotency conflicts, limits and Stripe's own errors leave the outcome open. */
function isRefusal(error: unknown): error is Error {
  if (error instanceof Stripe.errors.StripeConnectionError)
    return NOT_CONNECTED.has((error.detail as { code?: string } | undefined)?.code)
  return (
    error instanceof Stripe.errors.StripeInvalidRequestError ||
    error instanceof Stripe.errors.StripeCardError ||
    error instanceof Stripe.errors.StripeAuthenticationError ||
    error instanceof Stripe.errors.StripePermissionError
  )
}
