// Brings the shipped documents, policies and webhook rules, into the database at start (decisions §6): new ones are added, approved ones
// never change.
import type pg from 'pg'
import type { Config } from '../../core/config/config.ts'
import { readPolicies } from '../../core/policy/load.ts'
import { addPolicyVersions, readPolicyVersions } from '../../store/tables/policy-versions.ts'
import { inTransaction } from '../../store/postgres/transaction.ts'
import {
  loadWebhookRules,
  readWebhookRules,
  type StoredWebhookRules,
} from '../../store/tables/webhook-rules.ts'
import type { ShippedDocuments } from './unapproved.ts'
import { readWebhookRulesFolder, type WebhookRulesFile } from '../../core/webhook-rules/load.ts'

interface DocumentDifference {
  /** One sentence without the file: it is shown to everybody (GET /ready). */
  readonly message: string
  readonly file: string
}

interface DocumentSync {
  /** Sentences for the author of a document. */
  readonly advice: readonly string[]
  /** Sentences for an operator: rules for which no delivery comes. */
  readonly warnings: readonly string[]
  /** Approved documents whose file says something else: the approved content stays in effect. */
  readonly differences: readonly DocumentDifference[]
  /** For `unapproved`. */
  readonly shipped: ShippedDocuments
}

/** @throws DocumentError with every mistake of every file; the database is then untouched */
export async function syncDocuments(
  pool: pg.Pool,
  config: Pick<Config, 'policyDir' | 'webhookDir' | 'webhookDirGiven' | 'webhookProviders'>,
): Promise<DocumentSync> {
  const policies = readPolicies(config.policyDir)
  // After a first start without policies, the next start would count as the first, and approve the policies that it finds.
  if (policies.length === 0) throw new Error(`POLICY_DIR ${config.policyDir} holds no policy.`)
  const rules = readWebhookRulesFolder(config.webhookDir, { required: config.webhookDirGiven })
  const stored = await inTransaction(pool, async (sql) => {
    const { genesis } = await addPolicyVersions(
      sql,
      policies.map(({ content }) => content),
    )
    await loadWebhookRules(sql, rules, { genesis })
    return { policies: await readPolicyVersions(sql), rules: await readWebhookRules(sql) }
  })
  const advice = [
    ...policies.flatMap(({ name, version, warnings }) =>
      warnings.map((warning) => `Policy ${name} ${version}: ${warning}`),
    ),
    ...rules.flatMap(({ provider, warnings }) =>
      warnings.map((warning) => `Webhook rules of ${provider}: ${warning}`),
    ),
  ]
  const differences = policies
    .filter(({ name, version, contentHash }) =>
      stored.policies.some(
        (row) => row.name === name && row.version === version && row.contentHash !== contentHash,
      ),
    )
    .map(({ name, version, file }) => ({
      message: `Policy '${name}' version '${version}' keeps its approved content; its file differs.`,
      file,
    }))
  const used = rules.map((file) => ({ ...file, ...useOf(file, stored.rules, config) }))
  return {
    advice,
    warnings: used.flatMap(({ warning }) => warning ?? []),
    shipped: {
      policies: policies.map(({ name, version }) => ({ name, version })),
      ruledProviders: rules
        .map(({ provider }) => provider)
        .filter((provider) => Object.hasOwn(config.webhookProviders, provider)),
    },
    differences: [
      ...differences,
      ...used.flatMap(({ difference, file }) =>
        difference === undefined ? [] : [{ message: difference, file }],
      ),
    ],
  }
}

/** Tells how a file of rules is used. Rules that were approved once and then replaced are an old file, which is no mistake. */
function useOf(
  { provider, rulesHash }: WebhookRulesFile,
  stored: readonly StoredWebhookRules[],
  { webhookDirGiven, webhookProviders }: Pick<Config, 'webhookDirGiven' | 'webhookProviders'>,
): { readonly warning?: string; readonly difference?: string } {
  const approved = stored.filter((row) => row.provider === provider && row.approvedBy !== null)
  const known = approved.some((row) => row.rulesHash === rulesHash)
  if (approved.length > 0 && !known)
    return { difference: `The approved webhook rules of '${provider}' stay in effect; their file differs.` }
  const hasSecret = Object.hasOwn(webhookProviders, provider)
  // The shipped files are examples: most services have secrets for none of them.
  if (!hasSecret && webhookDirGiven)
    return {
      warning: `Webhook rules of '${provider}' are never used: ${provider.toUpperCase()}_WEBHOOK_SECRET is not set.`,
    }
  return {}
}
