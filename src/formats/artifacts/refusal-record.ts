// The checks of a Refusal Record (decisions §4 "Refusal Record", §9), from its text alone.
import type { Json } from '../json/canonical.ts'
import { checkRefusedApprovals, notesOnApprovals } from './approvals.ts'
import { canonicalText, check, list, members, string, type Check, type Crypto } from './evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import { checkEd25519 } from './signatures.ts'
import { executionStreams } from './execution-streams.ts'
import type { ArtifactKind } from './kind.ts'
import * as shape from './known-members.ts'
import {
  actionOf,
  membersAt,
  joined,
  ofIntent,
  policyText,
  textAt,
  type AccountText,
} from './account-text.ts'

/**
 * Checks a refusal record; never throws.
 * @param evidence the parsed refusal record, or any other JSON that was sent as one
 * @returns at least one check
 */
export function checkRefusalRecord(evidence: Json, given: Crypto): Check[] {
  const refusal = isMembers(evidence) ? evidence : {}
  const { refusalRecordHash, signature, ...signedMembers } = refusal
  const signed = canonicalText(signedMembers)
  return [
    check('refusal hash', 'The refusal record hash does not match the canonical record', () => {
      return signed !== undefined && given.sha256Hex(signed) === refusalRecordHash
    }),
    checkEd25519('refusal signature', 'The refusal record signature is not valid', given, {
      artifact: 'refusal-record',
      text: signed,
      signature,
    }),
    check('decision binding', 'The decision is not a refusal of this intent', () => boundToDecision(refusal)),
    checkRefusedApprovals(refusal, given),
  ]
}

/** A denial (403) is REJECTED too: it also has mismatches, each of a signal with its value in the decision. */
function boundToDecision(refusal: Members): boolean {
  const decision = members(refusal['decision'])
  const signals = members(decision['signals'])
  return (
    decision['outcome'] === 'REJECTED' &&
    string(decision['intentId']) === members(refusal['evaluatedIntent'])['intentId'] &&
    [undefined, true].includes(refusal['approvable'] as undefined | true) &&
    list(refusal['mismatches'])
      .map(members)
      .every(({ signal, declared }) => {
        const given = Object.hasOwn(signals, string(signal)) ? signals[string(signal)] : null
        // A signal is no object and no list: comparing these for each mismatch would let any body take unlimited time.
        return typeof given !== 'object' || given === null ? given === declared : false
      })
  )
}

function ofRefusal(refusal: Members): AccountText {
  const decision = membersAt(refusal, 'decision')
  const intent = membersAt(refusal, 'evaluatedIntent')
  const ending = refusal['approvable'] === true ? 'Refused until humans approve' : 'Refused'
  return {
    execution: textAt(refusal, 'businessTransactionId'),
    action: actionOf(intent, { ending, at: textAt(refusal, 'createdAt') }),
    said: {
      ...ofIntent(intent),
      'Asked by': textAt(refusal, 'submittedBy'),
      'Under policy': policyText(membersAt(decision, 'policy')),
      'What was done': joined(': ', 'Refused', textAt(decision, 'reason')),
      When: textAt(refusal, 'createdAt'),
    },
  }
}

export const refusalRecord = {
  name: 'refusal-record',
  times: ['createdAt'],
  logged: {
    kind: 'refusal',
    event: 'execution.refused',
    counted(_, of) {
      const { capability, ...streams } = executionStreams(of)
      return { streams, named: { capability } }
    },
  },
  stored: {
    table: 'refusal_records',
    id: 'businessTransactionId',
    at: 'createdAt',
    owner: { column: 'caller_id' },
    joined: true,
  },
  evidence: {
    marks: ['refusalRecordId'],
    idOf: ({ refusalRecordId }) => refusalRecordId,
    check: checkRefusalRecord,
    notesOn: ({ decision }) => notesOnApprovals([decision]),
    members: shape.signed({ signature: shape.SIGNATURE }),
    title: 'Refusal Record',
    plainTitle: 'Refused action',
    account: ofRefusal,
    notProven: [
      'That the policy was a good one, or that it was right to refuse.',
      'That the same was not executed under another businessTransactionId.',
      'That the verified values were right: the refusal holds what the service saw.',
    ],
  },
  feed: {
    types: ['execution.refused'],
    details: ({ createdAt, refusalRecordHash }, { id: businessTransactionId, callerId }) => ({
      occurredAt: createdAt!,
      businessTransactionId,
      callerId,
      refusalRecordHash,
    }),
  },
} as const satisfies ArtifactKind
