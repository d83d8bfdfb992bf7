// Asks external connectors about intents in doubt: workers/intents/read-back.ts. The main thread has already waited for the answer to each
// question.
import type { HttpOutcome } from '../outbound/call.ts'
import { COMPUTED, ONE, ownWork, STORED } from './operation.ts'

/** The maximum number of intents in doubt that a registration is asked about now. */
export interface AskConnector {
  readonly changeId: string
  readonly countMax: number
}

/** A question about an intent in doubt, with the data needed to read the answer. */
export interface Question {
  readonly businessTransactionId: string
  readonly authorizationId: string
  readonly capability: string
  readonly changeId: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Whether the connector can no longer accept the release, if it has not accepted it yet. */
  readonly isOver: boolean
}

/** A question that was asked, and the answer, whose body is base64. */
export interface AnsweredQuestion {
  readonly question: Question
  readonly exchange:
    | Exclude<HttpOutcome, { kind: 'answered' }>
    | {
        readonly kind: 'answered'
        readonly status: number
        readonly encoding: string | undefined
        readonly body: string
      }
}

export interface ReadBackReport {
  readonly outcome: ReadBackOutcome
  /** Completes "the connector …" when the outcome is unknown. */
  readonly problem?: string
}

export const readBackOutcomes = ['executed', 'not_executed', 'closed', 'contradicted', 'unknown'] as const
/** The results of an answer; closed: somebody else has closed the intent meanwhile, and the answer agrees. */
export type ReadBackOutcome = (typeof readBackOutcomes)[number]

/** Returns no questions when the registration is no longer in effect. */
export const askConnector = ownWork<AskConnector, Question[]>({ lane: 'background', ...COMPUTED, ...ONE })

export const concludeReadBack = ownWork<AnsweredQuestion, ReadBackReport>({
  lane: 'background',
  ...STORED,
  ...ONE,
})
