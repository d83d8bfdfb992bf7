// Standard Webhooks 1.0.0: `webhook-signature` is a list of `v1,<base64>` (HMAC) and `v1a,<base64>` (Ed25519) over
// `<webhook-id>.<webhook-timestamp>.<body>`, so all three are signed (github.com/standard-webhooks, spec/standard-webhooks.md). Svix, the
// origin of the scheme, sends the same under `svix-*`.
import { createPublicKey, verify } from 'node:crypto'
import { isHmac, NO_SECRET_FITS, untimely, type Scheme } from './scheme.ts'

const SIGNATURE = ['webhook-signature', 'svix-signature'] as const
const ID = ['webhook-id', 'svix-id'] as const
const TIMESTAMP = ['webhook-timestamp', 'svix-timestamp'] as const

const HMAC_PREFIX = 'whsec_'
const PUBLIC_PREFIX = 'whpk_'
const PUBLIC_BYTES = 32
/** Advised by the specification. */
const HMAC_BYTES_ADVISED = 24
/** An Ed25519 check costs as much as fifty HMACs, and anybody may send a list of signatures. */
const SIGNATURES_MAX = 8

const MUST_BE = `${HMAC_PREFIX} and the base64 of a key, or ${PUBLIC_PREFIX} and the base64 of an Ed25519 public key of ${PUBLIC_BYTES} bytes`

export const standardWebhooks: Scheme = {
  signatureHeaders: () => [...SIGNATURE],
  headers: () => [...ID, ...TIMESTAMP],
  eventIdIn: () => ID[0],
  signatureForm: `1 to ${SIGNATURES_MAX} of v1,<base64> or v1a,<base64> with spaces between them`,
  looksSigned: (signature) => {
    const all = signature.split(' ')
    return all.length <= SIGNATURES_MAX && all.some((one) => /^v1a?,[A-Za-z0-9+/]+={0,2}$/.test(one))
  },
  secretMustBe(secret) {
    const key = secret.startsWith(PUBLIC_PREFIX) ? publicBytes(secret) : hmacKey(secret)
    return key === undefined ? MUST_BE : undefined
  },
  secretWarning(secret) {
    const bytes = hmacKey(secret)?.byteLength ?? HMAC_BYTES_ADVISED
    return bytes < HMAC_BYTES_ADVISED
      ? `has a key of ${bytes} bytes, and Standard Webhooks wants ${HMAC_BYTES_ADVISED} or more`
      : undefined
  },
  read({ signature, headers, body, secrets, nowMs }) {
    // Both are signed: without them there is no signed content to check.
    const [id, seconds] = [oneOf(ID, headers), oneOf(TIMESTAMP, headers)]
    if (typeof id === 'object') return id
    if (typeof seconds === 'object') return seconds
    // The same bytes would be signed for a shorter id and a body that begins with the rest of this id.
    if (id.includes('.'))
      return { unsigned: `${ID[0]} has a dot, which would let a signature be read for another id` }
    const parts = [`${id}.${seconds}.`, body]
    const all = signature.split(' ')
    if (!isHmac({ signatures: of('v1', all), keys: secrets.flatMap((one) => hmacKey(one) ?? []), parts }))
      if (!isEd25519({ signatures: of('v1a', all), secrets, parts })) return { unsigned: NO_SECRET_FITS }
    const late = untimely(seconds, { nowMs, where: TIMESTAMP[0] })
    return late === undefined ? { eventId: id } : { unsigned: late }
  },
}

/** The value of a header that has one of two names, or both. */
function oneOf(
  [name, alias]: readonly [string, string],
  { [name]: value, [alias]: other }: Readonly<Record<string, string>>,
): string | { readonly unsigned: string } {
  if (value !== undefined && other !== undefined && value !== other)
    return { unsigned: `the headers ${name} and ${alias} differ` }
  const found = value ?? other ?? ''
  return found === '' ? { unsigned: `the header ${name} is missing` } : found
}

/** The signatures of a version. A malformed signature does not hide others. */
function of(version: 'v1' | 'v1a', signatures: readonly string[]): Buffer[] {
  return signatures.flatMap((one) => {
    const [name, text = ''] = one.split(',')
    const bytes = name === version ? base64(text) : undefined
    return bytes === undefined ? [] : [bytes]
  })
}

function isEd25519({
  signatures,
  secrets,
  parts,
}: {
  readonly signatures: readonly Uint8Array[]
  readonly secrets: readonly string[]
  readonly parts: readonly (string | Uint8Array)[]
}): boolean {
  if (signatures.length === 0) return false
  const message = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)))
  return secrets.some((secret) => {
    const bytes = publicBytes(secret)
    if (bytes === undefined) return false
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: bytes.toString('base64url') },
      format: 'jwk',
    })
    return signatures.some((signature) => verify(null, message, key, signature))
  })
}

/** The prefix may be left out, as in the specification's own libraries. */
function hmacKey(secret: string): Buffer | undefined {
  if (secret.startsWith(PUBLIC_PREFIX)) return undefined
  return base64(secret.startsWith(HMAC_PREFIX) ? secret.slice(HMAC_PREFIX.length) : secret)
}

function publicBytes(secret: string): Buffer | undefined {
  if (!secret.startsWith(PUBLIC_PREFIX)) return undefined
  const bytes = base64(secret.slice(PUBLIC_PREFIX.length))
  return bytes?.byteLength === PUBLIC_BYTES ? bytes : undefined
}

/** Undefined if it is empty or not in the form that an encoder would write. */
function base64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.byteLength > 0 && bytes.toString('base64') === text ? bytes : undefined
}
