// The subjects of audit events are looked up: an event that was written in one commit with a row outlives that row's deletion.
import { isUuid } from '../../formats/schemas/primitives.ts'
import { isMembers, type Members } from '../../formats/json/members.ts'
import type { Finding } from './check.ts'
import type { Tools } from './tools.ts'

interface Subject {
  readonly types: readonly string[]
  /** A member of the event's detail; `eventId` is the event's own id, unless its detail has a `webhookEventId`. */
  readonly member:
    'businessTransactionId' | 'changeId' | 'confirmationId' | 'approvalId' | 'requestId' | 'eventId'
  /** Selects the ids in $1 that exist. */
  readonly standing: string
  readonly what: string
}

const SUBJECTS: readonly Subject[] = [
  {
    types: [
      'intent.in_doubt',
      'intent.first_word',
      'intent.resolved',
      'intent.finalized',
      'intent.late_evidence',
    ],
    member: 'businessTransactionId',
    standing: `SELECT business_transaction_id AS id FROM business_transactions WHERE business_transaction_id = ANY($1::uuid[])
      AND execution_authorization IS NOT NULL`,
    what: 'intent',
  },
  {
    types: ['confirmation.contradicts'],
    member: 'confirmationId',
    standing: `SELECT confirmation_id AS id FROM provider_confirmations WHERE confirmation_id = ANY($1::uuid[])`,
    what: 'confirmation',
  },
  {
    types: ['governance.proposed', 'governance.approved', 'governance.rejected'],
    member: 'changeId',
    standing: `SELECT change_id AS id FROM pending_changes WHERE change_id = ANY($1::uuid[])`,
    what: 'change',
  },
  {
    types: ['approval.delivered', 'approval.counter_went_back'],
    member: 'approvalId',
    standing: `SELECT approval_id AS id FROM approvals WHERE approval_id = ANY($1::text[])`,
    what: 'approval',
  },
  {
    types: [
      'approval_request.opened',
      'approval_request.approved',
      'approval_request.noted',
      'approval_request.declined',
      'approval_request.withdrawn',
      'approval_request.expired',
      'approval_request.ended',
    ],
    member: 'requestId',
    standing: `SELECT request_id AS id FROM approval_requests WHERE request_id = ANY($1::uuid[])`,
    what: 'approval request',
  },
  {
    types: ['webhook.processed'],
    member: 'eventId',
    standing: `SELECT event_key AS id FROM webhook_events WHERE event_key = ANY($1::uuid[])`,
    what: 'delivery',
  },
]

/** @param events parsed, each with its key; another check reports unreadable ones */
export async function missingSubjects(
  events: readonly { readonly key: string; readonly event: Members }[],
  { sql }: Pick<Tools, 'sql'>,
): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const { types, member, standing, what } of SUBJECTS) {
    const named = events
      .filter(({ event }) => types.some((type) => event['type'] === type))
      .flatMap(({ key, event }) => {
        // The event of a delivery that was processed again has an id of its own, and names the delivery.
        const id =
          member === 'eventId'
            ? (detailOf(event)['webhookEventId'] ?? event[member])
            : detailOf(event)[member]
        return typeof id === 'string' && (member === 'approvalId' ? isText(id) : isUuid(id))
          ? [{ key, id }]
          : []
      })
    if (named.length === 0) continue
    const { rows } = await sql.query<{ id: string }>({ text: standing, values: [named.map(({ id }) => id)] })
    const found = new Set(rows.map(({ id }) => id))
    for (const { key, id } of named)
      if (!found.has(id))
        findings.push({
          table: 'audit_events',
          key,
          problem: `names ${what} ${id}, which is missing`,
        })
  }
  return findings
}

/** Nothing is stored under an id with a NUL, and with one in a query PostgreSQL ends the snapshot. */
function isText(id: string): boolean {
  return !id.includes('\0')
}

function detailOf({ detail }: Members): Members {
  return isMembers(detail) ? detail : {}
}
