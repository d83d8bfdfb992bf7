// Decides which executions a velocity limit counts together (decisions §6 `history`): those of one caller, one target or one value of a
// parameter (`per`), and only those that met a condition at their release (`where`). An execution is put into its groups when it is
// released, so that a limit finds its executions by one hash, however many others there were.
import { compileExpression, type Inspection } from '../cel/expression.ts'
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import type { SignalVerifier } from '../../formats/schemas/policy.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { memberAt } from '../../formats/json/fields.ts'
import { factsOf, whereEnvironment, whereVocabulary, type Source } from './facts.ts'

type History = Extract<SignalVerifier, { by: 'history' }>

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/** @param window a whole number and m, h or d, as the policy's schema requires */
export function windowMs(window: string): number {
  return Number(window.slice(0, -1)) * (UNIT_MS[window.slice(-1)] ?? Number.NaN)
}

/** An execution with the members that limits group by. */
export interface Countable {
  readonly callerId: string
  /** The name of its policy. */
  readonly name: string
  readonly intent: Members & { readonly target: string; readonly parameters: Members }
  readonly authority: Members
  readonly metadata: Members
}

type Members = Readonly<Record<string, unknown>>

/** The members of an execution that the velocity limits of its policy group by. */
export function countable({
  request,
  transaction: { intent, authority, metadata, policy },
}: {
  readonly request: { readonly caller: { readonly callerId: string } }
  readonly transaction: Omit<Countable, 'callerId' | 'name'> & { readonly policy: { readonly name: string } }
}): Countable {
  return { callerId: request.caller.callerId, name: policy.name, intent, authority, metadata }
}

export interface Grouping {
  /** Limits with the same text put every execution into the same group. */
  readonly text: string
  /** SHA-256 of the group that an execution asks about, 64 hex characters. A missing parameter is a value of its own. */
  readonly groupOf: (execution: Countable) => string
  /** Whether an execution that is released at `now` is put into its group. If the condition cannot be evaluated, the execution is. */
  readonly counts: (execution: Countable, now: Date) => boolean
}

/**
 * Compiles `per` and `where` of a limit.
 * @returns no grouping for a limit on all of the caller's executions, and when there are mistakes; `inspection` is that of `where`
 */
export function compileGrouping({ per, where }: History): {
  readonly grouping?: Grouping
  readonly inspection?: Inspection<Source>
} {
  if (per === undefined && where === undefined) return {}
  const places = (per ?? ['caller']).toSorted()
  const text = canonicalize({ per: places, ...(where === undefined ? {} : { where }) })
  const groupOf = (execution: Countable) =>
    sha256Hex(canonicalize([execution.name, text, places.map((place) => valueAt(execution, place))]))
  if (where === undefined) return { grouping: { text, groupOf, counts: () => true } }

  const { expression, ...inspection } = compileExpression(where, {
    environment: whereEnvironment,
    vocabulary: whereVocabulary,
    types: ['bool'],
  })
  if (expression === undefined) return { inspection }
  const reads = new Map(
    [...inspection.reads].map(([source, paths]) => [source, new Set(paths.map(([member = '']) => member))]),
  )
  const counts: Grouping['counts'] = (execution, now) => {
    try {
      return expression.evaluate(factsOf({ ...execution, signals: {} }, reads, now)) !== false
    } catch {
      return true
    }
  }
  return { inspection, grouping: { text, groupOf, counts } }
}

/** The groups that an execution is put into at its release at `now`, each once. */
export function groupsOf(groupings: readonly Grouping[], execution: Countable, now: Date): string[] {
  return groupings.filter(({ counts }) => counts(execution, now)).map(({ groupOf }) => groupOf(execution))
}

/** @param place `caller`, `target` or the path of a parameter */
function valueAt({ callerId, intent }: Countable, place: string): Json {
  if (place === 'caller') return callerId
  if (place === 'target') return intent.target
  return (memberAt(intent, place.split('.').slice(1)) ?? null) as Json
}
