// Proofs of possession (DPoP, RFC 9449): a token that is bound to a key is accepted with a proof that this key signed for this one request.
import { calculateJwkThumbprint, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose'
import { proofAlgorithms } from './proof-algorithms.ts'
import type { Nonces } from './nonces.ts'
import { sha256, sha256Hex } from '../../store/sha256.ts'

/** The request that a proof must cover. */
export interface ProvenRequest {
  readonly token: string
  /** RFC 7638 thumbprint of the key that the token is bound to. */
  readonly thumbprint: string
  readonly method: string
  /** The address that the caller sent the request to, without query and fragment. */
  readonly url: string
}

/** The reason why a proof is refused, as a sentence for the log; `lacksNonce`: with the service's nonce it would be accepted. */
export interface NotProven {
  readonly why: string
  readonly lacksNonce?: true
}

/** A proof is made for one request: it is accepted for half a minute, and its first use is remembered for a minute. */
const AGE_MAX_SECONDS = 25
const CLOCK_SECONDS = 5
const PROOF_SHAPE = /^[\w-]{2,4096}\.[\w-]{2,4096}\.[\w-]{2,2048}$/

/**
 * Checks a proof as RFC 9449 §4.3 asks. A proof by another key than the token's costs no signature check.
 * @param proof the value of the header DPoP
 * @param options.isFirstUse remembers an id, in all instances, for longer than a proof is accepted
 * @param options.check runs the check of a signature when it is its client's turn
 * @param options.nonces left out: a proof needs no nonce, and a nonce in it is ignored
 * @returns undefined if the proof is valid
 * @throws the errors of `isFirstUse` and `nonces`, and jose's errors for an invalid proof
 */
export async function whyNotProven(
  proof: string | undefined,
  { token, thumbprint, method, url }: ProvenRequest,
  {
    isFirstUse,
    nonces,
    check,
    nowMs,
  }: {
    readonly isFirstUse: (id: string) => Promise<boolean>
    readonly nonces?: Nonces | undefined
    readonly check: <T>(work: () => Promise<T>) => Promise<T>
    readonly nowMs: () => number
  },
): Promise<NotProven | undefined> {
  if (proof === undefined) return { why: 'the token is bound to a key, and the request has no proof (DPoP)' }
  if (!PROOF_SHAPE.test(proof)) return { why: 'the header DPoP is not one proof' }
  if ((await thumbprintOfKeyIn(proof)) !== thumbprint)
    return { why: 'the proof is by another key than the token is bound to' }
  const { payload } = await check(() =>
    jwtVerify(proof, EmbeddedJWK, {
      algorithms: [...proofAlgorithms],
      typ: 'dpop+jwt',
      requiredClaims: ['htm', 'htu', 'ath', 'jti'],
      maxTokenAge: AGE_MAX_SECONDS,
      clockTolerance: CLOCK_SECONDS,
      currentDate: new Date(nowMs()),
    }),
  )
  const { htm, htu, ath, jti, nonce } = payload
  if (htm !== method) return { why: 'the proof is for another method (htm)' }
  if (typeof htu !== 'string' || addressOf(htu) !== addressOf(url))
    return { why: `the proof is for another address (htu) than ${url}` }
  if (ath !== sha256(token).toString('base64url')) return { why: 'the proof is for another token (ath)' }
  if (typeof jti !== 'string' || !/^[!-~]{1,256}$/.test(jti))
    return { why: 'the jti of the proof is not 1 to 256 printable ASCII characters without spaces' }
  // Checked before the first use is recorded: the holder of the key makes another proof.
  if (nonces !== undefined && !(await nonces.accepts(nonce)))
    return { why: 'the proof has no nonce that this service has given out lately', lacksNonce: true }
  return (await isFirstUse(sha256Hex(`${thumbprint} ${jti}`)))
    ? undefined
    : { why: 'the proof was used before' }
}

/** @returns undefined when its header cannot be read or has no key: jose then throws a TypeError, which would read as a fault of the service */
async function thumbprintOfKeyIn(proof: string): Promise<string | undefined> {
  try {
    const { jwk } = decodeProtectedHeader(proof)
    return jwk && (await calculateJwkThumbprint(jwk))
  } catch {
    return undefined
  }
}

/** The address without query and fragment, normalized (RFC 3986 §6.2) so that two spellings compare equal; undefined for an invalid address. */
function addressOf(text: string): string | undefined {
  const url = URL.parse(text)
  return url === null ? undefined : url.origin + url.pathname
}
