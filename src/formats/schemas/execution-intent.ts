// Execution intents and the signed transitions that close them (decisions §8).
import { Type } from 'typebox'
import { ResolutionStepUp } from './governance.ts'
import { intentStates, resolutions } from './intent-states.ts'
import { closed, Instant, NonEmptyText, Sha256, Uuid } from './primitives.ts'
import { Signature } from './signature.ts'
import { ExecutionAuthorization } from './trust-record.ts'

const IntentState = Type.Enum([...intentStates])

const Resolution = Type.Enum([...resolutions], {
  description: 'EXECUTED or NOT_EXECUTED, as a human, a provider or the connector said',
})

const signedByThem = (who: string) =>
  Type.Optional({ ...ResolutionStepUp, description: `the signature of ${who}, where there is one` })

export const IntentTransition = Type.Object({
  transitionId: Uuid,
  businessTransactionId: Uuid,
  from: IntentState,
  to: IntentState,
  resolution: Type.Optional(Resolution),
  note: Type.Optional(NonEmptyText),
  by: Type.String({
    pattern: '\\S',
    description: 'the callerId of the human, `webhook:<provider>`, `connector:<capability>`, or `service`',
  }),
  confirmationId: Type.Optional(Uuid),
  agreedWith: Type.Optional(
    Type.String({
      pattern: '\\S',
      description: 'the callerId of the first human, who stated the same outcome',
    }),
  ),
  stepUpAuthorization: signedByThem('the human'),
  agreedStepUpAuthorization: signedByThem('the first human'),
  at: Instant,
  trustRecordHash: Type.Optional(Sha256),
})

export const IntentTransitionWithSignature = Type.Object({
  transition: IntentTransition,
  signature: Signature,
})

export const ExecutionIntent = Type.Object({
  businessTransactionId: Uuid,
  state: IntentState,
  inDoubt: Type.Boolean({
    description: 'RELEASED after its deadline: whether the effect happened is not known',
  }),
  callerId: NonEmptyText,
  action: NonEmptyText,
  target: NonEmptyText,
  releasedAt: Instant,
  deadline: Instant,
  closedAt: Type.Optional(Instant),
  resolution: Type.Optional(Resolution),
  firstWord: Type.Optional(
    Type.Object(
      {
        resolution: Resolution,
        note: NonEmptyText,
        by: NonEmptyText,
        at: Instant,
        stepUpAuthorization: signedByThem('this human'),
      },
      {
        description:
          'the outcome that a human stated; a second human must state the same to close the intent',
      },
    ),
  ),
  authorization: ExecutionAuthorization,
  transitions: Type.Array(IntentTransitionWithSignature),
})
export type ExecutionIntent = Type.Static<typeof ExecutionIntent>

export const ExecutionIntentPage = Type.Object({ intents: Type.Array(ExecutionIntent) })

const resolution = {
  resolution: Type.Enum([...resolutions], { description: 'EXECUTED or NOT_EXECUTED, as a human found out' }),
  note: Type.String({
    minLength: 1,
    maxLength: 1_000,
    pattern: '\\S',
    description: 'a text of 1 to 1000 characters that says how you know',
  }),
}

export const IntentResolution = closed({
  ...resolution,
  stepUpAuthorization: Type.Optional(ResolutionStepUp),
})

/** As it is read: a malformed step-up is a failed step-up, not a mistake of the body. */
export const IntentResolutionRead = closed({
  ...resolution,
  stepUpAuthorization: Type.Optional(Type.Unknown()),
})

export const NoMembers = closed({})
