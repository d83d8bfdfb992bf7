// Consequences of a provider's or a connector's statement about an execution. Pure: its callers read and lock the rows.
import type { Resolution } from '../../src/formats/schemas/intent-states.ts'
import type { Said } from '../../src/formats/schemas/provider-confirmation.ts'
import type { ExecutionIntent } from '../../src/store/tables/execution-intents.ts'

export interface Word {
  readonly says: Said
  readonly comparisons: readonly { readonly expression: string; readonly holds: boolean }[]
}

interface Standing {
  /** Null: nothing was released. */
  readonly intent: Pick<ExecutionIntent, 'state' | 'inDoubt' | 'resolution'> | null
  /** The end that a stored record proves although the intent is still open. */
  readonly provenEnd?: 'FINALIZED' | 'ERRORED' | undefined
}

export type Conclusion =
  /** The connector has not answered, and its deadline has not passed: its answer goes first. */
  | { readonly outcome: 'waits'; readonly detail: string }
  | {
      readonly outcome: 'pending' | 'confirmed' | 'contradicted'
      /** How the intent in doubt ends; left out: it is left as it is. */
      readonly closes?: Resolution
      readonly detail: string
    }

const RESOLUTIONS = { executed: 'EXECUTED', not_executed: 'NOT_EXECUTED' } as const

/** Decides. A statement that differs in a value that a rule compares closes nothing: it may be about something else. */
export function conclude(
  { says, comparisons }: Word,
  { intent, provenEnd }: Standing,
  who: 'provider' | 'connector' = 'provider',
): Conclusion {
  const isOpen = intent?.state === 'RELEASED' && !intent.inDoubt && provenEnd === undefined
  if (isOpen && says !== 'pending')
    return { outcome: 'waits', detail: 'It waits until the connector has answered, or its time is over.' }
  const differs = comparisons.find(({ holds }) => !holds)
  if (differs !== undefined)
    return {
      outcome: 'contradicted',
      detail: `The ${who} says ${says}, and this does not hold: ${differs.expression}`,
    }
  if (intent === null || intent.state === 'PREPARED')
    return says === 'not_executed'
      ? { outcome: 'confirmed', detail: `Nothing was released, and the ${who} says not_executed.` }
      : {
          outcome: 'contradicted',
          detail: `The ${who} says ${says}, and this service has released nothing.`,
        }
  if (says === 'pending') return { outcome: 'pending', detail: `The ${who} has not decided.` }
  const state = provenEnd ?? intent.state
  if (state === 'RELEASED') {
    const closes = RESOLUTIONS[says]
    return {
      outcome: 'confirmed',
      closes,
      detail: `The execution intent was in doubt and is closed as ${closes}.`,
    }
  }
  const ended = state === 'RESOLVED' ? `RESOLVED as ${intent.resolution}` : state
  const wasExecuted = state === 'RESOLVED' ? intent.resolution === 'EXECUTED' : state === 'FINALIZED'
  const agrees = (says === 'executed') === wasExecuted
  return {
    outcome: agrees ? 'confirmed' : 'contradicted',
    detail: `The ${who} says ${says}, and the execution intent is ${ended}${
      provenEnd === undefined ? '' : ' by a stored record: finalize it'
    }.`,
  }
}
