// The public keys of a token issuer (RFC 7517): given in the configuration, or fetched from its address and cached.
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose'
import { call, type HttpCall, type HttpOutcome } from '../outbound/call.ts'
import { errorText } from '../../formats/text/error-text.ts'
import type { TokenIssuer } from './token-issuers.ts'

const FETCH_MAX_MS = 5_000
/** Pause between two fetches: a token can name any key, and invented names must not cause a fetch each. */
const PAUSE_MS = 30_000
/** A key that the issuer took out of its set is accepted for this long. */
const KEPT_MS = 5 * 60_000
/** An issuer has a few keys, one of them new. */
const KEYS_MAX = 100

export interface KeySet {
  /** Finds the key of a token's header, in a current set if the issuer can be reached; `jose` throws when there is no such key. */
  readonly find: JWTVerifyGetKey
  /** Changes whenever a new set replaces the old one: tokens that the old set verified are not kept. */
  readonly edition: () => number
  /** Fetches the set in the background if it is old, or was never read. */
  readonly renew: () => void
}

interface KeySetOptions {
  readonly nowMs: () => number
  /** Called when a new set replaces the old one. */
  readonly onChange: () => void
  /** @param problem completes "the keys of the issuer cannot be read: …"; undefined: they can be read again */
  readonly onProblem: (problem: string | undefined) => void
  readonly send?: (exchange: HttpCall) => Promise<HttpOutcome>
}

/** When the set can no longer be fetched, the last one stays in use. */
export function openKeySet(
  keys: TokenIssuer['keys'],
  { nowMs, onChange, onProblem, send = call }: KeySetOptions,
): KeySet {
  if ('jwks' in keys)
    return {
      find: createLocalJWKSet(keys.jwks as JSONWebKeySet),
      edition: () => 0,
      renew: () => undefined,
    }
  const { jwksUri } = keys
  let known: { readonly text: string; readonly find: JWTVerifyGetKey } | undefined
  let edition = 0
  let readMs = -Infinity
  let nextMs = -Infinity
  let fetching: Promise<void> | undefined

  async function read(): Promise<void> {
    const text = await fetchText(jwksUri, send)
    const find = createLocalJWKSet(keySetOf(text))
    readMs = nowMs()
    if (known?.text === text) return
    const isOther = known !== undefined
    known = { text, find }
    if (!isOther) return
    edition++
    onChange()
  }

  async function readAgain(): Promise<void> {
    try {
      await read()
      onProblem(undefined)
    } catch (error) {
      onProblem(errorText(error))
    }
  }

  /** One fetch at a time, at least half a minute apart. */
  function fetchOnce(): Promise<void> | undefined {
    if (fetching === undefined && nowMs() >= nextMs) {
      nextMs = nowMs() + PAUSE_MS
      fetching = readAgain().finally(() => (fetching = undefined))
    }
    return fetching
  }

  const isOld = () => nowMs() >= readMs + KEPT_MS

  return {
    edition: () => edition,
    async find(header, token) {
      // A key that the issuer withdrew must not verify new tokens until something else happens to fetch the set.
      if (isOld()) await fetchOnce()
      try {
        if (known !== undefined) return await known.find(header, token)
      } catch (error) {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      }
      await fetchOnce()
      if (known === undefined) throw new errors.JWKSNoMatchingKey()
      return await known.find(header, token)
    },
    renew() {
      if (isOld()) void fetchOnce()
    },
  }
}

/** The address is the operator's, so it may be a private one. No redirect is followed, and 64 KB are read at most. */
async function fetchText(url: string, send: NonNullable<KeySetOptions['send']>): Promise<string> {
  const headers = { accept: 'application/jwk-set+json, application/json' }
  const outcome = await send({ method: 'GET', url, headers, reach: 'any', timeoutMs: FETCH_MAX_MS })
  if (outcome.kind === 'not-sent') throw new Error(outcome.reason)
  if (outcome.kind === 'lost') throw new Error(outcome.cause)
  if (outcome.status !== 200) throw new Error(`it answers ${outcome.status}`)
  return Buffer.from(outcome.body).toString()
}

/** Drops secret keys that a set may hold by mistake. This is a second safeguard: the algorithm is checked before a key is looked up. */
function keySetOf(text: string): JSONWebKeySet {
  const set: unknown = JSON.parse(text)
  if (typeof set !== 'object' || set === null || !('keys' in set) || !Array.isArray(set.keys))
    throw new Error('it is not a JSON Web Key Set')
  const { keys } = set as JSONWebKeySet
  if (keys.length > KEYS_MAX) throw new Error(`it has more than ${KEYS_MAX} keys`)
  return { keys: keys.filter((key) => key.kty !== 'oct') }
}
