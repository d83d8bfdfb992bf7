// A scheme is how a provider signs its deliveries and names them (decisions §12). One file each; the table is index.ts.
import { createHmac, timingSafeEqual } from 'node:crypto'

/** A delivery as its scheme reads it. */
interface SignedDelivery {
  readonly provider: string
  /** Value of the scheme's signature headers, of the shape that `looksSigned` takes. */
  readonly signature: string
  /** The stored headers, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  /** As it came. */
  readonly body: Uint8Array
  /** Any of them may have made the signature. */
  readonly secrets: readonly string[]
  /** Milliseconds since 1970. */
  readonly nowMs: number
}

/** The provider's id of the delivery, empty where it gave none; or a clause that says why this is not its signature, for the log alone. */
export type ReadDelivery = { readonly eventId: string } | { readonly unsigned: string }

export interface Scheme {
  /** The headers that may carry the signature, in lower case; messages name the first. They are not stored. */
  readonly signatureHeaders: (provider: string) => readonly [string, ...string[]]
  /** Further headers that `read` needs, in lower case. They are stored whatever else is. */
  readonly headers: (provider: string) => readonly string[]
  /** Where the event id stands, for messages. */
  readonly eventIdIn: (provider: string) => string
  /** The form that `looksSigned` takes, a clause that continues "must be", for the log. */
  readonly signatureForm: string
  /** A signature of another shape is refused before the body is read. */
  readonly looksSigned: (signature: string) => boolean
  /** @returns what a secret must be, a clause that continues "must be"; undefined where this one is */
  readonly secretMustBe: (secret: string) => string | undefined
  /** @returns a clause that says why a secret that can be used should not be; undefined where nothing speaks against it */
  readonly secretWarning: (secret: string) => string | undefined
  /** Checks the signature first, then reads the id: what is not signed is not parsed. */
  readonly read: (delivery: SignedDelivery) => ReadDelivery
}

/** Seconds that a signed time may differ from ours, as Stripe and Standard Webhooks have it. */
const TOLERANCE_SECONDS = 300

/** Two hundred and fifty-six bits are beyond trying; below this many characters people choose words. */
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
 * reveals neither which one nor how much of it matched.
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
 * @param where names it in the clause
 * @returns a clause where it is too far from now; undefined where it is near enough
 */
export function untimely(seconds: string, { nowMs, where }: { nowMs: number; where: string }) {
  if (!/^\d{1,12}$/.test(seconds)) return `${where} is not a Unix time in seconds`
  const age = Math.round(nowMs / 1000) - Number(seconds)
  if (Math.abs(age) <= TOLERANCE_SECONDS) return undefined
  return `${where} is ${Math.abs(age)} s ${age > 0 ? 'old' : 'ahead of this clock'}, and ${TOLERANCE_SECONDS} s are allowed`
}

/** For schemes whose secrets are any text. */
export const anySecret: Pick<Scheme, 'secretMustBe' | 'secretWarning'> = {
  secretMustBe: () => undefined,
  secretWarning: (secret) =>
    secret.length < LENGTH_ADVISED
      ? `has ${secret.length} characters, and who guesses it signs deliveries: choose ${LENGTH_ADVISED} or more at random`
      : undefined,
}

export const NO_SECRET_FITS = 'no configured secret makes the signature'
