// The schemes by which providers sign their deliveries. A new scheme is added to this list.
import { contract } from './contract.ts'
import { github } from './github.ts'
import type { Scheme } from './scheme.ts'
import { standardWebhooks } from './standard-webhooks.ts'
import { stripe } from './stripe.ts'

export type { ReadDelivery, Scheme } from './scheme.ts'

/** Keyed by the value of `<PROVIDER>_WEBHOOK_SCHEME`. */
export const schemes = {
  contract,
  stripe,
  github,
  'standard-webhooks': standardWebhooks,
} as const satisfies Readonly<Record<string, Scheme>>

export type SchemeName = keyof typeof schemes

export const schemeNames = Object.keys(schemes) as readonly SchemeName[]
