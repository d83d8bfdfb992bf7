// Whether a delivery is its provider's (interface §6): HMAC-SHA256 over the bytes as they came, before anything of them is read.
import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * @param given.signature 64 lowercase hex characters
 * @param given.secrets any of them may have made it. Each is tried, so that the time taken reveals neither which one nor how much matched
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
