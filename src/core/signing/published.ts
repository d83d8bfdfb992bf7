// The keys that GET /keys/{keyId} and GET /.well-known/jwks.json return (interface §4.1), kept in step with their folder.
import { keyIds, readPublicKey, readPublicKeys, type PublicKey } from './keys.ts'
import { algorithms } from '../../formats/schemas/signature.ts'
import { withRevocation } from './revocation.ts'

/** Interface §2.7, exactly; only revoked keys have `revokedAt`. */
export type PublicKeyJson = Pick<PublicKey, 'keyId' | 'algorithm' | 'use' | 'pem' | 'jwk'> & {
  readonly revokedAt?: string
}

/** The same with the members of `jwk` added at the top level, so that a reader of RFC 7517 finds the key. */
export type KeySetEntry = PublicKeyJson & Readonly<Record<string, unknown>>

export interface PublishedKeys {
  /** A keyId is only looked up, never made into a path. */
  readonly get: (keyId: string) => PublicKey | undefined
  /**
   * The body of GET /.well-known/jwks.json: Ed25519 first, since some readers stop at an unknown key type; then by keyId.
   * Returns the same object while the keys are the same.
   */
  readonly jwks: () => { readonly keys: readonly KeySetEntry[] }
}

const RECHECK_MS = 1000

/**
 * The public keys of a folder. Another instance may add a key (rotation), and an operator may remove or revoke one, at any time, so a read
 * lists the folder again, at most once a second.
 * @param onError called for a file that cannot be read after the start: a new key is not published, and a known key stays as it was
 * @param nowMs any clock that does not go back
 * @throws at the start, as `readPublicKeys` does
 */
export function publishedKeys(
  dir: string,
  { onError, nowMs = () => performance.now() }: { onError: (error: unknown) => void; nowMs?: () => number },
): PublishedKeys {
  let keys: ReadonlyMap<string, PublicKey> = readPublicKeys(dir)
  let readAtMs = nowMs()
  let shown: { readonly of: typeof keys; readonly keySet: ReturnType<PublishedKeys['jwks']> } | undefined

  function reread(): ReadonlyMap<string, PublicKey> {
    const found = new Map<string, PublicKey>()
    for (const keyId of keyIds(dir, 'public')) {
      const known = keys.get(keyId)
      try {
        found.set(keyId, withRevocation(dir, known ?? readPublicKey(dir, keyId, algorithms)))
      } catch (error) {
        onError(error)
        if (known !== undefined) found.set(keyId, known)
      }
    }
    return found
  }

  function current(): ReadonlyMap<string, PublicKey> {
    if (nowMs() - readAtMs < RECHECK_MS) return keys
    readAtMs = nowMs()
    try {
      const found = reread()
      if (!haveSame(keys, found)) keys = found
    } catch (error) {
      onError(error)
    }
    return keys
  }

  return {
    get: (keyId) => current().get(keyId),
    jwks() {
      const now = current()
      if (now !== shown?.of)
        shown = { of: now, keySet: { keys: [...now.values()].toSorted(knownFirst).map(keySetEntry) } }
      return shown.keySet
    },
  }
}

function haveSame(one: ReadonlyMap<string, PublicKey>, other: ReadonlyMap<string, PublicKey>): boolean {
  return one.size === other.size && [...one].every(([keyId, key]) => other.get(keyId) === key)
}

export function publicKeyJson({ keyId, algorithm, use, pem, jwk, revokedAt }: PublicKey): PublicKeyJson {
  return { keyId, algorithm, use, pem, jwk, ...(revokedAt === undefined ? {} : { revokedAt }) }
}

function keySetEntry(key: PublicKey): KeySetEntry {
  return { ...publicKeyJson(key), ...key.jwk }
}

/** Keeps the order of the keyIds within an algorithm. */
function knownFirst(one: PublicKey, other: PublicKey): number {
  return algorithms.indexOf(one.algorithm) - algorithms.indexOf(other.algorithm)
}
