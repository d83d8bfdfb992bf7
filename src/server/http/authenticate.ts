// Who calls: a bearer key, compared by its SHA-256 in constant time with every configured one (interface §5).
import { hash, timingSafeEqual } from 'node:crypto'
import type { Caller } from '../../core/callers.ts'

interface AuthenticatedCaller {
  readonly caller: Caller
  /** Position in the configured list, which is how worker threads know the caller. */
  readonly index: number
}

/** Takes the value of the Authorization header. Returns undefined where it is missing or malformed, or the key is unknown. */
export type Authenticate = (authorization: string | undefined) => AuthenticatedCaller | undefined

export function openAuthentication(callers: readonly Caller[]): Authenticate {
  const known = callers.map((caller, index) => ({
    caller,
    index,
    keyHash: Buffer.from(caller.keyHash, 'hex'),
  }))
  return (authorization) => {
    const rawKey = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1]
    if (rawKey === undefined) return undefined
    const presented = hash('sha256', rawKey, 'buffer')
    // All of them, also after a match: the time taken tells nothing about which key was nearest.
    let found: AuthenticatedCaller | undefined
    for (const candidate of known) if (timingSafeEqual(candidate.keyHash, presented)) found = candidate
    return found
  }
}
