// The checks of an execution intent's transition (decisions §8) with the signature beside it, from their text alone.
import type { Json } from '../json/canonical.ts'
import { mayFollow } from '../intents/states.ts'
import { canonicalText, check, checkSigned, isMembers, members, string } from './evidence.ts'
import type { Check, Crypto } from './evidence.ts'
import { carriedSignature } from './signatures.ts'

/** in  evidence  `{transition, signature}`, or whatever was sent as that · out never throws, never empty */
export function checkIntentTransition(evidence: Json, given: Crypto): Check[] {
  const { transition, signature } = isMembers(evidence) ? evidence : {}
  return [
    checkSigned('transition signature', 'The signature of the transition is not valid', given, (crypto) => {
      const signed = isMembers(transition) ? canonicalText(transition) : undefined
      const carried = carriedSignature(signature)
      // Everything but records and receipts is always Ed25519 (decisions §4), whatever else is published.
      if (signed === undefined || carried.algorithm !== 'ed25519') return false
      return crypto.verifySignature('intent-transition', signed, carried)
    }),
    check('transition', 'The transition is not one that an intent can make', () => isLegal(transition)),
  ]
}

function isLegal(value: Json | undefined): boolean {
  const { from, to, by, resolution, trustRecordHash } = members(value)
  if (!mayFollow(from, to) || string(by) === '') return false
  // Only a human may say what nobody knows, and says which.
  const isClosed = (resolution === 'EXECUTED' || resolution === 'NOT_EXECUTED') && by !== 'service'
  // Finalizing by hand is from a stored record, which it names; an error may have left one.
  const isProven = typeof trustRecordHash === 'string' && /^[0-9a-f]{64}$/.test(trustRecordHash)
  return (
    (to === 'RESOLVED' ? isClosed : resolution === undefined) &&
    (to === 'FINALIZED' ? isProven : trustRecordHash === undefined || (to === 'ERRORED' && isProven))
  )
}
