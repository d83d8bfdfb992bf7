// The symmetric signature of Standard Webhooks 1.0.0 (github.com/standard-webhooks/standard-webhooks).
import { createHmac } from 'node:crypto'

/** The delivery that a signature is for. */
export interface DeliveryToSign {
  /** The `webhook-id` header; it contains no full stop. */
  readonly id: string
  /** The time of the attempt, milliseconds since 1970. */
  readonly atMs: number
  readonly body: string
}

/** The `webhook-timestamp` header: seconds since 1970. */
export function timestampOf({ atMs }: DeliveryToSign): string {
  return String(Math.floor(atMs / 1000))
}

export function signedBytes(delivery: DeliveryToSign): Buffer {
  return Buffer.from(`${delivery.id}.${timestampOf(delivery)}.${delivery.body}`)
}

/**
 * @param message result of `signedBytes`
 * @param secret the key of the HMAC, 24 to 64 bytes
 * @returns one signature for the `webhook-signature` header
 */
export function hmacSignature(message: Buffer, secret: Buffer): string {
  return `v1,${createHmac('sha256', secret).update(message).digest('base64')}`
}
