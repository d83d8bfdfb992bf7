// The bodies of the routes of approval requests.
import { Type } from 'typebox'
import { NOTE_MAX } from './approval-request.ts'
import { AnyKey, SubmittedTransaction } from './business-transaction.ts'
import { Reason } from './governance.ts'
import { closed, Uuid } from './primitives.ts'

export const EXPIRES_IN_SECONDS_DEFAULT = 3_600
const [EXPIRES_IN_SECONDS_MIN, EXPIRES_IN_SECONDS_MAX] = [60, 86_400]

const members = {
  fromRefusal: Type.Optional(
    Type.String({
      ...Uuid,
      description:
        'a UUID, version 1 to 5: the businessTransactionId of an execution of yours that lacked approvals',
    }),
  ),
  note: Type.Optional(
    Type.String({ maxLength: NOTE_MAX, description: `a text of at most ${NOTE_MAX} characters` }),
  ),
  expiresInSeconds: Type.Optional(
    Type.Integer({
      minimum: EXPIRES_IN_SECONDS_MIN,
      maximum: EXPIRES_IN_SECONDS_MAX,
      default: EXPIRES_IN_SECONDS_DEFAULT,
      description: `a whole number from ${EXPIRES_IN_SECONDS_MIN} to ${EXPIRES_IN_SECONDS_MAX}`,
    }),
  ),
}

/** Has either `transaction` or `fromRefusal`. */
export const ApprovalRequestBody = closed({
  transaction: Type.Optional(SubmittedTransaction),
  ...members,
})

/** The body as it is read: mistakes in the transaction are reported as in POST /execute. */
export const ApprovalRequestRead = closed({
  transaction: Type.Optional(Type.Record(AnyKey, Type.Unknown(), { description: 'an object' })),
  ...members,
})

export const ApprovalRequestDecline = closed({ reason: Reason })

export const ApprovalRequestNoteBody = closed({
  text: Type.String({
    pattern: '\\S',
    maxLength: NOTE_MAX,
    description: `a text of 1 to ${NOTE_MAX} characters`,
  }),
})
