// The scheme of interface §6, which is Razorpay's: the hex of the HMAC over the body. The event id is not signed, and there is no signed time.
import { anySecret, isHmac, NO_SECRET_FITS, type Scheme } from './scheme.ts'

/** A provider's `_` becomes a `-` here: proxies drop header names that contain an underscore. */
const prefixOf = (provider: string): string => `x-${provider.replaceAll('_', '-')}`
const eventIdHeader = (provider: string): string => `${prefixOf(provider)}-event-id`

export const contract: Scheme = {
  ...anySecret,
  signatureHeaders: (provider) => [`${prefixOf(provider)}-signature`],
  headers: (provider) => [eventIdHeader(provider)],
  eventIdIn: eventIdHeader,
  signatureForm: '64 lowercase hex characters',
  looksSigned: (signature) => /^[0-9a-f]{64}$/.test(signature),
  read({ provider, signature, headers, body, secrets }) {
    const signatures = [Buffer.from(signature, 'hex')]
    if (!isHmac({ signatures, keys: secrets, parts: [body] })) return { unsigned: NO_SECRET_FITS }
    return { eventId: headers[eventIdHeader(provider)] ?? '' }
  },
}
