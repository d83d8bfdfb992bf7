// A scheme defines how a provider signs and identifies its deliveries (decisions §12). One file each; the table is index.ts.
import { createHmac, timingSafeEqual } from 'node:crypto'

/** A delivery as its scheme reads it. */
interface SignedDelivery {
  readonly provider: string
  /** Value of the scheme's signature headers, in the shape that `looksSigned` accepts. */
  readonly signature: string
  /** The stored headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** As received. */
  readonly body: Uint8Array
  /** Any of them may have made the signature. */
  readonly secrets: readonly string[]
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/** The provider's id of the delivery, empty if it gave none; or a clause that says why the signature is not valid, for the log only. */
export type ReadDelivery = { readonly eventId: string } | { readonly unsigned: string }

export interface Scheme {
  /** The headers that may carry the signature, in lower case; messages name the first. They are not stored. */
  readonly signatureHeaders: (provider: string) => readonly [string, ...string[]]
  /** Further headers that `read` needs, in lower case. They are always stored. */
  readonly headers: (provider: string) => readonly string[]
  /** Place of the event id, for messages. */
  readonly eventIdIn: (provider: string) => string
  /** The form that `looksSigned` accepts, a clause that continues "must be", for the log. */
  readonly signatureForm: string
  /** A signature of another shape is refused before the body is read. */
  readonly looksSigned: (signature: string) => boolean
  /** @returns the requirement for a secret, a clause that continues "must be"; undefined when this secret meets it */
  readonly secretMustBe: (secret: string) => string | undefined
  /** @returns a clause that says why a usable secret should not be used; undefined when there is no objection */
  readonly secretWarning: (secret: string) => string | undefined
  /** Checks the signature first, then reads the id: unsigned content is not parsed. */
  readonly read: (delivery: SignedDelivery) => ReadDelivery
}

/** Seconds that a signed time may differ from ours, as in Stripe and Standard Webhooks. */
const TOLERANCE_SECONDS = 300

/** Nobody can guess 256 random bits; with fewer characters than this, people choose words. */
const LENGTH_ADVISED = 16

/** @returns the HMAC-SHA256 of the parts, one after the other, under each key */
function hmacs(keys: readonly (string | Uint8Array)[], parts: readonly (string | Uint8Array)[]): Buffer[] {
  return keys.map((key) => {
    const hmac = createHmac('sha256', key)
    for (const part of parts) hmac.update(part)
    return hmac.digest()
  })
}

/**
 * Whether one of the signatures is the HMAC-SHA256 of the parts under one of the keys. Each pair is compared, so that the time taken
 * reveals neither which pair matched nor how much of it.
 */
export function isHmac({
  signatures,
  keys,
  parts,
}: {
  readonly signatures: readonly Uint8Array[]
  readonly keys: readonly (string | Uint8Array)[]
  readonly parts: readonly (string | Uint8Array)[]
}): boolean {
  let found = false
  for (const expected of hmacs(keys, parts))
    for (const given of signatures)
      if (given.byteLength === expected.byteLength && timingSafeEqual(given, expected)) found = true
  return found
}

/**
 * @param seconds Unix time, decimal digits
 * @param where name of the time in the clause
 * @returns a clause when it is too far from now; otherwise undefined
 */
export function untimely(seconds: string, { nowMs, where }: { nowMs: number; where: string }) {
  if (!/^\d{1,12}$/.test(seconds)) return `${where} is not a Unix time in seconds`
  const age = Math.round(nowMs / 1000) - Number(seconds)
  if (Math.abs(age) <= TOLERANCE_SECONDS) return undefined
  return `${where} is ${Math.abs(age)} s ${age > 0 ? 'old' : 'ahead of this clock'}, and ${TOLERANCE_SECONDS} s are allowed`
}

/** For schemes whose secrets may be any text. */
export const anySecret: Pick<Scheme, 'secretMustBe' | 'secretWarning'> = {
  secretMustBe: () => undefined,
  secretWarning: (secret) =>
    secret.length < LENGTH_ADVISED
      ? `has ${secret.length} characters, and who guesses it signs deliveries: choose ${LENGTH_ADVISED} or more at random`
      : undefined,
}

export const NO_SECRET_FITS = 'no configured secret makes the signature'
