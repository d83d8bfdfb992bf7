// Determines the keys in effect: keys of the configuration, and keys that governance has issued and not revoked.
import { clashesOf, keyIdOf, type Caller } from '../../formats/people/caller.ts'
import { isClearName, unclearNames } from '../../formats/people/names.ts'
import type { CallerAuthentication } from '../../formats/schemas/caller-authentication.ts'
import type { StoredCallerKey } from '../../store/tables/caller-keys.ts'

/** The `index` of a caller by token: the scope is in the token, and each request passes it to the threads. */
export const BY_TOKEN = -2

/** A key that is in effect, or a token that was verified. */
export interface CallerKey {
  readonly caller: Caller
  /** Identifies the key in this instance's threads: its place in the configuration, behind those its number in the table, or BY_TOKEN. */
  readonly index: number
  /** Set for a caller by token. */
  readonly token?: VerifiedToken
}

/** The members of a caller by token that the threads need. Plain data, because it is sent to them. */
export interface VerifiedToken {
  readonly callerId: string
  readonly principalIds: readonly string[]
  readonly capabilities: 'all' | readonly string[]
  /** As stated in the authorization of each of its executions. */
  readonly authentication: CallerAuthentication
  /** Milliseconds since 1970. The token is refused from then on. */
  readonly untilMs: number
}

/** An entry of the configuration that is not in effect. */
interface RefusedEntry {
  /** Its place in the configuration. */
  readonly index: number
  readonly caller: Caller
  /** Completes "it is refused: …". */
  readonly why: string
}

interface CallerKeys {
  readonly inEffect: readonly CallerKey[]
  readonly refused: readonly RefusedEntry[]
  /** Names of principals that an earlier release issued and that no caller may act for any longer, each as a sentence. */
  readonly unclear: readonly string[]
}

/**
 * A decision of governance on a key also applies to a configured key: a person who can write the configuration must not undo a decision
 * of two humans. Expired keys are included: they expire without a change.
 * @param configured the entries of SERVICE_API_KEYS, or of the embedded service's file
 * @param stored as `callerKeysInEffect` picks them
 */
export function callerKeys(configured: readonly Caller[], stored: readonly StoredCallerKey[]): CallerKeys {
  const known = new Map(stored.map((key) => [key.keyHash, key]))
  const issued = stored.flatMap(({ number, caller, isRevoked }) =>
    caller === undefined || isRevoked ? [] : [{ caller, index: configured.length + number }],
  )
  const refused: RefusedEntry[] = []
  const entries: CallerKey[] = []
  for (const [index, caller] of configured.entries()) {
    const why = whyRefused(caller, known.get(caller.keyHash), issued)
    if (why === undefined) entries.push({ caller, index })
    else refused.push({ index, caller, why })
  }
  return {
    inEffect: [...entries, ...issued.map(withClearNames)],
    refused,
    unclear: issued.flatMap(({ caller: { callerId, keyHash, allowedPrincipalIds } }) =>
      unclearNames(allowedPrincipalIds, `${callerId}:${keyIdOf(keyHash)} allowedPrincipalIds`),
    ),
  }
}

/** An earlier release issued keys for principals such as `u.boss ` with its space, who are no known persons: no caller may act for them. */
function withClearNames({ caller, index }: CallerKey): CallerKey {
  const allowedPrincipalIds = caller.allowedPrincipalIds.filter(isClearName)
  return { caller: { ...caller, allowedPrincipalIds }, index }
}

function whyRefused(
  caller: Caller,
  stored: StoredCallerKey | undefined,
  issued: readonly CallerKey[],
): string | undefined {
  if (stored?.isRevoked === true) return 'governance has revoked its key'
  if (stored !== undefined) return 'governance has issued its key, and its scope is the one that counts'
  for (const other of issued) {
    const [clash] = clashesOf(caller, other.caller)
    if (clash === 'callerId') return 'its callerId differs only in case from one that governance has issued'
    if (clash !== undefined) return `its ${clash} is that of another caller, whose key governance has issued`
  }
  return undefined
}
