// Rules for the deliveries of providers, in the form of a file, a proposal and GET /webhook-rules. Unknown keys are refused: a misspelt
// `compare` would silently compare nothing.
import { Type } from 'typebox'
import { approvedMembers, Reason } from './governance.ts'
import { closed, Sha256 } from './primitives.ts'
import { said } from './provider-confirmation.ts'

const expression = (description: string) => Type.String({ minLength: 1, maxLength: 1000, description })

/** The name of a provider in the path of deliveries, `/webhooks/{provider}`. */
export const PROVIDER = '^[a-z][a-z0-9_]{0,31}$'

const Provider = Type.String({
  pattern: PROVIDER,
  description: 'a small letter and at most 31 further ones, digits or _',
})

export const WebhookRule = closed({
  id: Type.String({ pattern: '^[a-z][a-z0-9-]{0,63}$' }),
  when: expression('CEL over payload and headers: a bool. The first rule for which it is true is taken.'),
  transaction: expression(
    'CEL over payload and headers: the businessTransactionId or authorizationId, or a list of texts that holds one.',
  ),
  says: Type.Enum([...said]),
  compare: Type.Optional(
    Type.Array(expression('CEL over payload, headers and transaction: a bool'), { maxItems: 16 }),
  ),
  note: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
})

const WebhookRuleList = Type.Array(WebhookRule, { maxItems: 50 })

export const WebhookRulesDocument = closed({ provider: Provider, rules: WebhookRuleList })
export type WebhookRulesDocument = Type.Static<typeof WebhookRulesDocument>

const version = {
  provider: Provider,
  rulesHash: Sha256,
  status: Type.Enum(['IN_EFFECT', 'REPLACED', 'LOADED'], {
    description: '`REPLACED`: in effect until others were. `LOADED`: read from a file, and never approved.',
  }),
  ...approvedMembers,
  rules: WebhookRuleList,
}

export const WebhookRules = Type.Object(version)

export const WebhookRulesPage = Type.Object({ webhookRules: Type.Array(WebhookRules) })

export const WebhookRulesProposal = closed({
  provider: Provider,
  rules: Type.Optional(WebhookRuleList),
  reason: Reason,
})

/** As it is read: the rules' own check reports every mistake in them, this schema would report only the first. */
export const WebhookRulesProposalRead = closed({
  provider: Provider,
  rules: Type.Optional(Type.Array(Type.Unknown(), { description: 'an array of rules' })),
  reason: Reason,
})
