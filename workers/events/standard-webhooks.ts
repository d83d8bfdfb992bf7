// Deliveries as Standard Webhooks 1.0.0 signs them (github.com/standard-webhooks/standard-webhooks).
import {
  hmacSignature,
  signedBytes,
  timestampOf,
  type DeliveryToSign,
} from '../../src/core/outbound/standard-webhooks.ts'
import type { SigningKey } from '../../src/core/signing/keys.ts'

/** @param secret the key of the HMAC, 24 to 64 bytes */
export function secretText(secret: Buffer): string {
  return `whsec_${secret.toString('base64')}`
}

/**
 * The headers of a delivery: one `v1` signature for each secret, and a `v1a` signature. The signed text begins with a UUID, so that none
 * of them passes for a signature of evidence (src/core/signing/dsse.ts).
 * @param delivery.id a UUID
 * @param given.key Ed25519
 */
export function signDelivery(
  delivery: DeliveryToSign,
  { secrets, key }: { readonly secrets: readonly Buffer[]; readonly key: SigningKey },
): Readonly<Record<string, string>> {
  const message = signedBytes(delivery)
  const signature = key.sign(message)
  if (signature instanceof Promise) throw new TypeError(`${key.public.keyId} is not an Ed25519 key`)
  const symmetric = secrets.map((secret) => hmacSignature(message, secret))
  return {
    'webhook-id': delivery.id,
    'webhook-timestamp': timestampOf(delivery),
    'webhook-signature': [...symmetric, `v1a,${signature.toString('base64')}`].join(' '),
  }
}
