// The checks of a Refusal Record (decisions §4 "Refusal Record", §9), from its text alone.
import type { Json } from '../json/canonical.ts'
import { checkRefusedApprovals } from './approvals.ts'
import { canonicalText, check, checkSigned, isMembers, list, members, string } from './evidence.ts'
import type { Check, Crypto, Members } from './evidence.ts'
import { carriedSignature } from './signatures.ts'

/** in  evidence  the parsed refusal record, or whatever was sent as one · out never throws, never empty */
export function checkRefusalRecord(evidence: Json, given: Crypto): Check[] {
  const refusal = isMembers(evidence) ? evidence : {}
  const { refusalRecordHash, signature, ...signedMembers } = refusal
  const signed = canonicalText(signedMembers)
  return [
    check('refusal hash', 'The refusal record hash does not match the canonical record', () => {
      return signed !== undefined && given.sha256Hex(signed) === refusalRecordHash
    }),
    checkSigned('refusal signature', 'The refusal record signature is not valid', given, (crypto) => {
      const carried = carriedSignature(signature)
      // Everything but records and receipts is always Ed25519 (decisions §4), whatever else is published.
      if (signed === undefined || carried.algorithm !== 'ed25519') return false
      return crypto.verifySignature('refusal-record', signed, carried)
    }),
    check('decision binding', 'The decision is not a refusal of this intent', () => boundToDecision(refusal)),
    checkRefusedApprovals(refusal, given),
  ]
}

/** A denial (403) is REJECTED too: it has mismatches besides, each of a signal as the decision was given it. */
function boundToDecision(refusal: Members): boolean {
  const decision = members(refusal['decision'])
  const signals = members(decision['signals'])
  return (
    decision['outcome'] === 'REJECTED' &&
    string(decision['intentId']) === members(refusal['evaluatedIntent'])['intentId'] &&
    list(refusal['mismatches'])
      .map(members)
      .every(({ signal, declared }) => {
        const given = Object.hasOwn(signals, string(signal)) ? signals[string(signal)] : null
        // A signal is no object and no list: comparing those, once for each mismatch, would take anybody's body as long as he likes.
        return typeof given !== 'object' || given === null ? given === declared : false
      })
  )
}
