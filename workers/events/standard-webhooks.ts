// Deliveries as Standard Webhooks 1.0.0 signs them (github.com/standard-webhooks/standard-webhooks).
import { createHmac } from 'node:crypto'
import type { SigningKey } from '../../src/core/signing/keys.ts'

/** @param secret the key of the HMAC, 24 to 64 bytes */
export function secretText(secret: Buffer): string {
  return `whsec_${secret.toString('base64')}`
}

/**
 * The headers of a delivery: one `v1` signature for each secret, and a `v1a` signature. What is signed begins with a UUID, so that none of
 * them passes for a signature of evidence (src/core/signing/dsse.ts).
 * @param delivery.id a UUID
 * @param delivery.atMs of the attempt, milliseconds since 1970
 * @param given.key Ed25519
 */
export function signDelivery(
  { id, atMs, body }: { readonly id: string; readonly atMs: number; readonly body: string },
  { secrets, key }: { readonly secrets: readonly Buffer[]; readonly key: SigningKey },
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(atMs / 1000))
  const message = Buffer.from(`${id}.${timestamp}.${body}`)
  const signature = key.sign(message)
  if (signature instanceof Promise) throw new TypeError(`${key.public.keyId} is not an Ed25519 key`)
  const symmetric = secrets.map(
    (secret) => `v1,${createHmac('sha256', secret).update(message).digest('base64')}`,
  )
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': [...symmetric, `v1a,${signature.toString('base64')}`].join(' '),
  }
}
