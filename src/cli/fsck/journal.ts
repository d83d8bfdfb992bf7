// These are written once and never read by the pipeline: audit events, transitions of intents, deliveries.
import { sha256Hex } from '../../store/sha256.ts'
import { readRecordBodies } from '../../store/tables/trust-records.ts'
import { checkAuditEvent } from '../../formats/artifacts/audit-event.ts'
import { members, mustHold } from '../../formats/artifacts/evidence.ts'
import type { Members } from '../../formats/json/members.ts'
import { checkIntentTransition } from '../../formats/artifacts/intent-transition.ts'
import { lazyMembers, sameTime, signedIn, checkOf, type Signed } from './check.ts'
import { missingSubjects } from './subjects.ts'

export const auditEvents = checkOf({
  table: 'audit_events',
  columns: {
    key: ['text', 'c.event_id'],
    occurredAt: 'time',
    type: 'text',
    body: 'text',
    seal: 'text',
  },
  read: (row) => signedIn(row, 'audit_events'),
  rules: [
    [
      'does not verify',
      ({ signed, signature }, { crypto }) =>
        mustHold(checkAuditEvent({ event: signed(), signature: signature() }, crypto)),
    ],
    [
      'columns differ from the body',
      ({ key, occurredAt, type, signed }) => {
        const event = signed()
        return event['eventId'] === key && event['type'] === type && sameTime(occurredAt, event['occurredAt'])
      },
    ],
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

/** The intent as it ended. */
interface IntentEnded {
  readonly id: string
  readonly state: string
  readonly resolution: string | null
  readonly closedAt: Date | null
}

export const intentTransitions = checkOf({
  table: 'intent_transitions',
  columns: {
    key: ['text', 'c.transition_id'],
    transactionId: ['text', 'c.business_transaction_id'],
    at: 'time',
    body: 'text',
    seal: 'text',
    audited: [
      'boolean',
      `EXISTS (SELECT FROM audit_events AS a WHERE a.type IN ('intent.resolved', 'intent.finalized')
        AND a.occurred_at = c.at AND strpos(a.body, c.transition_id::text) > 0)`,
    ],
  },
  async complete(rows, { sql }) {
    const ids = rows.map(({ transactionId }) => transactionId)
    const intents = await sql.query<IntentEnded>({
      text: `
        SELECT business_transaction_id AS id, state, resolution, closed_at AS "closedAt"
        FROM execution_intents WHERE business_transaction_id = ANY($1::uuid[])`,
      values: [ids],
    })
    const intentOf = new Map(intents.rows.map((intent) => [intent.id, intent]))
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
        SELECT capability, min(registered_at) AS since FROM external_connectors WHERE read_back GROUP BY capability`,
    })
    const said = await sql.query<{ id: string; body: string }>({
      text: `
        SELECT one.id, a.body FROM unnest($1::text[]) AS one (id)
        JOIN audit_events AS a ON a.type = 'intent.first_word' AND strpos(a.body, one.id) > 0`,
      values: [
        rows.filter(({ body }) => body.includes('"agreedWith"')).map(({ transactionId }) => transactionId),
      ],
    })
    const firstWords = Map.groupBy(said.rows, ({ id }) => id)
    const askable = new Map(registered.rows.map(({ capability, since }) => [capability, since]))
    return rows.map((row) => {
      const record = records.get(row.transactionId)
      return {
        ...row,
        // Undefined where it is missing.
        intent: intentOf.get(row.transactionId),
        // Undefined where there is no record.
        recordHash: record === undefined ? undefined : sha256Hex(record),
        confirmations: new Set(
          confirmations.get(row.transactionId)?.map(({ confirmationId }) => confirmationId),
        ),
        // Since when there were external connectors that can be asked, by capability; the first of each.
        askable,
        // Bodies of the audit events of who spoke first, where it took two humans.
        firstWords: firstWords.get(row.transactionId)?.map(({ body }) => body) ?? [],
      }
    })
  },
  read: (row) => signedIn(row, 'intent_transitions'),
  rules: [
    ['execution intent is missing', ({ intent }) => intent !== undefined],
    [
      'does not verify',
      ({ signed, signature }, { crypto }) =>
        mustHold(checkIntentTransition({ transition: signed(), signature: signature() }, crypto)),
    ],
    [
      'columns differ from the body',
      ({ key, transactionId, at, signed }) => {
        const { transitionId, businessTransactionId, at: signedAt } = signed()
        return transitionId === key && businessTransactionId === transactionId && sameTime(at, signedAt)
      },
    ],
    [
      'execution intent is not in the state that this transition led to',
      ({ at, intent, signed }) => {
        if (intent === undefined) return true
        const { to, resolution = null } = signed()
        return (
          to === intent.state &&
          resolution === intent.resolution &&
          intent.closedAt?.getTime() === at.getTime()
        )
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
      ({ transactionId, firstWords, signed }) => {
        const { agreedWith, resolution } = signed()
        if (agreedWith === undefined) return true
        return firstWords
          .map((body) => lazyMembers(body, 'audit_events')())
          .some(({ callerId, detail }) => {
            const { businessTransactionId, resolution: first } = members(detail)
            return callerId === agreedWith && businessTransactionId === transactionId && first === resolution
          })
      },
    ],
    ['audit event is missing', ({ audited }) => audited],
  ],
})

/** SHA-256 of no bytes: the body of a processed delivery may be emptied (docs/handbook/keeping.md). */
const EMPTIED = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

/** The body's hash is computed where it lies: a delivery can be as large as any request. */
export const webhookEvents = checkOf({
  table: 'webhook_events',
  columns: {
    key: ['text', 'c.event_key'],
    bodySha256: 'text',
    computed: ['text', `encode(sha256(c.body), 'hex')`],
    isProcessed: ['boolean', 'c.processed_at IS NOT NULL'],
    // How often somebody had it processed again.
    reruns: 'number',
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
