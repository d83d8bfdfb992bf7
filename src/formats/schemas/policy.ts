// policy.yaml as a risk team writes it (decisions §6). Unknown keys are refused: a misspelt binding would silently have no effect.
import { Type } from 'typebox'
import { closed } from './primitives.ts'

const words = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const POLICY_VERSION = '^(0|[1-9]\\d{0,5})(\\.(0|[1-9]\\d{0,5})){2}$'
const policyVersion = new RegExp(POLICY_VERSION)
export const PolicyVersionText = Type.String({
  pattern: POLICY_VERSION,
  description: 'a version such as 1.0.0',
})
export const POLICY_NAME = '^[a-z][a-z0-9-]{0,63}$'
const policyName = new RegExp(POLICY_NAME)
/** `namespace:verb`. */
export const CAPABILITY = '^[a-z][a-z0-9-]{0,63}:[a-z][a-z0-9-]{0,63}$'
const signalName = Type.String({ pattern: '^[a-z][A-Za-z0-9]{0,63}$' })
const perSignal = <T extends Type.TSchema>(value: T) =>
  Type.Record(signalName, value, { additionalProperties: false, maxProperties: 64 })

/** A value of the caller's parameters, through objects only; no other part of an intent is a boolean or a number. */
export const PARAMETER_PATH = '^intent\\.parameters(\\.[A-Za-z_][A-Za-z0-9_-]{0,63}){1,8}$'

/** The name of a group of approvers. */
export const GROUP_NAME = '^[a-z][a-z0-9-]{0,63}$'

/**
 * The number of distinct humans who have approved this very intent; `true` when the quorum is met (decisions §7). With `from` only members
 * of these groups count.
 */
const approval = closed({
  by: Type.Literal('approval'),
  quorum: Type.Integer({ minimum: 1, maximum: 10 }),
  from: Type.Optional(
    Type.Array(Type.String({ pattern: GROUP_NAME, description: 'the name of a group of approvers' }), {
      minItems: 1,
      maxItems: 8,
      uniqueItems: true,
    }),
  ),
})

/** The current value in the CRM of this property of the deal that `intent.target` names. */
const crmDeal = closed({
  by: Type.Literal('crm-deal'),
  property: Type.String({ pattern: '^[a-z][a-z0-9_]{0,99}$' }),
})

/**
 * Executions under any version of this policy within `window` (m, h, d) before now, without this execution: their number or, with
 * `sum`, the total of that parameter over them. They are the caller's own or, with `per`, every caller's that equal this execution in each
 * of its places; with `where`, only executions for which it was true.
 */
const history = closed({
  by: Type.Literal('history'),
  window: Type.String({
    pattern: '^[1-9]\\d{0,2}[mhd]$',
    description: 'minutes, hours or days, such as 30m, 24h or 7d',
  }),
  sum: Type.Optional(Type.String({ pattern: PARAMETER_PATH, description: 'intent.parameters.<member>' })),
  per: Type.Optional(
    Type.Array(
      Type.String({
        pattern: `^(caller|target)$|${PARAMETER_PATH}`,
        description: 'caller, target or intent.parameters.<member>',
      }),
      { minItems: 1, maxItems: 4, uniqueItems: true },
    ),
  ),
  /** CEL over `intent`, `authority`, `metadata` and `now`, evaluated when an execution is released; must be a bool. */
  where: Type.Optional(words(1000)),
})

/** Shorter than a day, the longest time for which a request is open. */
const askedAfter = Type.String({
  pattern: '^[1-9]\\d{0,2}[mh]$',
  description: 'minutes or hours, such as 30m or 4h',
})

/**
 * The times at which approvers are notified again of an open request, and members of a further group as well. It determines who is asked,
 * never who may sign: no approval counts because of it, and no verifier needs to know it.
 */
const Ask = closed({
  remindAfter: Type.Optional(askedAfter),
  escalateAfter: Type.Optional(askedAfter),
  /** One of the groups that a signal names in `from` together with another group. */
  escalateTo: Type.Optional(
    Type.String({ pattern: GROUP_NAME, description: 'the name of a group of approvers' }),
  ),
})

export const SignalVerifier = Type.Union([approval, crmDeal, history])
export type SignalVerifier = Type.Static<typeof SignalVerifier>

/** `amount` and `currency` are places, as in the braces of `text`. */
const displayWithAmount = closed({
  text: words(300),
  amount: words(600),
  currency: Type.Optional(words(600)),
})

const Rule = closed({
  id: Type.String({
    pattern: '^[a-z][a-z0-9-]{0,63}$',
    description: 'a name of small letters, digits and -, such as too-large',
  }),
  /** CEL over `signals`, `intent`, `authority`, `metadata` and `now`; must be a bool. */
  when: words(1000),
  outcome: Type.Enum(['approve', 'reject']),
  /** The caller reads the reason, and the record keeps it. */
  reason: words(200),
})

export const PolicyDocument = closed({
  policyId: Type.String({
    pattern: POLICY_NAME,
    description: 'a name of small letters, digits and -, such as vendor-payment',
  }),
  policyVersion: Type.String({ pattern: POLICY_VERSION, description: 'three numbers, such as 1.0.0' }),
  schemaVersion: Type.Enum(['1.0.0']),
  description: words(500),
  /** Actions this policy governs; any other action is rejected. */
  capabilities: Type.Array(
    Type.String({ pattern: CAPABILITY, description: 'namespace:verb, such as vendor:pay' }),
    {
      minItems: 1,
      maxItems: 32,
      uniqueItems: true,
    },
  ),
  /**
   * Capability → a description of the action for the humans who are asked to approve it. `{intent.target}`, `{intent.parameters.<member>}` and
   * `{signals.<name>}` stand for the request's values. If the action moves money, also the places of its amount and its currency.
   */
  display: Type.Optional(
    Type.Record(Type.String({ pattern: CAPABILITY }), Type.Union([words(300), displayWithAmount]), {
      additionalProperties: false,
      maxProperties: 32,
    }),
  ),
  signals: perSignal(Type.Enum(['boolean', 'number'])),
  /** Signal → the place in the intent whose value it must equal. */
  bindings: Type.Optional(perSignal(words(600))),
  /** Signal → the independent source of its value. */
  verify: Type.Optional(perSignal(SignalVerifier)),
  ask: Type.Optional(Ask),
  /** Number of humans who must state how an execution in doubt ended: 1, or INTENT_CLOSE_QUORUM if that is more. */
  closeQuorum: Type.Optional(Type.Integer({ minimum: 1, maximum: 2 })),
  /** The first rule that matches decides; if none matches, the transaction is rejected. */
  rules: Type.Array(Rule, { minItems: 1, maxItems: 100 }),
})
export type PolicyDocument = Type.Static<typeof PolicyDocument>

export function isPolicyName(value: unknown): value is string {
  return typeof value === 'string' && policyName.test(value)
}

export function isPolicyVersion(value: unknown): value is string {
  return typeof value === 'string' && policyVersion.test(value)
}
