// The callers whose keys are in effect, as the stages of an operation need them.
import { callerKeys, type VerifiedToken } from '../src/core/callers/caller-keys.ts'
import { readableOwner, type Caller } from '../src/formats/people/caller.ts'
import type { ScopedCaller } from './in-flight.ts'
import type { Boot } from '../src/core/threads/thread-messages.ts'

export const ANONYMOUS: ScopedCaller = { callerId: 'anonymous', reads: null, scope: 'unchecked' }
/** Stands for a caller whose key was revoked while its request waited. The request is answered 401; if a handler saw it, it could do nothing. */
export const REVOKED: ScopedCaller = {
  callerId: 'revoked',
  reads: '',
  scope: { principalIds: new Set(), capabilities: new Set() },
}

/** The callers by `CallerKey.index`. */
export function scopedCallers(
  { callers }: Pick<Boot, 'callers'>,
  authority: Boot['authority'],
): ReadonlyMap<number, ScopedCaller> {
  const { inEffect } = callerKeys(callers, authority.callerKeys)
  return new Map(inEffect.map(({ caller, index }) => [index, scopedCaller(caller)]))
}

/** @returns a function that makes the caller of each token of a batch once: the requests of one caller have the same object, also on this side */
export function callersOfTokens(): (token: VerifiedToken) => ScopedCaller | undefined {
  const made = new Map<VerifiedToken, ScopedCaller | undefined>()
  return (token) => {
    if (!made.has(token)) made.set(token, callerOfToken(token))
    return made.get(token)
  }
}

/** A caller by token reads its own records alone. @returns undefined once the token has expired */
export function callerOfToken(token: VerifiedToken, nowMs = Date.now()): ScopedCaller | undefined {
  const { callerId, principalIds, capabilities, authentication, untilMs } = token
  if (untilMs <= nowMs) return undefined
  return {
    callerId,
    reads: callerId,
    authentication,
    scope: {
      principalIds: new Set(principalIds),
      capabilities: capabilities === 'all' ? 'all' : new Set(capabilities),
    },
  }
}

function scopedCaller(caller: Caller): ScopedCaller {
  return {
    callerId: caller.callerId,
    reads: readableOwner(caller),
    stepUpPublicKey: caller.stepUpPublicKey,
    stepUpPasskey: caller.stepUpPasskey,
    approverId: caller.approverId,
    scope: {
      principalIds: new Set(caller.allowedPrincipalIds),
      capabilities: caller.unrestrictedCapabilities ? 'all' : new Set(caller.allowedCapabilities),
    },
  }
}
