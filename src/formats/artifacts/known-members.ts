// Members of evidence that no signature covers. Anybody can add such a member, and a reader may take it for verified content: a member that
// this verifier does not know cannot be checked, and a known member must look as the service writes it.
import type { Json } from '../json/canonical.ts'
import { itemsOf, type Check } from './evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import { instantMs } from './instant.ts'

/** A function gets a member and the other members of its object. */
type Shape = ((value: Json, beside: Members) => boolean) | ObjectShape | readonly [ObjectShape]

export interface ObjectShape {
  readonly known: Readonly<Record<string, Shape>>
  /** Whether a signature covers every other member. */
  readonly othersSigned: boolean
}

/** A signature covers the member, or another check reads all of it. */
export const checked = () => true
/** A note states that nothing signs the member. */
export const advice = () => true
export const text = (value: Json) => typeof value === 'string'
/** The service writes a cursor in base64url; any other text beside evidence could be read as part of it. */
const cursorOrNull = (value: Json) =>
  value === null || (typeof value === 'string' && /^[\w-]{1,200}$/.test(value))
export const count = (value: Json) => typeof value === 'number'
export const time = (value: Json) => typeof value === 'string' && !Number.isNaN(instantMs(value))

/** A list that no check reads. */
export const listOf = (shape: ObjectShape) => (value: Json) =>
  Array.isArray(value) &&
  (value as readonly Json[]).every((one) => isMembers(one) && unknownIn(one, shape).next().done === true)
/** An object that no check reads. The service may leave out any member except those that are `needed`. */
export const objectOf =
  (shape: ObjectShape, needed: readonly string[] = []) =>
  (value: Json) =>
    isMembers(value) &&
    needed.every((name) => Object.hasOwn(value, name)) &&
    unknownIn(value, shape).next().done === true
export const texts = (value: Json) => Array.isArray(value) && (value as readonly Json[]).every(text)

export const closed = (known: ObjectShape['known']): ObjectShape => ({ known, othersSigned: false })
export const signed = (known: ObjectShape['known']): ObjectShape => ({ known, othersSigned: true })
export const all = <Name extends string>(shape: Shape, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, shape])) as Record<Name, Shape>

export const SIGNATURE = closed({ ...all(checked, ['algorithm', 'keyId', 'value', 'batch']), signedAt: time })
const JWK = all(checked, ['kty', 'crv', 'x', 'y', 'pub', 'alg', 'kid', 'use'])
export const KEY = closed({
  ...JWK,
  ...all(checked, ['keyId', 'algorithm', 'pem', 'revokedAt']),
  jwk: closed(JWK),
  passkey: closed(all(checked, ['rpId', 'origins', 'backupEligible'])),
})

const PAGE = {
  next: cursorOrNull,
  completeUntil: time,
  verificationCount: count,
  receiptCount: count,
  publicKeys: listOf(KEY),
}

/** Lists of evidence in the pages of the service. */
const PAGE_LISTS = ['events', 'changes', 'confirmations', 'requests', 'refusals']

/** The first list of evidence in an object that is no kind of evidence. */
export function pageList(page: Members): string | undefined {
  return PAGE_LISTS.find((name) => Array.isArray(page[name]))
}

/** The check that every kind of evidence has. */
export function checkMembers(evidence: Members, shape: ObjectShape): Check {
  const unknown = [...unknownIn(evidence, shape)].toSorted()
  if (unknown.length === 0) return { name: 'members', problem: undefined }
  return { name: 'members', problem: `It cannot be checked: ${sentenceOn(unknown)}`, unknownMembers: unknown }
}

/** The sentence on members of a page that belong to no evidence in it; undefined: there are none. */
export function problemOfPage(page: Members, list: string): string | undefined {
  const unknown = [...unknownIn(page, closed({ ...PAGE, [list]: checked }))].toSorted()
  return unknown.length === 0 ? undefined : `This is a page of ${list}: ${sentenceOn(unknown)}`
}

/** A stranger's file may have any number of unknown members. */
const NAMED_MAX = 20

function sentenceOn(unknown: readonly string[]): string {
  const named = unknown.slice(0, NAMED_MAX).map((path) => JSON.stringify(path))
  const more = unknown.length > NAMED_MAX ? ` and ${unknown.length - NAMED_MAX} more` : ''
  return `no signature covers ${named.join(', ')}${more}, and this verifier does not know what is there. It was added, or takes a newer verifier.`
}

/** The paths of unknown members, such as `signature.approvedBy`. A value with a wrong type fails the check that reads it. */
function* unknownIn(value: Members, { known, othersSigned }: ObjectShape, prefix = ''): Generator<string> {
  for (const [name, member] of Object.entries(value)) {
    const [shape, path] = [Object.hasOwn(known, name) ? known[name] : undefined, prefix + name]
    if (shape === undefined) {
      if (!othersSigned) yield path
    } else if (typeof shape === 'function') {
      if (!shape(member, value)) yield path
    } else if ('known' in shape) {
      if (isMembers(member)) yield* unknownIn(member, shape, `${path}.`)
    } else {
      for (const [i, one] of itemsOf(member).entries())
        if (isMembers(one)) yield* unknownIn(one, shape[0], `${path}.${i}.`)
    }
  }
}
