// webhook_rules: the rules of each provider, by content; approval decides which are in effect. No version is ever deleted that was approved.
import { advanceEpoch } from './authority-epoch.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'

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
  /** ISO 8601; null where `approvedBy` is. Of a provider the newest is in effect. */
  readonly approvedAt: string | null
  /** The change that approved them last; null also where `genesis` did. */
  readonly approvedByChange: string | null
}

/**
 * Keeps what the files hold that was never approved, in the caller's transaction, and drops what is in no file any more.
 * @param sources one for each provider
 * @param given.genesis whether this is the very first start on the database, which approves what it finds
 */
export async function loadWebhookRules(
  sql: Sql,
  sources: readonly WebhookRulesRow[],
  { genesis }: { readonly genesis: boolean },
): Promise<void> {
  await sql.query({ text: `DELETE FROM webhook_rules WHERE approved_by IS NULL` })
  await sql.query({
    text: `
      INSERT INTO webhook_rules (provider, rules_hash, content, approved_by, approved_at)
      SELECT provider, rules_hash, content, $4::text, CASE WHEN $4::text IS NULL THEN NULL ELSE now() END
      FROM unnest($1::text[], $2::text[], $3::text[]) AS given (provider, rules_hash, content)
      WHERE NOT EXISTS (
        SELECT FROM webhook_rules AS r WHERE r.provider = given.provider AND r.rules_hash = given.rules_hash)`,
    values: [
      sources.map(({ provider }) => provider),
      sources.map(({ rulesHash }) => rulesHash),
      sources.map(({ content }) => content),
      genesis ? 'genesis' : null,
    ],
  })
  if (genesis) await advanceEpoch(sql)
}

/** Reads the rules in effect, by provider. */
export async function readWebhookRulesInEffect(sql: Sql): Promise<WebhookRulesRow[]> {
  const { rows } = await sql.query<WebhookRulesRow>({
    text: `
      SELECT DISTINCT ON (provider) provider, rules_hash AS "rulesHash", content
      FROM webhook_rules WHERE approved_at IS NOT NULL ORDER BY provider, approved_at DESC`,
  })
  return rows
}

/** Everything, by provider, the newest approval first, which is in effect; what is not approved last. */
export async function readWebhookRules(sql: Sql): Promise<StoredWebhookRules[]> {
  const { rows } = await sql.query<StoredWebhookRules>({
    text: `
      SELECT provider, rules_hash AS "rulesHash", content, approved_by AS "approvedBy",
        ${isoTime('approved_at')} AS "approvedAt",
        approved_by_change AS "approvedByChange"
      FROM webhook_rules ORDER BY provider, approved_at DESC NULLS LAST`,
  })
  return rows
}

/**
 * Puts rules in effect, in the transaction that approves their change.
 * @returns false where others were approved at that time or later, by a clock that is ahead
 */
export async function approveWebhookRules(
  sql: Sql,
  row: WebhookRulesRow & {
    readonly approvedBy: string
    /** ISO 8601. */
    readonly approvedAt: string
    readonly approvedByChange: string
  },
): Promise<boolean> {
  await sql.query({
    text: `DELETE FROM webhook_rules WHERE provider = $1::text AND rules_hash = $2::text AND approved_by IS NULL`,
    values: [row.provider, row.rulesHash],
  })
  const result = await sql.query({
    text: `
      INSERT INTO webhook_rules (provider, rules_hash, content, approved_by, approved_at, approved_by_change)
      SELECT $1::text, $2::text, $3::text, $4::text, $5::timestamptz, $6::uuid
      WHERE NOT EXISTS (SELECT FROM webhook_rules WHERE provider = $1::text AND approved_at >= $5::timestamptz)`,
    values: [row.provider, row.rulesHash, row.content, row.approvedBy, row.approvedAt, row.approvedByChange],
  })
  return result.rowCount === 1
}
