// The rules of each provider, as `authority` states them; approval decides which are in effect. Approved rules are never deleted.
import type { Sql } from '../postgres/sql.ts'
import { advanceEpoch } from './authority-epoch.ts'
import { everything, inEffect, loadDocument, type AuthorityRow } from './authority.ts'

/** Rules in effect. */
export interface WebhookRulesRow {
  readonly provider: string
  /** SHA-256 of `content`, hex. */
  readonly rulesHash: string
  /** Canonical text of `{provider, rules}`. */
  readonly content: string
}

export interface StoredWebhookRules extends WebhookRulesRow {
  /** Null: read from a file, not approved. */
  readonly approvedBy: string | null
  /** ISO 8601; null where `approvedBy` is. The newest rules of a provider are in effect. */
  readonly approvedAt: string | null
  /** The change that approved them last; null also where `genesis` did. */
  readonly approvedByChange: string | null
}

export function webhookRulesOf(row: AuthorityRow): StoredWebhookRules {
  return {
    provider: row.target,
    rulesHash: row.hash,
    content: row.stated,
    approvedBy: row.beganBy,
    approvedAt: row.beganAt,
    approvedByChange: row.beganByChange,
  }
}

/**
 * Stores the rules of the files that were never approved, in the caller's transaction, and deletes unapproved rules that are in no file
 * any more.
 * @param sources one for each provider
 * @param given.genesis whether this is the very first start on the database, which approves the rules that it finds
 */
export async function loadWebhookRules(
  sql: Sql,
  sources: readonly Pick<WebhookRulesRow, 'provider' | 'content'>[],
  { genesis }: { readonly genesis: boolean },
): Promise<void> {
  await sql.query(`DELETE FROM authority WHERE kind = 'webhook-rules' AND began_at IS NULL`)
  const approved = await everything(sql, 'webhook-rules')
  for (const { provider, content } of sources)
    if (!approved.some(({ target, stated }) => target === provider && stated === content))
      await loadDocument(sql, 'webhook-rules', content, { genesis })
  if (genesis) await advanceEpoch(sql)
}

/** Reads the rules in effect, by provider. */
export async function readWebhookRulesInEffect(sql: Sql): Promise<WebhookRulesRow[]> {
  return (await inEffect(sql, 'webhook-rules')).map(webhookRulesOf)
}

/** All rules, by provider: the newest approval first, which is in effect, and unapproved rules last. */
export async function readWebhookRules(sql: Sql): Promise<StoredWebhookRules[]> {
  return (await everything(sql, 'webhook-rules')).map(webhookRulesOf)
}
