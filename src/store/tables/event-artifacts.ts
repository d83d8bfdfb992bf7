// The details that the feed shows of the artifacts that its events are of. Each kind is read by its ids with one statement; on Citus every shard that has one
// of them answers it.
import type { EventType } from '../../formats/schemas/event-types.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'

/** Members of an event (src/core/events/event.ts); those that are undefined have no place in it. */
interface ArtifactDetails {
  readonly occurredAt: string
  readonly [member: string]: string | undefined
}

interface Followed {
  readonly type: EventType
  /** The id of its artifact. */
  readonly id: string
}

/** @returns in the order of the events; undefined for one whose artifact is not there */
export async function readArtifactDetails(
  sql: Sql,
  events: readonly Followed[],
): Promise<(ArtifactDetails | undefined)[]> {
  const found = new Map<Read, ReadonlyMap<string, Row>>()
  const ofKinds = Map.groupBy(events, ({ type }) => kinds[type])
  await Promise.all(
    Array.from(ofKinds, async ([kind, some]) => {
      const { rows } = await sql.query<Row>({
        name: `event_artifacts_${kind.name}`,
        text: kind.text,
        values: [some.map(({ id }) => id)],
      })
      found.set(kind, new Map(rows.map((row) => [row.id, row])))
    }),
  )
  const details = events.map(({ type, id }) => {
    const row = found.get(kinds[type])?.get(id)
    return row && kinds[type].details(row)
  })
  return withCallers(sql, details)
}

/** By a statement of its own: their tables are not distributed, and Citus joins a distributed one with none that is not. */
async function withCallers(
  sql: Sql,
  details: readonly (ArtifactDetails | undefined)[],
): Promise<(ArtifactDetails | undefined)[]> {
  const idOf = (one: ArtifactDetails | undefined) =>
    one?.['callerId'] === undefined ? one?.['businessTransactionId'] : undefined
  const ids = details.flatMap((one) => idOf(one) ?? [])
  if (ids.length === 0) return [...details]
  const { rows } = await sql.query<{ id: string; callerId: string }>({
    name: 'event_artifacts_callers',
    text: `
      SELECT business_transaction_id AS id, caller_id AS "callerId" FROM business_transactions
      WHERE business_transaction_id = ANY ($1::uuid[])`,
    values: [ids],
  })
  const callers = new Map(rows.map(({ id, callerId }) => [id, callerId]))
  return details.map((one) => {
    const callerId = callers.get(idOf(one) ?? '')
    return one && (callerId === undefined ? one : { ...one, callerId })
  })
}

interface Row {
  readonly id: string
  readonly callerId: string | null
  /** JSON. */
  readonly body: string
}

interface Read {
  readonly name: string
  readonly text: string
  readonly details: (row: Row) => ArtifactDetails
}

type Body = Readonly<Record<string, string | undefined>> & {
  readonly detail?: Readonly<Record<string, string>>
}
const parsed = (row: Row) => JSON.parse(row.body) as Body

const execution: Read = {
  name: 'executions',
  text: `
    SELECT r.business_transaction_id AS id, t.caller_id AS "callerId", r.body
    FROM receipts AS r JOIN business_transactions AS t USING (business_transaction_id)
    WHERE r.business_transaction_id = ANY ($1::uuid[]) AND r.ordinal = 1`,
  details(row) {
    const { issuedAt, trustRecordHash, receiptId, receiptHash } = parsed(row)
    return {
      occurredAt: issuedAt!,
      businessTransactionId: row.id,
      callerId: row.callerId ?? undefined,
      trustRecordHash,
      receiptId,
      receiptHash,
    }
  },
}

const refusal: Read = {
  name: 'refusals',
  // The seal is short; the body repeats the whole intent.
  text: `
    SELECT business_transaction_id AS id, caller_id AS "callerId",
      json_build_object('createdAt', ${isoTime('created_at')},
        'refusalRecordHash', seal::json ->> 'refusalRecordHash')::text AS body
    FROM refusal_records WHERE business_transaction_id = ANY ($1::uuid[])`,
  details(row) {
    const { createdAt, refusalRecordHash } = parsed(row)
    return {
      occurredAt: createdAt!,
      businessTransactionId: row.id,
      callerId: row.callerId ?? undefined,
      refusalRecordHash,
    }
  },
}

const audited: Read = {
  name: 'audit_events',
  text: `
    SELECT event_id AS id, NULL AS "callerId", body FROM audit_events WHERE event_id = ANY ($1::uuid[])`,
  details(row) {
    const { occurredAt, detail = {} } = parsed(row)
    const { businessTransactionId, submittedBy, confirmationId, provider, by, says, requestId } = detail
    return {
      occurredAt: occurredAt!,
      businessTransactionId,
      callerId: submittedBy,
      auditEventId: row.id,
      requestId,
      confirmationId,
      provider,
      by,
      says,
    }
  },
}

const closing: Read = {
  name: 'transitions',
  text: `
    SELECT transition_id AS id, NULL AS "callerId", body FROM intent_transitions
    WHERE transition_id = ANY ($1::uuid[])`,
  details(row) {
    const { businessTransactionId, to, resolution, confirmationId, by, at } = parsed(row)
    return {
      occurredAt: at!,
      businessTransactionId,
      transitionId: row.id,
      state: to,
      resolution,
      confirmationId,
      by,
    }
  },
}

const confirmation: Read = {
  name: 'confirmations',
  text: `
    SELECT confirmation_id AS id, NULL AS "callerId", body FROM provider_confirmations
    WHERE confirmation_id = ANY ($1::uuid[])`,
  details(row) {
    const { businessTransactionId, provider, says, deliveryHash, receivedAt } = parsed(row)
    return {
      occurredAt: receivedAt!,
      businessTransactionId,
      confirmationId: row.id,
      provider,
      says,
      deliveryHash,
    }
  },
}

const request: Read = {
  name: 'approval_requests',
  text: `
    SELECT request_id AS id, requested_by AS "callerId",
      json_build_object('requestHash', request_hash, 'createdAt', body::json ->> 'createdAt', 'expiresAt', body::json ->> 'expiresAt')::text AS body
    FROM approval_requests WHERE request_id = ANY ($1::uuid[])`,
  details(row) {
    const { requestHash, createdAt, expiresAt } = parsed(row)
    return {
      occurredAt: createdAt!,
      callerId: row.callerId ?? undefined,
      requestId: row.id,
      requestHash,
      expiresAt,
    }
  },
}

const requestClose: Read = {
  name: 'approval_request_closes',
  text: `
    SELECT c.close_id AS id, r.requested_by AS "callerId", c.body
    FROM approval_request_closes AS c JOIN approval_requests AS r USING (request_id)
    WHERE c.close_id = ANY ($1::uuid[])`,
  details(row) {
    const { requestId, requestHash, by, closedAt } = parsed(row)
    return {
      occurredAt: closedAt!,
      callerId: row.callerId ?? undefined,
      requestId,
      requestHash,
      closeId: row.id,
      by,
    }
  },
}

/** A change has two events: the first is of what was proposed, even when it is read after the second. */
const change = (name: string, body: string): Read => ({
  name,
  text: `
    SELECT change_id AS id, NULL AS "callerId", ${body} AS body FROM pending_changes
    WHERE change_id = ANY ($1::uuid[])`,
  details(row) {
    const { kind, target, changeHash, status, proposedBy, proposedAt, resolvedBy, resolvedAt } = parsed(row)
    return {
      occurredAt: (resolvedAt ?? proposedAt)!,
      changeId: row.id,
      kind,
      target,
      changeHash,
      status,
      by: resolvedBy ?? proposedBy,
    }
  },
})

const kinds: Readonly<Record<EventType, Read>> = {
  'execution.completed': execution,
  'execution.failed': execution,
  'execution.refused': refusal,
  'execution.in_doubt': audited,
  'execution.closed': closing,
  'confirmation.received': confirmation,
  'confirmation.contradicts': audited,
  'change.proposed': change('changes_proposed', 'body'),
  'change.resolved': change('changes_resolved', 'coalesce(resolved_body, body)'),
  'approval_request.opened': request,
  'approval_request.approved': audited,
  'approval_request.declined': requestClose,
  'approval_request.expired': audited,
  'approval_request.ended': audited,
}
