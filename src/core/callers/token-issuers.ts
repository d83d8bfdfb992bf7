// The issuers of access tokens for callers: SERVICE_TOKEN_ISSUERS (docs/handbook/callers.md "Callers by token"), and those of an MCP gateway.
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { isTrustDomain, namesOf } from '../../formats/people/caller-authentication.ts'
import { ConfigError, describe } from '../errors/config-error.ts'
import { isLoopbackLiteral } from '../outbound/address.ts'

const SOURCE = 'SERVICE_TOKEN_ISSUERS'

/** Only signatures by a key pair: with a shared secret, or no key, every party that checks tokens could make them. */
export const tokenAlgorithms = [
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
  'PS256',
  'PS384',
  'PS512',
  'RS256',
  'RS384',
  'RS512',
] as const

/** An issuer whose tokens are accepted. Plain data, because it is sent to the threads. */
export interface TokenIssuer {
  /** The `iss` of its tokens; for a SPIFFE trust domain, its `spiffe://` address. */
  readonly issuer: string
  readonly audience: string
  readonly keys: { readonly jwks: PublicKeySet } | { readonly jwksUri: string }
  readonly algorithms: readonly string[]
  /** The claim that names the caller. */
  readonly callerClaim: string
  /** The claim with the principals that the caller may act for; undefined: only for itself. */
  readonly principalClaim: string | undefined
  /** A scope with this prefix grants the capability that follows; undefined: scopes grant nothing. */
  readonly scopePrefix: string | undefined
  /** Capabilities of every caller of the issuer; `*` means all. */
  readonly allowedCapabilities: readonly string[]
  /** A token is refused this long after it was issued, however late it expires. */
  readonly maxAgeSeconds: number
  /** Settings for tokens that are bound to a key (RFC 9449); undefined: such tokens are refused. */
  readonly dpop: Dpop | undefined
}

interface Dpop {
  /** The address of this service as callers' proofs name it, without a slash at its end. */
  readonly url: string
  /** Whether tokens that are not bound to a key are refused. */
  readonly required: boolean
  /** Whether a proof needs a nonce of this service (RFC 9449 §9). */
  readonly nonces: boolean
}

/** A JSON Web Key Set (RFC 7517) of public keys. */
export interface PublicKeySet {
  readonly keys: readonly Readonly<Record<string, unknown>>[]
}

const claim = () =>
  Type.String({
    pattern: '^[!-~]{1,128}$',
    description: 'the name of a claim: 1 to 128 printable ASCII characters without spaces',
  })

const Issuer = Type.Object(
  {
    issuer: Type.String({
      pattern: '^\\S{1,100}$',
      description:
        'an https URL (http for a loopback address) without query and fragment, or spiffe://<trust domain>, of at most 100 characters',
    }),
    audience: Type.String({
      pattern: '^[!-~]{1,256}$',
      description: '1 to 256 printable ASCII characters without spaces',
    }),
    jwks: Type.Optional(
      Type.Object(
        { keys: Type.Array(Type.Object({ kty: Type.String() }), { minItems: 1, maxItems: 100 }) },
        { description: 'a JSON Web Key Set with 1 to 100 public keys of a key pair' },
      ),
    ),
    jwksUri: Type.Optional(
      Type.String({
        description: 'an https URL without credentials and fragment; http for a loopback address alone',
      }),
    ),
    algorithms: Type.Array(Type.Enum([...tokenAlgorithms]), {
      minItems: 1,
      description: `an array with at least one of ${tokenAlgorithms.join(', ')}`,
    }),
    callerClaim: Type.Optional(claim()),
    principalClaim: Type.Optional(claim()),
    scopePrefix: Type.Optional(
      Type.String({
        pattern: '^[!-~]{1,128}$',
        description: '1 to 128 printable ASCII characters without spaces',
      }),
    ),
    allowedCapabilities: Type.Optional(
      Type.Array(Type.String({ minLength: 1 }), { description: 'an array of non-empty strings' }),
    ),
    maxAgeSeconds: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 86_400, description: 'a whole number from 1 to 86400' }),
    ),
    dpop: Type.Optional(
      Type.Object(
        {
          url: Type.String(),
          required: Type.Optional(Type.Boolean()),
          nonces: Type.Optional(Type.Boolean()),
        },
        {
          additionalProperties: false,
          description:
            '{url, required, nonces}: the https URL by which callers reach this service (http for a loopback address) without query and fragment, true where tokens that are not bound to a key are refused, and true where each proof needs a nonce of this service',
        },
      ),
    ),
  },
  { additionalProperties: false, description: 'an object' },
)
const issuerShape = Compile(Issuer)
type Given = Type.Static<typeof Issuer>

const MAX_AGE_SECONDS = 3_600

/**
 * The entries of SERVICE_TOKEN_ISSUERS.
 * @throws ConfigError with every mistake, by index and member
 */
export function parseTokenIssuers(json: string): TokenIssuer[] {
  let parsed: unknown
  try {
    parsed = JSON.parse(json)
  } catch {
    // The parser's own message quotes its input.
  }
  if (!Array.isArray(parsed)) throw new ConfigError([`${SOURCE} must be a JSON array of issuers.`])
  return tokenIssuersOf(parsed, SOURCE)
}

/**
 * The issuers of a configuration.
 * @param source name of the configuration, for messages
 * @throws ConfigError with every mistake, by index and member
 */
export function tokenIssuersOf(given: readonly unknown[], source: string): TokenIssuer[] {
  const problems: string[] = []
  const issuers: TokenIssuer[] = []
  for (const [index, entry] of given.entries()) {
    const at = `${source}[${index}]`
    const mistakes = issuerShape.Check(entry) ? furtherMistakes(entry) : shapeMistakes(entry)
    problems.push(...mistakes.map((mistake) => `${at}${mistake}`))
    if (mistakes.length > 0) continue
    const issuer = issuerOf(entry as Given)
    const twin = issuers.findIndex((other) => other.issuer === issuer.issuer)
    if (twin !== -1) problems.push(`${at}.issuer is that of ${source}[${twin}] too.`)
    issuers.push(issuer)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return issuers
}

function issuerOf({ jwks, jwksUri, ...given }: Given): TokenIssuer {
  return {
    issuer: given.issuer,
    audience: given.audience,
    keys: jwks === undefined ? { jwksUri: jwksUri ?? '' } : { jwks },
    algorithms: given.algorithms,
    callerClaim: given.callerClaim ?? 'sub',
    principalClaim: given.principalClaim,
    scopePrefix: given.scopePrefix,
    allowedCapabilities: given.allowedCapabilities ?? [],
    maxAgeSeconds: given.maxAgeSeconds ?? MAX_AGE_SECONDS,
    dpop: given.dpop && {
      url: given.dpop.url.replace(/\/+$/, ''),
      required: given.dpop.required ?? false,
      nonces: given.dpop.nonces ?? false,
    },
  }
}

function shapeMistakes(entry: unknown): string[] {
  const mistakes = new Set<string>()
  for (const error of issuerShape.Errors(entry)) {
    const member = error.instancePath.split('/')[1]
    if (member !== undefined && Object.hasOwn(Issuer.properties, member)) mistakes.add(must(member))
    else if (error.keyword === 'required')
      for (const name of error.params.requiredProperties) mistakes.add(`.${name} is required.`)
    else if (error.keyword === 'additionalProperties')
      for (const name of error.params.additionalProperties)
        mistakes.add(`.${name} is not a member of an issuer.`)
    else if (member === undefined) mistakes.add(' must be an object.')
  }
  return [...mistakes]
}

function must(member: string): string {
  return `.${member} must be ${describe(Issuer, member)}.`
}

/** Mistakes that the schema does not detect. */
function furtherMistakes({ issuer, jwks, jwksUri, callerClaim, dpop }: Given): string[] {
  const mistakes: string[] = []
  if (!isIssuer(issuer)) mistakes.push(must('issuer'))
  if ((jwks === undefined) === (jwksUri === undefined))
    mistakes.push(' must have one of jwks and jwksUri, not both.')
  if (jwks !== undefined && !jwks.keys.every(isPublicKey)) mistakes.push(must('jwks'))
  if (jwksUri !== undefined && !isKeySetAddress(jwksUri)) mistakes.push(must('jwksUri'))
  if (dpop !== undefined && !isPlainAddress(dpop.url)) mistakes.push(must('dpop'))
  if (isTrustDomain(issuer) && dpop !== undefined)
    mistakes.push(
      '.dpop must be left out where issuer is a SPIFFE trust domain: a JWT-SVID is bound to no key.',
    )
  if (isTrustDomain(issuer) && callerClaim !== undefined && callerClaim !== 'sub')
    mistakes.push(
      ".callerClaim must be sub where issuer is a SPIFFE trust domain: a workload's name is its SPIFFE ID.",
    )
  return mistakes
}

/** RFC 8414 §2; SPIFFE-ID §2.1. */
function isIssuer(issuer: string): boolean {
  if (isTrustDomain(issuer)) return /^spiffe:\/\/[a-z0-9._-]+$/.test(issuer)
  return isPlainAddress(issuer)
}

function isPlainAddress(text: string): boolean {
  return isWebAddress(text) && !/[?#]/.test(text)
}

function isKeySetAddress(address: string): boolean {
  return isWebAddress(address) && !address.includes('#')
}

function isWebAddress(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.username !== '' || url.password !== '') return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackLiteral(url.hostname))
}

/** `d` is the private part of a key pair, `k` a shared secret (RFC 7518 §6). Neither belongs in a configuration that only checks. */
function isPublicKey(key: object): boolean {
  return !('d' in key) && !('k' in key) && 'kty' in key && key.kty !== 'oct'
}

/** @returns the issuer whose callers' names include a callerId, compared without case; undefined when there is no such issuer */
export function issuerOfName(callerId: string, issuers: readonly TokenIssuer[]): string | undefined {
  const name = callerId.toLowerCase()
  return issuers.find((issuer) => name.startsWith(namesOf(issuer).toLowerCase()))?.issuer
}
