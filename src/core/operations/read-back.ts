// External connectors are asked about intents in doubt: workers/intents/read-back.ts. Each question has been waited for already, by the main
// thread.
import type { HttpOutcome } from '../outbound/call.ts'
import { COMPUTED, ONE, ownWork, STORED } from './operation.ts'

/** How many intents in doubt a registration is asked about now, at most. */
export interface AskConnector {
  readonly changeId: string
  readonly countMax: number
}

/** A question about an intent in doubt, and what is needed to read the answer. */
export interface Question {
  readonly businessTransactionId: string
  readonly authorizationId: string
  readonly capability: string
  readonly changeId: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  /** Whether the connector can take the release no more, if it has not yet. */
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
  /** Completes "the connector …", where it is unknown. */
  readonly problem?: string
}

export const readBackOutcomes = ['executed', 'not_executed', 'closed', 'contradicted', 'unknown'] as const
/** The results of an answer; closed: somebody else closed the intent meanwhile, and the answer agrees. */
export type ReadBackOutcome = (typeof readBackOutcomes)[number]

/** Empty where the registration is in effect no more. */
export const askConnector = ownWork<AskConnector, Question[]>({ lane: 'background', ...COMPUTED, ...ONE })

export const concludeReadBack = ownWork<AnsweredQuestion, ReadBackReport>({
  lane: 'background',
  ...STORED,
  ...ONE,
})
