// Callers authenticate by a bearer key, compared by its SHA-256 in constant time with every key in effect (interface §5).
import { timingSafeEqual } from 'node:crypto'
import { callerKeys, type CallerKey } from '../core/callers/caller-keys.ts'
import type { Caller } from '../formats/people/caller.ts'
import { sha256 } from '../store/sha256.ts'
import type { AuthorityState } from '../core/callers/authority-state.ts'
import { lookalikeWarnings } from '../formats/people/names.ts'
import { namingOfApprover, namingOfCaller, otherHolder } from '../formats/people/persons.ts'

/** Takes the value of the Authorization header. Returns undefined where it is missing or malformed, or the key is unknown or expired. */
export type Authenticate = (authorization: string | undefined) => CallerKey | undefined

export interface Callers {
  /** The entries of SERVICE_API_KEYS. */
  readonly configured: readonly Caller[]
  readonly authenticate: Authenticate
  readonly inEffect: () => readonly CallerKey[]
  /** Whether a key that authenticated earlier is still in effect. */
  readonly isInEffect: (index: number) => boolean
  /** Configured entries that governance keeps out of effect or that share a step-up key with another name, and names that look like others. */
  readonly warnings: () => readonly string[]
  /** Applies a new state of governance to the keys. */
  readonly replace: (authority: Governed) => void
}

type Governed = Pick<AuthorityState, 'callerKeys' | 'approvers'>

/**
 * @param configured the entries of SERVICE_API_KEYS
 * @param authority the state of governance: callers' keys and approvers
 * @param options.source the variable or file that holds the configured entries
 */
export function openCallers(
  configured: readonly Caller[],
  authority: Governed,
  {
    source = 'SERVICE_API_KEYS',
    nowMs = Date.now,
  }: { source?: string | undefined; nowMs?: () => number } = {},
): Callers {
  let keys = callerKeys(configured, authority.callerKeys)
  let shared = sharedKeys(configured, authority)
  let known = knownKeys(keys.inEffect)
  let names = nameWarnings(keys)
  const isOver = ({ untilMs }: KnownKey) => untilMs <= nowMs()
  return {
    configured,
    authenticate(authorization) {
      const rawKey = /^Bearer +([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1]
      if (rawKey === undefined) return undefined
      const presented = sha256(rawKey)
      // All keys are compared, also after a match: the time taken reveals nothing about which key was nearest.
      let found: KnownKey | undefined
      for (const candidate of known.all) if (timingSafeEqual(candidate.keyHash, presented)) found = candidate
      return found === undefined || isOver(found) ? undefined : found.key
    },
    inEffect: () => known.all.filter((one) => !isOver(one)).map(({ key }) => key),
    isInEffect(index) {
      const one = known.byIndex.get(index)
      return one !== undefined && !isOver(one)
    },
    warnings: () => [
      ...keys.refused.map(({ index, why }) => `${source}[${index}] is refused: ${why}.`),
      ...shared.map(
        ({ index, holder }) =>
          `${source}[${index}] has the step-up key of ${holder}, another name: both count as one person. If they are two, one of them needs another key.`,
      ),
      ...names,
    ],
    replace(changed) {
      keys = callerKeys(configured, changed.callerKeys)
      shared = sharedKeys(configured, changed)
      known = knownKeys(keys.inEffect)
      names = nameWarnings(keys)
    },
  }
}

/** Entries whose step-up key belongs to an approver of another, unlinked name. A step-up key of another caller keeps an entry out of effect. */
function sharedKeys(configured: readonly Caller[], { approvers }: Governed) {
  const standing = [...configured.map(namingOfCaller), ...approvers.map(namingOfApprover)]
  return configured.flatMap((caller, index) => {
    const holder = otherHolder(standing, namingOfCaller(caller))
    return holder === undefined ? [] : [{ index, holder }]
  })
}

/** Bounds the warnings of `GET /ready`, which is read often: a key may have 64 principals. */
const NAMES_SHOWN_MAX = 10

function nameWarnings({ inEffect, unclear }: ReturnType<typeof callerKeys>): string[] {
  const all = [
    ...unclear.map(
      (sentence) => `${sentence} No caller may act under this name: issue the key again with another name.`,
    ),
    ...lookalikeWarnings(inEffect.flatMap(({ caller }) => [caller.callerId, ...caller.allowedPrincipalIds])),
  ]
  const more = all.length - NAMES_SHOWN_MAX
  if (more <= 0) return all
  return [...all.slice(0, NAMES_SHOWN_MAX), `Names with such a warning that are not shown: ${more}.`]
}

interface KnownKey {
  readonly key: CallerKey
  readonly keyHash: Buffer
  /** Milliseconds since 1970; Infinity: it does not expire. */
  readonly untilMs: number
}

function knownKeys(keys: readonly CallerKey[]) {
  const all = keys.map((key): KnownKey => {
    const { keyHash, expiresAt } = key.caller
    const untilMs = expiresAt === undefined ? Infinity : Date.parse(expiresAt)
    return { key, keyHash: Buffer.from(keyHash, 'hex'), untilMs }
  })
  return { all, byIndex: new Map(all.map((one) => [one.key.index, one])) }
}
