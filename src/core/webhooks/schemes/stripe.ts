// Stripe: `Stripe-Signature: t=<seconds>,v1=<hex>[,v1=<hex>…]` over `<seconds>.<body>`; the id is the payload's, so all of it is signed
// (docs.stripe.com/webhooks, "Verify webhook signatures manually").
import { isHmac, NO_SECRET_FITS, untimely, type Scheme } from './scheme.ts'

const SIGNATURE = 'stripe-signature'

export const stripe: Scheme = {
  signatureHeaders: () => [SIGNATURE],
  headers: () => [],
  eventIdIn: () => 'id of the payload',
  signatureForm: 't=<seconds>,v1=<hex>',
  // Other schemes than v1, such as v0 of test mode, may also be present and are ignored.
  looksSigned: (signature) => /^[a-z0-9]+=[^,=]*(,[a-z0-9]+=[^,=]*)*$/.test(signature),
  secretMustBe: () => undefined,
  secretWarning: (secret) =>
    secret.startsWith('whsec_')
      ? undefined
      : 'does not begin with whsec_, as the signing secrets of Stripe’s endpoints do',
  read({ signature, body, secrets, nowMs }) {
    const parts = signature.split(',').map((part) => part.split('='))
    const valuesOf = (name: string) =>
      parts.flatMap(([key, value]) => (key === name && value !== undefined ? [value] : []))
    const [seconds = '', ...furtherTimes] = valuesOf('t')
    if (seconds === '' || furtherTimes.length > 0) return { unsigned: `${SIGNATURE} must have one t=` }
    const signatures = valuesOf('v1').flatMap((value) =>
      /^[0-9a-f]{64}$/.test(value) ? [Buffer.from(value, 'hex')] : [],
    )
    if (signatures.length === 0)
      return { unsigned: `${SIGNATURE} has no v1= with 64 lowercase hex characters` }
    if (!isHmac({ signatures, keys: secrets, parts: [`${seconds}.`, body] }))
      return { unsigned: NO_SECRET_FITS }
    const late = untimely(seconds, { nowMs, where: `t= of ${SIGNATURE}` })
    return late === undefined ? { eventId: idOf(body) } : { unsigned: late }
  },
}

/** Empty when the payload has no id. */
function idOf(body: Uint8Array): string {
  try {
    const payload: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
    if (typeof payload !== 'object' || payload === null || !Object.hasOwn(payload, 'id')) return ''
    const { id } = payload as { id: unknown }
    return typeof id === 'string' ? id : ''
  } catch {
    return ''
  }
}
