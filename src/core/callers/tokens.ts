// Callers by token: access tokens of RFC 9068 and JWT-SVIDs of SPIFFE, of the issuers that the operator trusts.
import {
  decodeJwt,
  decodeProtectedHeader,
  errors,
  jwtVerify,
  type JWTPayload,
  type ProtectedHeaderParameters,
} from 'jose'
import { BY_TOKEN, type CallerKey } from './caller-keys.ts'
import type { TokenIssuer } from './token-issuers.ts'
import { isTrustDomain, namesOf } from '../../formats/people/caller-authentication.ts'
import { fullCaller } from '../../formats/people/caller.ts'
import { isClearName } from '../../formats/people/names.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { openNonces, type NonceStore } from './nonces.ts'
import { whyNotProven, type NotProven } from './proofs.ts'
import { openKeySet, type KeySet } from './key-set.ts'
import { openSignatureChecks } from './signature-checks.ts'

export interface Tokens {
  /** @returns whether a credential is written like a token: three parts of base64url. A key never is. */
  readonly isToken: (credential: string) => boolean
  /** @returns the caller of a token that was verified before and has not expired */
  readonly known: (token: string) => CallerKey | undefined
  /**
   * @param client the sender: checks of one client wait for each other
   * @returns the caller of a token, or a sentence for the log that says why it is refused. Never rejects.
   */
  readonly verify: (token: string, client: string) => Promise<CallerKey | string>
  /**
   * Uses the token of a caller for a request. A token that is bound to a key needs a proof; any other token must come without one.
   * @param request.scheme scheme of its Authorization header, in any case
   * @param request.proof the value of its header DPoP
   * @throws when the database, which stores used proofs and nonces, cannot be reached
   */
  readonly use: (key: CallerKey, request: TokenUse) => Promise<TokenUsed>
}

/** Whether a request may use its token, and the nonce for its caller. */
export interface TokenUsed {
  /** Undefined: the request may use the token. */
  readonly refused?: NotProven | undefined
  /** Nonce for the next proof; undefined: its issuer asks for none, or the caller has not shown that it holds the key. */
  readonly nonce?: string | undefined
}

export interface TokenUse {
  readonly token: string
  /** The sender: checks of one client wait for each other. */
  readonly client: string
  readonly scheme: string
  readonly proof: string | undefined
  readonly method: string
  /** Raw, without the query. */
  readonly path: string
}

/** Maximum number of cached verified tokens. A cached token costs the next request a hash and no signature check. */
const KEPT_MAX = 10_000
/** The key is found by the header alone. */
const NO_TOKEN = { payload: '', signature: '' }
/** Tolerated difference between the clocks of two machines. */
const CLOCK_SECONDS = 5
const TOKEN_SHAPE = /^[\w-]{2,2048}\.[\w-]{2,8192}\.[\w-]{2,2048}$/
const NAME = /^[!-~]{1,128}$/
/** The same maximum as for a key. */
const SCOPES_MAX = 64

interface KnownIssuer extends TokenIssuer {
  readonly keySet: KeySet
}

/** State of proofs of possession that all instances share. */
export interface ProofStore {
  /** Remembers an id for a minute. */
  readonly isFirstUse: (id: string) => Promise<boolean>
  readonly nonces: NonceStore
}

interface Verified {
  readonly key: CallerKey
  readonly issuer: KnownIssuer
}

/**
 * @param issuers the entries of SERVICE_TOKEN_ISSUERS
 * @param options.isTaken whether a key that is in effect has this callerId: governance could issue such a key
 * @param options.proofs the shared state of proofs; left out, tokens that are bound to a key are refused
 * @param options.log called when an issuer's keys cannot be read, and when they can again
 */
export function openTokens(
  issuers: readonly TokenIssuer[],
  {
    isTaken,
    proofs,
    log,
    nowMs = Date.now,
  }: {
    readonly isTaken: (callerId: string) => boolean
    readonly proofs?: ProofStore
    readonly log: (line: { readonly issuer: string; readonly reason?: string }, message: string) => void
    readonly nowMs?: () => number
  },
): Tokens {
  /** Keyed by the hash of the token, oldest first: a copy of the memory holds no token. */
  const kept = new Map<string, Verified>()
  const verifying = new Map<string, Promise<CallerKey | string>>()
  const checkSignature = openSignatureChecks()
  const allNonces = proofs && openNonces(proofs.nonces, nowMs)
  const known = issuers.map((issuer): KnownIssuer => {
    let isAway = false
    const keySet = openKeySet(issuer.keys, {
      nowMs,
      onChange() {
        for (const [hash, one] of kept) if (one.issuer.issuer === issuer.issuer) kept.delete(hash)
      },
      onProblem(reason) {
        if (reason !== undefined && !isAway)
          log(
            { issuer: issuer.issuer, reason },
            'the keys of a token issuer cannot be read: those that are known stay in use',
          )
        if (reason === undefined && isAway)
          log({ issuer: issuer.issuer }, 'the keys of a token issuer are read again')
        isAway = reason !== undefined
      },
    })
    keySet.renew()
    return { ...issuer, keySet }
  })

  async function verified(token: string, hash: string, client: string): Promise<CallerKey | string> {
    try {
      const issuer = issuerOf(token, known)
      if (issuer === undefined) return 'no configured issuer has issued the token'
      const { keySet } = issuer
      const header = decodeProtectedHeader(token)
      const { alg } = header
      if (alg === undefined || !issuer.algorithms.includes(alg)) return 'the issuer has no token of this alg'
      const key = await keySet.find({ ...header, alg }, NO_TOKEN)
      const edition = keySet.edition()
      const options = {
        algorithms: [...issuer.algorithms],
        audience: issuer.audience,
        ...(isTrustDomain(issuer.issuer) ? {} : { issuer: issuer.issuer, typ: 'at+jwt' }),
        requiredClaims: ['exp', 'iat', 'sub'],
        maxTokenAge: issuer.maxAgeSeconds,
        clockTolerance: CLOCK_SECONDS,
        currentDate: new Date(nowMs()),
      }
      const { payload, protectedHeader } = await checkSignature(client, () => jwtVerify(token, key, options))
      const caller = callerOf(payload, {
        issuer,
        hash,
        header: protectedHeader,
        canProve: proofs !== undefined,
      })
      if (typeof caller === 'string') return caller
      const { callerId } = caller.caller
      if (isTaken(callerId)) return `a key has the callerId ${callerId}`
      // The keys have changed meanwhile: one of the new keys must have signed the token.
      if (keySet.edition() !== edition) return await verified(token, hash, client)
      if (kept.size >= KEPT_MAX) kept.delete(kept.keys().next().value!)
      kept.set(hash, { key: caller, issuer })
      return caller
    } catch (error) {
      return error instanceof errors.JOSEError
        ? `${error.code}: ${error.message}`
        : 'the token cannot be read'
    }
  }

  return {
    isToken: (credential) => TOKEN_SHAPE.test(credential),
    known(token) {
      const hash = sha256Hex(token)
      const one = kept.get(hash)
      if (one === undefined) return undefined
      one.issuer.keySet.renew()
      if ((one.key.token?.untilMs ?? 0) > nowMs()) return one.key
      kept.delete(hash)
      return undefined
    },
    verify(token, client) {
      const hash = sha256Hex(token)
      const running = verifying.get(hash)
      if (running !== undefined) return running
      const started = verified(token, hash, client).finally(() => verifying.delete(hash))
      verifying.set(hash, started)
      return started
    },
    async use({ token: verifiedToken }, { client, scheme, proof, path, ...request }) {
      const { issuer, keyThumbprint: thumbprint } = verifiedToken?.authentication ?? {}
      const isProven = scheme.toLowerCase() === 'dpop'
      if (thumbprint === undefined)
        return isProven ? refused('the token is not bound to a key: its scheme is Bearer') : {}
      if (!isProven) return refused('the token is bound to a key: its scheme is DPoP')
      const dpop = known.find((one) => one.issuer === issuer)?.dpop
      if (dpop === undefined || proofs === undefined) return refused('the token is bound to a key (cnf)')
      const nonces = dpop.nonces ? allNonces : undefined
      try {
        const notProven = await whyNotProven(
          proof,
          { ...request, thumbprint, url: dpop.url + path },
          { ...proofs, nonces, nowMs, check: (work) => checkSignature(client, work) },
        )
        if (notProven !== undefined && notProven.lacksNonce === undefined) return { refused: notProven }
        return { refused: notProven, nonce: await nonces?.current() }
      } catch (error) {
        if (error instanceof errors.JOSEError) return refused(`the proof: ${error.code}: ${error.message}`)
        throw error
      }
    },
  }
}

/** @param why a sentence for the log */
const refused = (why: string): TokenUsed => ({ refused: { why } })

/** Uses the token's own claims: its signature, by a key of that issuer, has yet to prove them. */
function issuerOf(token: string, known: readonly KnownIssuer[]): KnownIssuer | undefined {
  const { iss, sub } = decodeJwt(token)
  return (
    known.find(({ issuer }) => issuer === iss) ??
    // SPIFFE requires no `iss`: a workload's name contains its trust domain.
    known.find((one) => isTrustDomain(one.issuer) && String(sub).startsWith(namesOf(one)))
  )
}

/** @returns a caller that is no human and reads only its own records, whatever its token says; or the reason for a refusal */
function callerOf(
  payload: JWTPayload,
  {
    issuer,
    hash,
    header: { typ },
    canProve,
  }: {
    readonly issuer: TokenIssuer
    readonly hash: string
    readonly header: ProtectedHeaderParameters
    readonly canProve: boolean
  },
): CallerKey | string {
  const ofWorkload = isTrustDomain(issuer.issuer)
  // JWT-SVID §2.3 allows these two.
  if (ofWorkload && typ !== undefined && typ !== 'JWT' && typ !== 'JOSE')
    return 'the typ of a JWT-SVID is wrong'
  const { cnf } = payload
  // A client that presents such a token has to prove that it holds the key (RFC 7800, RFC 9449).
  if (cnf !== undefined && (issuer.dpop === undefined || !canProve))
    return 'the token is bound to a key (cnf)'
  const keyThumbprint = thumbprintIn(cnf)
  if (cnf !== undefined && keyThumbprint === undefined)
    return 'the token is not bound to a key by its thumbprint (jkt)'
  if (issuer.dpop?.required === true && keyThumbprint === undefined)
    return 'the token is not bound to a key (cnf)'
  const named = payload[issuer.callerClaim]
  if (typeof named !== 'string' || named === '') return `the claim ${issuer.callerClaim} names no caller`
  if (ofWorkload && !named.startsWith(namesOf(issuer))) return `sub is not in ${issuer.issuer}`
  const callerId = ofWorkload ? named : `${namesOf(issuer)}${named}`
  if (!NAME.test(callerId))
    return 'the callerId would not be 1 to 128 printable ASCII characters without spaces'
  const principalIds = principalsOf(payload, { callerId, ...issuer })
  if (principalIds.length === 0) return `the token has no claim ${issuer.principalClaim}`
  if (principalIds.length > SCOPES_MAX || !principalIds.every(isPrincipal))
    return `the claim ${issuer.principalClaim} does not hold clear names of principals`
  const capabilities = [...issuer.allowedCapabilities, ...grantedBy(payload['scope'], issuer.scopePrefix)]
  if (capabilities.length > SCOPES_MAX + issuer.allowedCapabilities.length)
    return 'the token has too many scopes'
  const { sub: subject = '' } = payload
  const actor = actorOf(payload)
  if (!isPrincipal(subject) || (actor !== undefined && !isPrincipal(actor)))
    return 'sub, and who uses the token (the sub of act, or client_id), must be clear names'
  const caller = fullCaller({
    callerId,
    keyHash: hash,
    allowedPrincipalIds: principalIds,
    allowedCapabilities: capabilities,
  })
  const { exp = 0, iat = 0 } = payload
  return {
    caller,
    index: BY_TOKEN,
    token: {
      callerId,
      principalIds,
      capabilities: caller.unrestrictedCapabilities ? 'all' : capabilities,
      // Members in canonical order: this text is signed with each execution.
      authentication: {
        ...(actor === undefined || actor === subject ? {} : { actor }),
        issuer: issuer.issuer,
        ...(keyThumbprint === undefined ? {} : { keyThumbprint }),
        method: ofWorkload ? 'jwt-svid' : keyThumbprint === undefined ? 'access-token' : 'dpop',
        subject,
        tokenHash: hash,
      },
      untilMs: Math.min(exp, iat + issuer.maxAgeSeconds) * 1000,
    },
  }
}

/** RFC 9449 §6.1. @returns undefined when `cnf` has no thumbprint, or has other members too */
function thumbprintIn(cnf: unknown): string | undefined {
  if (typeof cnf !== 'object' || cnf === null || !('jkt' in cnf) || Object.keys(cnf).length !== 1)
    return undefined
  return typeof cnf.jkt === 'string' && /^[\w-]{43}$/.test(cnf.jkt) ? cnf.jkt : undefined
}

/**
 * The user of the token: the subject of `act` if the token was exchanged (RFC 8693 §4.1), else the client (RFC 9068 §2.2).
 * A nested `act` names earlier users, who decide nothing.
 * @returns null when `act` names nobody: evidence that named the client instead would be wrong
 */
function actorOf({ act, client_id: client }: JWTPayload): unknown {
  if (act === undefined) return client
  return typeof act === 'object' && act !== null && 'sub' in act ? act.sub : null
}

function isPrincipal(name: unknown): name is string {
  return typeof name === 'string' && name.length >= 1 && name.length <= 256 && isClearName(name)
}

/** When the operator names a claim, a token without it acts for nobody: its absence would hide the person behind the caller. */
function principalsOf(
  payload: JWTPayload,
  { principalClaim, callerId }: Pick<TokenIssuer, 'principalClaim'> & { readonly callerId: string },
): readonly string[] {
  if (principalClaim === undefined) return [callerId]
  const claimed = payload[principalClaim] ?? []
  return (Array.isArray(claimed) ? claimed : [claimed]) as readonly string[]
}

/** A scope never grants everything: `*` is allowed only in the configuration. */
function grantedBy(scope: unknown, prefix: string | undefined): string[] {
  if (prefix === undefined || typeof scope !== 'string') return []
  return scope
    .split(' ')
    .filter((one) => one.startsWith(prefix))
    .map((one) => one.slice(prefix.length))
    .filter((capability) => capability !== '' && capability !== '*')
}
