// The transition by which an execution intent ended (decisions §8), stored as `{transition, signature}`.
import type { Json } from '../json/canonical.ts'
import { mayFollow } from '../schemas/intent-states.ts'
import { check, checkSigned, members, string, type Check, type Crypto } from './evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import { isSteppedUp, missingStepUpKeyOf, noteOnStepUp } from './step-up.ts'
import { enveloped, type ArtifactKind } from './kind.ts'
import { membersAt, joined, textAt } from './account-text.ts'

function isLegal(value: Json | undefined): boolean {
  const { from, to, by, resolution, trustRecordHash, confirmationId, agreedWith } = members(value)
  if (!mayFollow(from, to) || string(by) === '') return false
  // Only a human, a provider or the connector may state an outcome that the service does not know; `by` names the party.
  const isClosed = (resolution === 'EXECUTED' || resolution === 'NOT_EXECUTED') && by !== 'service'
  // Finalizing by hand names a stored record; an ERRORED intent may also have one.
  const isProven = typeof trustRecordHash === 'string' && /^[0-9a-f]{64}$/.test(trustRecordHash)
  const isConfirmed =
    confirmationId === undefined ||
    (to === 'RESOLVED' && string(by).startsWith('webhook:') && string(confirmationId) !== '')
  // Two different humans must agree.
  const isAgreed =
    agreedWith === undefined || (to === 'RESOLVED' && string(agreedWith) !== '' && agreedWith !== by)
  return (
    isConfirmed &&
    isAgreed &&
    (to === 'RESOLVED' ? isClosed : resolution === undefined) &&
    (to === 'FINALIZED' ? isProven : trustRecordHash === undefined || (to === 'ERRORED' && isProven))
  )
}

/** No checks when no human signed: a statement made with a caller's key is only reported by the service. */
function stepUpChecks(transition: Members, given: Crypto): Check[] {
  const { stepUpAuthorization, agreedStepUpAuthorization } = transition
  if (stepUpAuthorization === undefined && agreedStepUpAuthorization === undefined) return []
  const problem = 'A step-up authorization is not one of this resolution'
  return [
    checkSigned('step-up authorization', problem, given, (crypto) => {
      const { to, businessTransactionId, resolution, note, by, agreedWith, at } = transition
      const what = { action: 'resolve', businessTransactionId, resolution } as Members
      return (
        to === 'RESOLVED' &&
        (stepUpAuthorization === undefined ||
          isSteppedUp(
            { stepUp: stepUpAuthorization, by, at: string(at), due: { ...what, note } as Members },
            crypto,
          )) &&
        // The first human gave a reason of their own, so `note` is not compared.
        (agreedStepUpAuthorization === undefined ||
          (agreedWith !== undefined &&
            isSteppedUp(
              { stepUp: agreedStepUpAuthorization, by: agreedWith, at: undefined, due: what },
              crypto,
            )))
      )
    }),
  ]
}

export const intentTransition = {
  name: 'intent-transition',
  times: ['at'],
  logged: { kind: 'intent-transition', event: 'execution.closed' },
  stored: {
    table: 'intent_transitions',
    id: 'transitionId',
    at: 'at',
    columns: { transitionId: 'uuid', businessTransactionId: 'uuid', at: 'timestamptz' },
    envelope: 'transition',
    audited: ['intent.resolved', 'intent.finalized'],
  },
  evidence: {
    ...enveloped({
      artifact: 'intent-transition',
      member: 'transition',
      id: 'transitionId',
      problem: 'The signature of the transition is not valid',
      own: (transition, crypto) => [
        check('transition', 'The transition is not one that an intent can make', () => isLegal(transition)),
        ...stepUpChecks(isMembers(transition) ? transition : {}, crypto),
      ],
    }),
    notesOn({ transition }, crypto) {
      const { stepUpAuthorization, agreedStepUpAuthorization, by, agreedWith } = isMembers(transition)
        ? transition
        : {}
      return [
        ...noteOnStepUp(missingStepUpKeyOf({ stepUp: stepUpAuthorization, by }, crypto)),
        ...noteOnStepUp(missingStepUpKeyOf({ stepUp: agreedStepUpAuthorization, by: agreedWith }, crypto)),
      ]
    },
    title: 'Transition of an execution intent',
    plainTitle: 'End of an execution in doubt',
    account: (evidence) => {
      const transition = membersAt(evidence, 'transition')
      return {
        execution: textAt(transition, 'businessTransactionId'),
        closedAs: textAt(transition, 'resolution'),
        said: {
          Execution: textAt(transition, 'businessTransactionId'),
          'How it ended': joined(': ', textAt(transition, 'to'), textAt(transition, 'resolution')),
          Why: textAt(transition, 'note'),
          By: textAt(transition, 'by'),
          When: textAt(transition, 'at'),
        },
      }
    },
    notProven: [
      'That the effect happened or did not, as a resolution says: it is what a human found out and stated, or what a provider or the connector said.',
      'That the intent was in the state which it left, or that no other transition was made: each is signed on its own.',
      'That a record of the hash that it names exists: verify the record, and compare its trustRecordHash.',
    ],
  },
  feed: {
    types: ['execution.closed'],
    details: ({ businessTransactionId, to, resolution, confirmationId, by, at }, { id: transitionId }) => ({
      occurredAt: at!,
      businessTransactionId,
      transitionId,
      state: to,
      resolution,
      confirmationId,
      by,
    }),
  },
} as const satisfies ArtifactKind
