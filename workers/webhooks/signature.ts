// Whether a delivery is its provider's (interface §6): HMAC-SHA256 over the bytes as they came, before anything of them is read.
import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * in   signature  64 lowercase hex characters
 *      secrets    any one will do. Each is tried, so that the time taken says nothing of which, nor how much of it, was right
 */
export function isSigned({
  body,
  signature,
  secrets,
}: {
  readonly body: Uint8Array
  readonly signature: string
  readonly secrets: readonly string[]
}): boolean {
  const given = Buffer.from(signature, 'hex')
  let signed = false
  for (const secret of secrets) {
    const expected = createHmac('sha256', secret).update(body).digest()
    if (given.length === expected.length && timingSafeEqual(given, expected)) signed = true
  }
  return signed
}
