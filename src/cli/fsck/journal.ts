// Rows whose signed texts are written once: audit events, intent transitions, deliveries.
import { sha256Hex } from '../../store/sha256.ts'
import { readIntents } from '../../store/tables/execution-intents.ts'
import { readRecordBodies } from '../../store/tables/trust-records.ts'
import { auditEvent } from '../../formats/artifacts/audit-event.ts'
import { members } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { intentTransition } from '../../formats/artifacts/intent-transition.ts'
import { checkOf, lazyMembers, type Signed } from './check.ts'
import { auditedWith, columnsOf, repeats, signedIn, verifies } from './sealed.ts'
import { missingSubjects } from './subjects.ts'
import { withoutStepUpKeys } from './tools.ts'

export const auditEvents = checkOf({
  table: 'audit_events',
  columns: columnsOf(auditEvent),
  read: (row) => signedIn(row, auditEvent),
  rules: [
    ['does not verify', (row, tools) => verifies(auditEvent, row, tools)],
    ['columns differ from the body', (row) => repeats(auditEvent, row)],
  ],
  page: (items, tools) => missingSubjects(items.flatMap(readable), tools),
})

function readable({ key, signed }: Signed & { readonly key: string }): { key: string; event: Members }[] {
  try {
    return [{ key, event: signed() }]
  } catch {
    return []
  }
}

const BY_CONNECTOR = 'connector:'

export const intentTransitions = checkOf({
  table: 'intent_transitions',
  columns: { ...columnsOf(intentTransition), audited: auditedWith(intentTransition) },
  async complete(rows, { sql }) {
    const ids = rows.map(({ businessTransactionId }) => businessTransactionId)
    const intended = await readIntents(sql, ids)
    const records = await readRecordBodies(sql, ids)
    const confirmed = await sql.query<{ id: string; confirmationId: string }>({
      text: `
        SELECT business_transaction_id AS id, confirmation_id AS "confirmationId"
        FROM provider_confirmations WHERE business_transaction_id = ANY($1::uuid[])`,
      values: [ids],
    })
    const confirmations = Map.groupBy(confirmed.rows, ({ id }) => id)
    const registered = await sql.query<{ capability: string; since: Date }>({
      text: `
        SELECT target AS capability, min(began_at) AS since FROM authority
        WHERE kind = 'external-connector' AND strpos(stated, '"readBack":true') > 0 GROUP BY target`,
    })
    const said = await sql.query<{ id: string; body: string }>({
      text: `
        SELECT one.id, a.body FROM unnest($1::text[]) AS one (id)
        JOIN audit_events AS a ON a.type = 'intent.first_word' AND strpos(a.body, one.id) > 0`,
      values: [
        rows
          .filter(({ body }) => body.includes('"agreedWith"'))
          .map(({ businessTransactionId }) => businessTransactionId),
      ],
    })
    const firstWords = Map.groupBy(said.rows, ({ id }) => id)
    const askable = new Map(registered.rows.map(({ capability, since }) => [capability, since]))
    return rows.map((row) => {
      const record = records.get(row.businessTransactionId)
      return {
        ...row,
        // Undefined where it is missing.
        intent: intended.get(row.businessTransactionId)?.intent ?? undefined,
        // Undefined where there is no record.
        recordHash: record === undefined ? undefined : sha256Hex(record),
        confirmations: new Set(
          confirmations.get(row.businessTransactionId)?.map(({ confirmationId }) => confirmationId),
        ),
        // The time when the first external connector that can be asked was registered, by capability.
        askable,
        // Bodies of the audit events of the first of two humans, where it took two.
        firstWords: firstWords.get(row.businessTransactionId)?.map(({ body }) => body) ?? [],
      }
    })
  },
  read: (row) => signedIn(row, intentTransition),
  rules: [
    ['execution intent is missing', ({ intent }) => intent !== undefined],
    ['does not verify', (row, tools) => verifies(intentTransition, row, withoutStepUpKeys(tools))],
    ['columns differ from the body', (row) => repeats(intentTransition, row)],
    [
      'execution intent is not in the state that this transition led to',
      ({ at, intent, signed }) => {
        if (intent === undefined) return true
        const { to, resolution = null } = signed()
        return to === intent.state && resolution === intent.resolution && intent.closedAt === at.toISOString()
      },
    ],
    [
      'names a trust record that is missing or differs',
      ({ recordHash, signed }) => {
        const { trustRecordHash } = signed()
        return trustRecordHash === undefined || trustRecordHash === recordHash
      },
    ],
    [
      'names a confirmation that is missing',
      ({ confirmations, signed }) => {
        const { confirmationId } = signed()
        return (
          confirmationId === undefined ||
          (typeof confirmationId === 'string' && confirmations.has(confirmationId))
        )
      },
    ],
    [
      'is by a connector that was not registered to be asked',
      ({ at, askable, signed }) => {
        const { by } = signed()
        if (typeof by !== 'string' || !by.startsWith(BY_CONNECTOR)) return true
        const since = askable.get(by.slice(BY_CONNECTOR.length))
        return since !== undefined && since.getTime() <= at.getTime()
      },
    ],
    [
      'names a human who did not say the same',
      ({ businessTransactionId: id, firstWords, signed }) => {
        const { agreedWith, resolution } = signed()
        if (agreedWith === undefined) return true
        return firstWords
          .map((body) => lazyMembers(body, 'audit_events')())
          .some(({ callerId, detail }) => {
            const { businessTransactionId, resolution: first } = members(detail)
            return callerId === agreedWith && businessTransactionId === id && first === resolution
          })
      },
    ],
    ['audit event is missing', ({ audited }) => audited],
  ],
})

/** SHA-256 of no bytes: the body of a processed delivery may be emptied (docs/handbook/keeping.md). */
const EMPTIED = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** The body's hash is computed in the database: a delivery can be as large as any request. */
export const webhookEvents = checkOf({
  table: 'webhook_events',
  columns: {
    key: ['text', 'c.event_key'],
    bodySha256: 'text',
    computed: ['text', `encode(sha256(c.body), 'hex')`],
    isProcessed: ['boolean', 'c.processed_at IS NOT NULL'],
    // How often it was processed again on request.
    reruns: 'integer',
    audited: ['boolean', 'a.event_id IS NOT NULL'],
    // Null where there is no event.
    inAudit: [
      'boolean?',
      `strpos(a.body, '"provider":' || to_json(c.provider)) > 0 AND strpos(a.body, '"eventId":' || to_json(c.event_id)) > 0
        AND strpos(a.body, '"bodySha256":' || to_json(c.body_sha256)) > 0 AND strpos(a.body, '"receivedAt":"'
        || to_char(c.received_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"') > 0`,
    ],
  },
  joins: `LEFT JOIN audit_events AS a ON a.event_id = c.event_key AND a.type = 'webhook.processed'`,
  rules: [
    [
      'body does not match its hash',
      ({ bodySha256, computed, isProcessed }) =>
        bodySha256 === computed || (isProcessed && computed === EMPTIED),
    ],
    ['is processed, but its audit event is missing', ({ isProcessed, audited }) => !isProcessed || audited],
    [
      'is not processed, but an audit event says that it is',
      ({ isProcessed, audited, reruns }) => isProcessed || !audited || reruns > 0,
    ],
    ['differs from the delivery in its audit event', ({ inAudit }) => inAudit !== false],
  ],
})
