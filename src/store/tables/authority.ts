// authority: everything that humans have put in effect by their changes, or ended (decisions §6, §7). Each is stored once, whatever its kind.
import { createPublicKey, randomUUID } from 'node:crypto'
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import type { Members } from '../../formats/json/members.ts'
import { keyIdOf } from '../../formats/people/caller.ts'
import type { ChangeKindName } from '../../formats/schemas/governance.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'
import { sha256Hex } from '../sha256.ts'

type Texts = Readonly<Record<string, string>>

/**
 * The particulars of a kind. Each function takes the proposal of a change of this kind; `target` also takes the proposal of a change that ends
 * something.
 */
interface AuthorityKind {
  /** The target of the changes, as the proposal names it. */
  readonly target: (proposed: Texts) => string
  /** A target is put in effect once and for good. */
  readonly once?: true
  /** Further values that two rows of this kind must not share, in effect or not. */
  readonly uniqueKey?: (proposed: Texts) => string
  /** Leaves out members that only the change has. */
  readonly stated?: (proposed: Members) => Json
}

export const authorityKinds: Readonly<Record<ChangeKindName, AuthorityKind>> = {
  policy: {
    target: ({ policyId, policyVersion }) => `${policyId}/${policyVersion}`,
    once: true,
    // `retires` names the versions that this one ends.
    stated(proposed) {
      const { retires: _, ...document } = proposed
      return document
    },
  },
  'webhook-rules': { target: ({ provider = '' }) => provider },
  approver: {
    target: ({ approverId, keyId }) => `${approverId}:${keyId}`,
    once: true,
    // One key is one person, whatever names it is proposed under.
    uniqueKey: ({ publicKeyPem = '' }) => fingerprintOf(publicKeyPem),
    stated: ({ passkey, ...others }) => {
      const { proof: _, ...enrolled } = (passkey ?? {}) as Members
      return passkey === undefined ? others : { ...others, passkey: enrolled }
    },
  },
  'external-connector': { target: ({ capability = '' }) => capability },
  'event-endpoint': { target: ({ url = '' }) => url },
  'caller-key': {
    target: ({ callerId, keyHash, keyId = keyIdOf(keyHash ?? '') }) => `${callerId}:${keyId}`,
    once: true,
    uniqueKey: ({ keyHash = '' }) => keyIdOf(keyHash),
  },
  'approver-group': { target: ({ group = '' }) => group },
  'stand-in': { target: ({ for: away = '', from = '' }) => standInTarget({ for: away, from }) },
}

/** The target of a stand-in: an approver has one at a time, and may have several one after the other. */
export function standInTarget({ for: away, from }: { readonly for: string; readonly from: string }): string {
  return `${away}/${from}`
}

/** @returns canonical text of the content that a change of this kind puts in effect */
export function statedText(kind: ChangeKindName, proposed: Members): string {
  return canonicalize(authorityKinds[kind].stated?.(proposed) ?? proposed)
}

/** SHA-256 of the SPKI, hex. */
export function fingerprintOf(publicKeyPem: string): string {
  return sha256Hex(createPublicKey(publicKeyPem).export({ type: 'spki', format: 'der' }))
}

export interface AuthorityRow {
  readonly kind: ChangeKindName
  /** Grows; never used twice. */
  readonly number: number
  /** The target, where that is put in effect once; else the change that began it, or a random UUID. */
  readonly key: string
  readonly target: string
  /** Canonical text. */
  readonly stated: string
  /** SHA-256 of `stated`, hex. */
  readonly hash: string
  readonly uniqueKey: string | null
  /** ISO 8601, as all times. */
  readonly loadedAt: string
  /** Null: an unapproved document, or a configured key of a caller, which is here because it was revoked. */
  readonly beganAt: string | null
  /** A callerId or `genesis`. */
  readonly beganBy: string | null
  /** Null also where `genesis` did. */
  readonly beganByChange: string | null
  readonly endedAt: string | null
  readonly endedBy: string | null
  readonly endedByChange: string | null
}

const COLUMNS = `kind, number, key, target, stated, stated_hash AS hash, unique_key AS "uniqueKey", ${isoTime('loaded_at')} AS "loadedAt",
  ${isoTime('began_at')} AS "beganAt", began_by AS "beganBy", began_by_change AS "beganByChange",
  ${isoTime('ended_at')} AS "endedAt", ended_by AS "endedBy", ended_by_change AS "endedByChange"`

const IN_EFFECT = 'began_at IS NOT NULL AND ended_at IS NULL'

/** By target, the newest first; unapproved rows last. */
const ORDER = 'target, began_at DESC NULLS LAST, number'

const ONCE = Object.entries(authorityKinds).flatMap(([kind, { once }]) => (once ? [`'${kind}'`] : []))

/** Reads everything in effect, and all rows of the kinds whose targets never come back: an approval by a revoked key still verifies. */
export async function readAllAuthority(sql: Sql): Promise<AuthorityRow[]> {
  const { rows } = await sql.query<AuthorityRow>({
    name: 'authority_all',
    text: `SELECT ${COLUMNS} FROM authority WHERE (${IN_EFFECT}) OR kind IN (${ONCE.join(', ')}) ORDER BY ${ORDER}`,
  })
  return rows
}

/** Reads every row that was ever in effect, and the unapproved documents. */
export async function everything(sql: Sql, kind: ChangeKindName): Promise<AuthorityRow[]> {
  const { rows } = await sql.query<AuthorityRow>(
    `SELECT ${COLUMNS} FROM authority WHERE kind = $1::text ORDER BY ${ORDER}`,
    [kind],
  )
  return rows
}

/** @param target only this target */
export async function inEffect(sql: Sql, kind: ChangeKindName, target?: string): Promise<AuthorityRow[]> {
  const { rows } = await sql.query<AuthorityRow>(
    `SELECT ${COLUMNS} FROM authority
     WHERE kind = $1::text AND ${IN_EFFECT} AND target = coalesce($2::text, target) ORDER BY ${ORDER}`,
    [kind, target ?? null],
  )
  return rows
}

/** Reads rows by their keys; those that are not there are left out. */
export async function findAuthority(
  sql: Sql,
  kind: ChangeKindName,
  keys: readonly string[],
): Promise<AuthorityRow[]> {
  if (keys.length === 0) return []
  const { rows } = await sql.query<AuthorityRow>({
    name: 'authority_find',
    text: `SELECT ${COLUMNS} FROM authority WHERE kind = $1::text AND key = ANY($2::text[]) ORDER BY ${ORDER}`,
    values: [kind, keys],
  })
  return rows
}

/** The human who approved a change, and the time. */
export interface Act {
  readonly changeId: string
  readonly by: string
  /** ISO 8601. */
  readonly at: string
}

/**
 * Puts the proposal of a change in effect, in the transaction that approves it: a document that is loaded with this content, or a new row.
 * @returns false where it is in effect, or was and its kind allows that once, or another row has its unique key: nothing is written then
 */
export async function begin(
  sql: Sql,
  kind: ChangeKindName,
  { proposed, ...act }: Act & { readonly proposed: object },
): Promise<boolean> {
  const { target } = authorityKinds[kind]
  const text = statedText(kind, proposed as Members)
  const { rowCount } = await sql.query(
    `UPDATE authority SET began_by = $4::text, began_at = $5::timestamptz, began_by_change = $6::uuid
     WHERE kind = $1::text AND target = $2::text AND stated = $3::text AND began_at IS NULL AND ended_at IS NULL`,
    [kind, target(proposed as Texts), text, act.by, act.at, act.changeId],
  )
  return rowCount === 1 || insert(sql, kind, { stated: text, key: act.changeId, began: act })
}

/**
 * Ends the row in effect, in the transaction that approves the change.
 * @returns the ended rows: fewer than `targets` where a target is not in effect
 */
export async function end(
  sql: Sql,
  kind: ChangeKindName,
  { targets, changeId, by, at }: Act & { readonly targets: readonly string[] },
): Promise<AuthorityRow[]> {
  const { rows } = await sql.query<AuthorityRow>(
    `UPDATE authority SET ended_by = $3::text, ended_at = $4::timestamptz, ended_by_change = $5::uuid
     WHERE kind = $1::text AND target = ANY($2::text[]) AND ${IN_EFFECT} RETURNING ${COLUMNS}`,
    [kind, targets, by, at, changeId],
  )
  return rows
}

/**
 * Begins or ends the targets of a change, as its action says.
 * @returns false where their state has changed since: nothing is written then
 */
export async function enact(
  sql: Sql,
  kind: ChangeKindName,
  change: Act & { readonly target: string; readonly proposed: { readonly action: string } },
): Promise<boolean> {
  if (change.proposed.action !== 'revoke') return begin(sql, kind, change)
  return (await end(sql, kind, { ...change, targets: [change.target] })).length === 1
}

/**
 * Loads a document from a file, or puts it in effect where this is the very first start. An unapproved document follows its file.
 * @returns whether anything was written
 */
export async function loadDocument(
  sql: Sql,
  kind: ChangeKindName,
  stated: string,
  { genesis }: { readonly genesis: boolean },
): Promise<boolean> {
  const loaded = await insert(sql, kind, { stated, key: randomUUID(), genesis })
  if (loaded) return true
  const { target } = authorityKinds[kind]
  const { rowCount } = await sql.query(
    `UPDATE authority SET stated = $3::text, stated_hash = $4::text
     WHERE kind = $1::text AND key = $2::text AND began_at IS NULL AND stated <> $3::text`,
    [kind, target(JSON.parse(stated) as Texts), stated, sha256Hex(stated)],
  )
  return rowCount === 1
}

/**
 * Inserts a row.
 * @param row.key the key where a target may come back
 * @param row.genesis began at the very first start
 * @returns false where its key, or its unique key, exists already: nothing is inserted then
 */
export async function insert(
  sql: Sql,
  kind: ChangeKindName,
  row: {
    readonly stated: string
    readonly key: string
    readonly began?: Act
    readonly ended?: Act
    readonly genesis?: boolean
  },
): Promise<boolean> {
  const { stated, began, ended, genesis = false } = row
  const { target: targetOf, once, uniqueKey } = authorityKinds[kind]
  const members = JSON.parse(stated) as Texts
  const target = targetOf(members)
  const { rowCount } = await sql.query(
    `INSERT INTO authority (kind, key, target, stated, stated_hash, unique_key, began_by, began_at, began_by_change,
       ended_by, ended_at, ended_by_change)
     VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text,
       CASE WHEN $13::boolean THEN now() ELSE $8::timestamptz END, $9::uuid, $10::text, $11::timestamptz, $12::uuid)
     ON CONFLICT DO NOTHING`,
    [
      kind,
      once ? target : row.key,
      target,
      stated,
      sha256Hex(stated),
      uniqueKey?.(members) ?? null,
      genesis ? 'genesis' : (began?.by ?? null),
      began?.at ?? null,
      began?.changeId ?? null,
      ended?.by ?? null,
      ended?.at ?? null,
      ended?.changeId ?? null,
      genesis,
    ],
  )
  return rowCount === 1
}
