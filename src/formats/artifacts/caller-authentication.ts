// The check of how a caller was authenticated, and its description. A caller with an API key has no such member, and no such check.
import type { Json } from '../json/canonical.ts'
import { isMembers, type Members } from '../json/members.ts'
import { isTrustDomain, namesOf } from '../people/caller-authentication.ts'
import { joined, membersAt, textAt } from './account-text.ts'
import { check, members, string, type Check } from './evidence.ts'

/**
 * The token cannot be checked from its hash. The check is that only one issuer can have named this caller.
 * @param authorization authorization of a record, of any shape
 * @returns no check when it does not state how the caller was authenticated
 */
export function checkCallerAuthentication(authorization: Json | undefined): Check[] {
  const payload = isMembers(authorization) ? authorization['payload'] : undefined
  if (!isMembers(payload) || !Object.hasOwn(payload, 'callerAuthentication')) return []
  const { callerId, callerAuthentication } = payload
  return [
    check('caller authentication', 'The caller is not one that its authentication can name', () =>
      canName(members(callerAuthentication), string(callerId)),
    ),
  ]
}

function canName(authentication: Members, callerId: string): boolean {
  const { method, keyThumbprint, actor = 'left out' } = authentication
  const issuer = string(authentication['issuer'])
  const subject = string(authentication['subject'])
  const isNamed =
    method === 'jwt-svid'
      ? isTrustDomain(issuer) && callerId === subject
      : (method === 'access-token' || method === 'dpop') && !isTrustDomain(issuer) && !issuer.includes('#')
  const isBound = typeof keyThumbprint === 'string' && /^[\w-]{43}$/.test(keyThumbprint)
  return (
    isNamed &&
    issuer !== '' &&
    subject !== '' &&
    string(actor) !== '' &&
    callerId.length > namesOf({ issuer }).length &&
    callerId.startsWith(namesOf({ issuer })) &&
    /^[0-9a-f]{64}$/.test(string(authentication['tokenHash'])) &&
    (method === 'dpop' ? isBound : keyThumbprint === undefined)
  )
}

const KINDS: ReadonlyMap<string, string> = new Map([
  ['access-token', 'access token'],
  ['dpop', 'access token that is bound to a key'],
  ['jwt-svid', 'JWT-SVID'],
])

/** @param authorization authorization of a record. @returns `access token of <issuer> for <subject>, used by <actor>`; '' if not stated */
export function authenticationText(authorization: Members): string {
  const said = membersAt(membersAt(authorization, 'payload'), 'callerAuthentication')
  const [method, issuer] = [textAt(said, 'method'), textAt(said, 'issuer')]
  if (method === '') return ''
  const actor = textAt(said, 'actor')
  const token = `${KINDS.get(method) ?? method} of ${issuer} for ${textAt(said, 'subject')}`
  return joined(', ', token, actor && `used by ${actor}`)
}
