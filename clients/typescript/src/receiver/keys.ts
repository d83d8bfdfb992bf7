// The service's keys, as a receiver of its releases knows them. The service is named at the start, so that a release cannot choose where its
// signer is looked up.
import { createPublicKey, type KeyObject } from 'node:crypto'

/** The keys that a release may be signed by. */
export interface ServiceKeys {
  /** The key of this id; undefined where the service has none, or has revoked it. */
  readonly find: (keyId: string) => KeyObject | undefined | Promise<KeyObject | undefined>
}

/** The maximum age of the keys that check a release: for this long a revoked key is still believed. */
const FRESH_MS = 60_000
/** An unknown key may be a new key. Invented ids cause no more than one request in this time. */
const UNKNOWN_AGAIN_MS = 30_000
const TIMEOUT_MS = 5_000

/**
 * The keys of a service, fetched regularly: a rotation or a revocation is known after a minute at the latest. While the service does not
 * answer, the known keys stay in use.
 * @param service its origin, https unless it runs on this machine
 * @throws TypeError for a service that is no such URL; Error where it does not answer now
 */
export async function fetchServiceKeys(
  service: string,
  { onWarning = console.warn }: { readonly onWarning?: (sentence: string) => void } = {},
): Promise<ServiceKeys> {
  const url = keySetUrl(service)
  let keys = await fetchKeySet(url)
  let triedAt = Date.now()
  let fetching: Promise<void> | undefined

  async function fetchAgain(): Promise<void> {
    triedAt = Date.now()
    try {
      keys = await fetchKeySet(url)
    } catch (error) {
      onWarning(`The keys of ${url.origin} cannot be fetched, those that are known go on: ${reasonOf(error)}`)
    }
  }
  return {
    async find(keyId) {
      const age = Date.now() - triedAt
      if (age > FRESH_MS || (age > UNKNOWN_AGAIN_MS && !keys.has(keyId)))
        fetching ??= fetchAgain().finally(() => (fetching = undefined))
      await fetching
      return keys.get(keyId)
    },
  }
}

/**
 * The keys of a saved answer of `GET /.well-known/jwks.json`.
 * @throws TypeError for anything else
 */
export function serviceKeys(jwks: unknown): ServiceKeys {
  const keys = readKeySet(jwks)
  return { find: (keyId) => keys.get(keyId) }
}

function keySetUrl(service: string): URL {
  const url = new URL('/.well-known/jwks.json', service)
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isHere))
    throw new TypeError(`The service is ${service}: its keys come by https, or from this machine.`)
  return url
}

async function fetchKeySet(url: URL): Promise<ReadonlyMap<string, KeyObject>> {
  const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
  if (!response.ok) throw new Error(`${url.href} answered ${response.status}`)
  return readKeySet(await response.json())
}

function readKeySet(jwks: unknown): ReadonlyMap<string, KeyObject> {
  const listed = (jwks as { keys?: unknown } | null)?.keys
  if (!Array.isArray(listed)) throw new TypeError('This is no key set: it has no list "keys".')
  return new Map(
    (listed as readonly { keyId: string; algorithm: string; pem: string; revokedAt?: string }[])
      // The keyIds of people, whose keys sign approvals, have a colon: these keys must not pass for the service's. A revoked key may be in
      // other hands, and a release is always recent.
      .filter(
        ({ keyId, algorithm, revokedAt }) =>
          algorithm === 'ed25519' && !keyId.includes(':') && revokedAt === undefined,
      )
      .map(({ keyId, pem }) => [keyId, createPublicKey(pem)]),
  )
}

/** `fetch` puts its reason into `cause`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
