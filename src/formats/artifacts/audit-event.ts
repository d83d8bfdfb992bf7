// The check of an audit event with the signature beside it (decisions §9), from their text alone.
import type { Json } from '../json/canonical.ts'
import { canonicalText } from './evidence.ts'
import { isMembers } from '../json/members.ts'
import type { Check, Crypto } from './evidence.ts'
import { checkEd25519 } from './signatures.ts'

/**
 * Checks an audit event; never throws.
 * @param evidence `{event, signature}`, or any other JSON that was sent as one
 * @returns at least one check
 */
export function checkAuditEvent(evidence: Json, given: Crypto): Check[] {
  const { event, signature } = isMembers(evidence) ? evidence : {}
  return [
    checkEd25519('event signature', 'The audit event signature is not valid', given, {
      artifact: 'audit-event',
      text: isMembers(event) ? canonicalText(event) : undefined,
      signature,
    }),
  ]
}
