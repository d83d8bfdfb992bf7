// The code that an approver compares with the requester over another channel: both compute it from the content that they see.
// Browser-safe: hashing is an argument.
import { canonicalize, type Json } from '../json/canonical.ts'

/** The content of the code: the requester knows all of it before the service answers. */
interface CodedAction {
  readonly capability: string
  readonly target: string
  readonly parameters: object
  readonly policy: { readonly name: string; readonly version: string }
  readonly principalId: string
  readonly requestedBy: string
}

/** Crockford's base32: no I, L, O or U, which are misread and misheard. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * The action code of a request: the first 60 bits of SHA-256 of the canonical text of these members. Finding another action with the same code
 * takes 2^60 attempts. A requester who chooses both actions finds two with the same code in about 2^30, which is little: the code shows that
 * two people look at the same request, and does not replace reading it.
 * @param sha256Hex hashes the UTF-8 bytes of a text
 * @returns three groups of four of Crockford's base32, such as `7H2K-Q4ZM-9TRW`
 * @throws NotCanonical when the parameters have no canonical form
 */
export function actionCode(action: CodedAction, sha256Hex: (text: string) => string): string {
  return codeOfHash(sha256Hex(actionText(action)))
}

/** Writes the text whose hash is the code. All other members are left out, also those of `policy`. */
export function actionText(action: CodedAction): string {
  const { capability, target, parameters, policy, principalId, requestedBy } = action
  return canonicalize({
    capability,
    target,
    parameters: parameters as Json,
    policy: { name: policy.name, version: policy.version },
    principalId,
    requestedBy,
  })
}

const SPOKEN = /^([0-9A-HJKMNP-TV-Z]{4})[ -]?([0-9A-HJKMNP-TV-Z]{4})[ -]?([0-9A-HJKMNP-TV-Z]{4})$/i

/** @returns the code in a text that somebody typed from hearing: with spaces, hyphens or neither, in any case; undefined: it is no code */
export function actionCodeIn(text: string): string | undefined {
  const [, ...groups] = SPOKEN.exec(text.trim()) ?? []
  return groups.length === 0 ? undefined : groups.join('-').toUpperCase()
}

/** @param hash SHA-256 of `actionText`, in hex */
export function codeOfHash(hash: string): string {
  const bits = BigInt(`0x${hash.slice(0, 15)}`)
  const characters = Array.from(
    { length: 12 },
    (_, i) => ALPHABET[Number((bits >> BigInt(55 - 5 * i)) & 31n)] ?? '',
  ).join('')
  return [0, 4, 8].map((start) => characters.slice(start, start + 4)).join('-')
}
