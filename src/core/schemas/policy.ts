// policy.yaml as a risk team writes it (decisions §6). Unknown keys are refused: a misspelt binding would silently bind nothing.
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { shapeSentences } from '../cel/shape.ts'

const closed = <T extends Type.TProperties>(properties: T): Type.TObject<T> =>
  Type.Object(properties, { additionalProperties: false })
const words = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const POLICY_VERSION = '^(0|[1-9]\\d{0,5})(\\.(0|[1-9]\\d{0,5})){2}$'
const policyVersion = new RegExp(POLICY_VERSION)
export const POLICY_NAME = '^[a-z][a-z0-9-]{0,63}$'
const policyName = new RegExp(POLICY_NAME)
/** `namespace:verb`. */
export const CAPABILITY = '^[a-z][a-z0-9-]{0,63}:[a-z][a-z0-9-]{0,63}$'
const signalName = Type.String({ pattern: '^[a-z][A-Za-z0-9]{0,63}$' })
const perSignal = <T extends Type.TSchema>(value: T) =>
  Type.Record(signalName, value, { additionalProperties: false, maxProperties: 64 })

/** A value of the caller's parameters, through objects only; nothing else in an intent is a boolean or a number. */
export const PARAMETER_PATH = '^intent\\.parameters(\\.[A-Za-z_][A-Za-z0-9_-]{0,63}){1,8}$'

/** How many distinct humans have approved this very intent; `true` when the quorum is met (decisions §7). */
const approval = closed({ by: Type.Literal('approval'), quorum: Type.Integer({ minimum: 1, maximum: 10 }) })

/** The property, as the CRM holds it now, of the deal that `intent.target` names. */
const crmDeal = closed({
  by: Type.Literal('crm-deal'),
  property: Type.String({ pattern: '^[a-z][a-z0-9_]{0,99}$' }),
})

/**
 * The caller's own executions under any version of this policy within `window` (m, h, d) before now, this one not included:
 * how many there were or, with `sum`, the total of that parameter over them.
 */
const history = closed({
  by: Type.Literal('history'),
  window: Type.String({ pattern: '^[1-9]\\d{0,2}[mhd]$' }),
  sum: Type.Optional(Type.String({ pattern: PARAMETER_PATH })),
})

export const SignalVerifier = Type.Union([approval, crmDeal, history])
export type SignalVerifier = Type.Static<typeof SignalVerifier>

const Rule = closed({
  id: Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$' }),
  /** CEL over `signals`, `intent`, `authority`, `metadata` and `now`; must be a bool. */
  when: words(1000),
  outcome: Type.Enum(['approve', 'reject']),
  /** What the caller reads and the record keeps. */
  reason: words(200),
})

export const PolicyDocument = closed({
  policyId: Type.String({ pattern: POLICY_NAME }),
  policyVersion: Type.String({ pattern: POLICY_VERSION }),
  schemaVersion: Type.Enum(['1.0.0']),
  description: words(500),
  /** Actions this policy governs; any other is rejected. */
  capabilities: Type.Array(Type.String({ pattern: CAPABILITY }), {
    minItems: 1,
    maxItems: 32,
    uniqueItems: true,
  }),
  signals: perSignal(Type.Enum(['boolean', 'number'])),
  /** Signal → the place in the intent whose value it must equal. */
  bindings: Type.Optional(perSignal(words(600))),
  /** Signal → where its value is independently known. */
  verify: Type.Optional(perSignal(SignalVerifier)),
  /** The first that matches decides; none is a rejection. */
  rules: Type.Array(Rule, { minItems: 1, maxItems: 100 }),
})
export type PolicyDocument = Type.Static<typeof PolicyDocument>

export function isPolicyName(value: unknown): value is string {
  return typeof value === 'string' && policyName.test(value)
}

export function isPolicyVersion(value: unknown): value is string {
  return typeof value === 'string' && policyVersion.test(value)
}

const validator = Compile(PolicyDocument)

/** The document, or what is wrong with it, one sentence a place. */
export function parsePolicyDocument(value: unknown): PolicyDocument | string[] {
  if (validator.Check(value)) return value
  return [...shapeSentences(validator.Errors(value), { depth: 2, oneOf: VERIFIERS }).values()]
}

const VERIFIERS =
  '{ by: approval, quorum: 1..10 }, { by: crm-deal, property: <name> }, { by: history, window: <n>m|h|d, sum?: intent.parameters.<member> }'
