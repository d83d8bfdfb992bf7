// The rules for the deliveries of providers, and changes of them.
import { canonicalize } from '../../formats/json/canonical.ts'
import {
  WebhookRulesPage,
  WebhookRulesProposal,
  type WebhookRulesDocument,
} from '../../formats/schemas/webhook-rules.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { readWebhookRules, type StoredWebhookRules } from '../../store/tables/webhook-rules.ts'
import { webhookRulesChange as change } from '../openapi/examples/changes.ts'
import { changeRoutes } from './changes.ts'
import { wholeList } from './list.ts'
import { governingGet, type Route } from '../route.ts'

const { changeId, proposed, resolvedBy, resolvedAt } = change.approved

export const webhookRules = [
  wholeList({
    ...governingGet,
    path: '/webhook-rules',
    operationId: 'listWebhookRules',
    tag: 'Webhooks',
    summary: 'The rules for the deliveries of providers',
    description:
      'All lists of rules that were ever approved, and unapproved lists from files. The first entry of each provider is in effect. For any caller.',
    order: 'provider, the newest approval first',
    schema: WebhookRulesPage,
    member: 'webhookRules',
    example: {
      webhookRules: [
        {
          provider: proposed.provider,
          rulesHash: sha256Hex(canonicalize(proposed)),
          status: 'IN_EFFECT',
          approvedBy: resolvedBy,
          approvedAt: resolvedAt,
          approvedByChange: changeId,
          rules: proposed.rules,
        },
      ],
    },
    async read({ pool }) {
      const rows = await readWebhookRules(pool)
      return rows.map((row, i) => shownRules(row, rows[i - 1]))
    },
    keyOf,
  }),
  ...changeRoutes({
    kind: 'webhook-rules',
    noun: 'the rules for a provider’s deliveries',
    name: 'WebhookRules',
    example: change,
    proposal: {
      description:
        'The list replaces the list in effect. An empty list removes all rules of the provider. Without `rules`, the list in the provider’s file in `WEBHOOK_DIR` is proposed.',
      schema: WebhookRulesProposal,
    },
  }),
] as const satisfies readonly Route[]

/** Keys in the order of the rows: `/` sorts before all characters of a provider's name, and the newest approval has the smallest number. */
function keyOf({ provider, approvedAt }: Pick<StoredWebhookRules, 'provider' | 'approvedAt'>): string {
  const age = approvedAt === null ? Number.MAX_SAFE_INTEGER : Number.MAX_SAFE_INTEGER - Date.parse(approvedAt)
  return `${provider}/${String(age).padStart(16, '0')}`
}

/** @param before the previous row of the list */
function shownRules(row: StoredWebhookRules, before: StoredWebhookRules | undefined) {
  const { provider, rulesHash, content, approvedBy, approvedAt, approvedByChange } = row
  const { rules } = JSON.parse(content) as WebhookRulesDocument
  const isFirst = before?.provider !== provider
  return {
    provider,
    rulesHash,
    status: approvedBy === null ? 'LOADED' : isFirst ? 'IN_EFFECT' : 'REPLACED',
    approvedBy,
    approvedAt,
    approvedByChange,
    rules,
  }
}
