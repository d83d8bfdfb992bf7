// Determines the outcome of a delivery by the rules of a provider. Pure, and never throws: any error inside a rule is an outcome.
import { cause } from '../cel/expression.ts'
import { isObject } from '../../formats/json/fields.ts'
import { MalformedJson, parseJson } from '../json/json.ts'
import { isUuid } from '../../formats/schemas/primitives.ts'
import type { WebhookRule } from './parse.ts'
import { evaluateOver, openMeter } from './view.ts'

export interface Delivery {
  /** As `payloadOf` reads it. */
  readonly payload: unknown
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** A delivery that a rule takes. */
export interface Match {
  readonly rule: WebhookRule
  readonly ruleId: string
  readonly says: WebhookRule['says']
  /** A businessTransactionId or an authorizationId, in lower case. */
  readonly transaction: string
}

/** A delivery that closes nothing. */
interface NoMatch {
  readonly outcome: 'no-match' | 'ambiguous' | 'rule-failed'
  /** The rule that was taken, if there was one. */
  readonly ruleId?: string
  /** A sentence. */
  readonly detail: string
}

type Comparison =
  | { readonly expression: string; readonly holds: boolean }
  /** The expression could not be evaluated; `why` is a clause. */
  | { readonly expression: string; readonly holds: null; readonly why: string }

/** The JSON of a delivery's body; a `MalformedJson` with the reason when the body does not have exactly one reading. */
export function payloadOf(body: Uint8Array): unknown {
  try {
    return parseJson(body)
  } catch (error) {
    if (error instanceof MalformedJson) return error
    throw error
  }
}

/** Takes the first rule whose `when` is true. A rule that fails ends the search: it might have been the matching rule. */
export function matchRules(rules: readonly WebhookRule[], { payload, headers }: Delivery): Match | NoMatch {
  if (payload instanceof MalformedJson)
    return {
      outcome: 'no-match',
      detail: `The body is no JSON with one reading, so no rule can read it: ${payload.message}.`,
    }
  if (!isObject(payload))
    return { outcome: 'no-match', detail: 'The body is no JSON object, so no rule can read it.' }
  const sources = { payload, headers }
  const meter = openMeter()
  for (const rule of rules) {
    let part = 'when'
    try {
      if (evaluateOver(rule.when, sources, meter) !== true) continue
      part = 'transaction'
      return named(rule, evaluateOver(rule.transaction, sources, meter))
    } catch (error) {
      return failed(rule, `'${part}' could not be evaluated: ${cause(error)}`)
    }
  }
  return { outcome: 'no-match', detail: 'No rule matches.' }
}

/** Evaluates the comparisons of the rule, in order. */
export function compare(
  rule: WebhookRule,
  sources: Delivery & { readonly transaction: unknown },
): Comparison[] {
  const meter = openMeter()
  return rule.compare.map((expression): Comparison => {
    try {
      return { expression: expression.text, holds: evaluateOver(expression, sources, meter) === true }
    } catch (error) {
      return { expression: expression.text, holds: null, why: cause(error) }
    }
  })
}

/** Maximum number of characters shown of a text that is no id. */
const GIVEN_SHOWN = 100

/** The only id in the result of the rule's `transaction`. */
function named(rule: WebhookRule, given: unknown): Match | NoMatch {
  const ids = new Set((Array.isArray(given) ? given : [given]).filter(isUuid).map((id) => id.toLowerCase()))
  const [transaction] = ids
  if (transaction === undefined)
    return failed(
      rule,
      `'transaction' gives no UUID${typeof given === 'string' ? `, but '${given.slice(0, GIVEN_SHOWN)}'` : ''}`,
    )
  const { id: ruleId, says } = rule
  if (ids.size === 1) return { rule, ruleId, says, transaction }
  return { outcome: 'ambiguous', ruleId, detail: `Rule '${ruleId}': 'transaction' gives ${ids.size} ids.` }
}

function failed({ id: ruleId }: WebhookRule, why: string): NoMatch {
  return { outcome: 'rule-failed', ruleId, detail: `Rule '${ruleId}': ${why}.` }
}
