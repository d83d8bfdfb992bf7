// The check of an audit event with the signature beside it (decisions §9), from their text alone.
import type { Json } from '../json/canonical.ts'
import { canonicalText, checkSigned, isMembers } from './evidence.ts'
import type { Check, Crypto } from './evidence.ts'
import { carriedSignature } from './signatures.ts'

/** in  evidence  `{event, signature}`, or whatever was sent as that · out never throws, never empty */
export function checkAuditEvent(evidence: Json, given: Crypto): Check[] {
  const { event, signature } = isMembers(evidence) ? evidence : {}
  return [
    checkSigned('event signature', 'The audit event signature is not valid', given, (crypto) => {
      const signed = isMembers(event) ? canonicalText(event) : undefined
      const carried = carriedSignature(signature)
      // Everything but records and receipts is always Ed25519 (decisions §4), whatever else is published.
      if (signed === undefined || carried.algorithm !== 'ed25519') return false
      return crypto.verifySignature('audit-event', signed, carried)
    }),
  ]
}
