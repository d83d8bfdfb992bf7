// event_deliveries: how far each event endpoint has been served, and by which instance at this moment (docs/design-notes.md "Events pushed out").
// Every statement of an instance that delivers names its lease: an instance that has lost it changes nothing.
import type { EventScope } from './log-events.ts'
import type { EventType } from '../../formats/schemas/event-types.ts'
import { countOf, noting } from './event-attempts.ts'
import { FAILED_AGAIN, LEASE, pauseSeconds } from './due.ts'
import { isoTime, type Sql } from '../postgres/sql.ts'

/** A lease is renewed when less than this is left. */
const RENEW_SECONDS = 20
/** An endpoint that the service cannot serve is looked at again after this time. */
const UNSERVED_PAUSE = '10 seconds'
/** An endpoint without a success for this long is disabled. */
const GIVE_UP = '3 days'
/** How long a secret that was replaced signs beside the new one. */
const EARLIER_SECRET = '1 day'
/** The shortest time between two redeliveries. */
const REDELIVERY_PAUSE = '1 minute'

/** The secrets of the endpoint `d` that were replaced and still sign, the latest first. */
const EARLIER_SECRETS = `
  ARRAY(SELECT e.secret FROM unnest(d.earlier_secrets, d.earlier_until) AS e (secret, until)
    WHERE e.until > now() ORDER BY e.until DESC)`

export interface EventEndpoint {
  readonly url: string
  /** Only events of these types are sent. */
  readonly types: readonly EventType[]
  /** Whether the parameters of an execution go with its events. */
  readonly withParameters: boolean
  /** Only events of these callers are sent; null: everybody's. */
  readonly callerIds: readonly string[] | null
}

function endpointOf(stated: string): EventEndpoint {
  const {
    url,
    types,
    withParameters,
    callerIds = null,
  } = JSON.parse(stated) as Partial<EventEndpoint> & Omit<EventEndpoint, 'callerIds'>
  return { url, types, withParameters, callerIds }
}

/** SQL: the row `e` of `authority` is the endpoint of the deliveries `d`, and in effect. */
const IS_ENDPOINT = `e.kind = 'event-endpoint' AND e.key = d.endpoint_id::text AND e.ended_at IS NULL`

/** Starts the deliveries to an endpoint at a place in the feed; null: at the first event. */
export async function openDeliveries(sql: Sql, endpointId: string, cursor: string | null): Promise<void> {
  await sql.query(`INSERT INTO event_deliveries (endpoint_id, cursor) VALUES ($1::uuid, $2::text)`, [
    endpointId,
    cursor,
  ])
}

/** Deletes the rows of revoked endpoints, and with them their secrets. */
export async function endDeliveries(sql: Sql, endpointIds: readonly string[]): Promise<void> {
  await sql.query(`DELETE FROM event_deliveries WHERE endpoint_id = ANY($1::uuid[])`, [endpointIds])
}

/** The right to deliver to an endpoint. */
export interface Lease {
  readonly endpointId: string
  /** A UUID. */
  readonly lease: string
  readonly url: string
  /** The events that it is sent. */
  readonly scope: EventScope
  /** Whether the service failed to serve it the last time. */
  readonly isUnserved: boolean
}

/** The events of one caller have an index; those of several are picked from the events of all. */
export function scopeOf({
  types,
  callerIds,
}: {
  readonly types: readonly EventType[]
  readonly callerIds: readonly string[] | null
}): EventScope {
  return { callerId: callerIds?.length === 1 ? (callerIds[0] ?? null) : null, types }
}

/** Takes every endpoint that is due and that no instance serves. */
export async function takeDueEndpoints(sql: Sql): Promise<Lease[]> {
  const { rows } = await sql.query<Omit<Lease, 'scope' | 'url'> & { stated: string }>({
    name: 'event_deliveries_take_due',
    text: `
      UPDATE event_deliveries AS d
      SET lease = gen_random_uuid(), leased_until = now() + ${LEASE}
      FROM authority AS e
      WHERE ${IS_ENDPOINT} AND d.endpoint_id IN (
        SELECT endpoint_id FROM event_deliveries
        WHERE disabled_at IS NULL AND due_at <= now() AND leased_until < now() FOR UPDATE SKIP LOCKED
      )
      RETURNING d.endpoint_id AS "endpointId", d.lease, d.unserved_since IS NOT NULL AS "isUnserved", e.stated`,
  })
  return rows.map(({ stated, ...lease }) => {
    const endpoint = endpointOf(stated)
    return { ...lease, url: endpoint.url, scope: scopeOf(endpoint) }
  })
}

/** An endpoint, which says which events to sign for it, with the secrets that sign them. */
export interface LeasedEndpoint extends EventEndpoint {
  /** Null: from the first event. */
  readonly cursor: string | null
  /** Keys of the HMAC, the newest first. */
  readonly secrets: readonly Buffer[]
}

/**
 * Reads an endpoint, and renews the lease where little is left of it.
 * @returns null where the lease is lost, or the endpoint revoked
 */
export async function readLeased(
  sql: Sql,
  { endpointId, lease }: Pick<Lease, 'endpointId' | 'lease'>,
): Promise<LeasedEndpoint | null> {
  const { rows } = await sql.query<{
    cursor: string | null
    stated: string
    secret: Buffer | null
    earlier: readonly Buffer[]
  }>({
    name: 'event_deliveries_read_leased',
    text: `
      WITH renewed AS (
        UPDATE event_deliveries SET leased_until = now() + ${LEASE}
        WHERE endpoint_id = $1::uuid AND lease = $2::uuid AND leased_until < now() + interval '${RENEW_SECONDS} seconds'
      )
      SELECT d.cursor, e.stated, d.secret, ${EARLIER_SECRETS} AS earlier
      FROM event_deliveries AS d JOIN authority AS e ON ${IS_ENDPOINT}
      WHERE d.endpoint_id = $1::uuid AND d.lease = $2::uuid`,
    values: [endpointId, lease],
  })
  const [row] = rows
  if (row === undefined) return null
  const { secret, earlier, cursor, stated } = row
  return {
    cursor,
    ...endpointOf(stated),
    secrets: secret === null ? [] : [secret, ...earlier],
  }
}

/**
 * Notes that everything up to a cursor is delivered, and renews the lease.
 * @param progress.succeeded whether the endpoint took an event; false: there was none for it
 * @param progress.attempts from `notedAttempts`
 * @returns false where the lease is lost
 */
export async function noteDelivered(
  sql: Sql,
  { endpointId, lease }: Pick<Lease, 'endpointId' | 'lease'>,
  {
    cursor,
    succeeded,
    attempts,
  }: { readonly cursor: string; readonly succeeded: boolean; readonly attempts: string },
): Promise<boolean> {
  const result = await sql.query({
    name: 'event_deliveries_delivered',
    text: noting(
      `
      UPDATE event_deliveries SET cursor = $3::text, leased_until = now() + ${LEASE},
        last_success_at = CASE WHEN $4::boolean THEN now() ELSE last_success_at END,
        failures = CASE WHEN $4::boolean THEN 0 ELSE failures END,
        failing_since = CASE WHEN $4::boolean THEN NULL ELSE failing_since END, attempts = attempts + ${countOf('$5')}
      WHERE endpoint_id = $1::uuid AND lease = $2::uuid RETURNING attempts`,
      '$5',
      'true AS holds',
    ),
    values: [endpointId, lease, cursor, succeeded, attempts],
  })
  return result.rowCount === 1
}

/**
 * Notes a failed attempt, and gives the lease back.
 * @param failure.problem completes "the endpoint …"
 * @param failure.gone whether it wants no more events (410)
 * @param failure.waitSeconds the pause that it asked for
 * @param failure.attempts from `notedAttempts`
 * @returns whether it is disabled now, and how many attempts have failed since the last success; undefined where the lease is lost
 */
export async function noteFailed(
  sql: Sql,
  { endpointId, lease }: Lease,
  {
    problem,
    gone,
    waitSeconds,
    attempts,
  }: {
    readonly problem: string
    readonly gone: boolean
    readonly waitSeconds: number
    readonly attempts: string
  },
): Promise<{ readonly disabled: boolean; readonly failures: number } | undefined> {
  const result = await sql.query<{ disabled: boolean; failures: number }>({
    name: 'event_deliveries_failed',
    text: noting(
      `
      UPDATE event_deliveries SET lease = NULL, leased_until = '-infinity', ${FAILED_AGAIN},
        last_failure_at = now(), problem = $3::text, attempts = attempts + ${countOf('$6')},
        due_at = now() + ${pauseSeconds({ max: 600, asked: '$5::integer' })} * interval '1 second',
        disabled_at = CASE WHEN $4::boolean OR failing_since < now() - interval '${GIVE_UP}' THEN now() END
      WHERE endpoint_id = $1::uuid AND lease = $2::uuid RETURNING attempts, disabled_at IS NOT NULL AS disabled, failures`,
      '$6',
      'disabled, failures',
    ),
    values: [endpointId, lease, problem, gone, waitSeconds, attempts],
  })
  return result.rows[0]
}

/**
 * Notes that the service itself could not read or sign the events, and gives the lease back. It is no failure of the endpoint, which is
 * not disabled for it.
 * @param reason a sentence
 * @returns whether it was served until now; undefined where the lease is lost
 */
export async function noteUnserved(
  sql: Sql,
  { endpointId, lease }: Lease,
  reason: string,
): Promise<boolean | undefined> {
  const { rows } = await sql.query<{ isNew: boolean }>({
    text: `
      UPDATE event_deliveries SET lease = NULL, leased_until = '-infinity', due_at = now() + interval '${UNSERVED_PAUSE}',
        unserved_since = coalesce(unserved_since, now()), unserved_reason = $3::text
      WHERE endpoint_id = $1::uuid AND lease = $2::uuid RETURNING unserved_since = now() AS "isNew"`,
    values: [endpointId, lease, reason],
  })
  return rows[0]?.isNew
}

/** Notes that the service reads and signs the events again. */
export async function noteServed(sql: Sql, { endpointId, lease }: Lease): Promise<void> {
  await sql.query({
    text: `
      UPDATE event_deliveries SET unserved_since = NULL, unserved_reason = NULL WHERE endpoint_id = $1::uuid AND lease = $2::uuid`,
    values: [endpointId, lease],
  })
}

/** Gives leases back: another instance may go on at once. */
export async function releaseLeases(sql: Sql, leases: readonly Lease[]): Promise<void> {
  await sql.query({
    text: `UPDATE event_deliveries SET lease = NULL, leased_until = '-infinity' WHERE lease = ANY($1::uuid[])`,
    values: [leases.map(({ lease }) => lease)],
  })
}

/**
 * Makes an endpoint due at once, under `lockEndpoint`, and enables it where it was disabled. The instance that serves it now loses its lease. The
 * start of its failures stays: only a success ends them, so that repeated requests never put off the end of the three days.
 * @param redelivery.cursor the place to start at; null: where it stopped
 * @param redelivery.until the end of the feed; null: there is no feed yet
 */
export async function redeliver(
  sql: Sql,
  {
    endpointId,
    cursor,
    until,
  }: { readonly endpointId: string; readonly cursor: string | null; readonly until: string | null },
): Promise<void> {
  await sql.query({
    text: `
      UPDATE event_deliveries SET cursor = coalesce($2::text, cursor), lease = NULL, leased_until = '-infinity',
        due_at = '-infinity', disabled_at = NULL, failures = 0,
        redelivered_at = now(), redelivered_until = $3::text
      WHERE endpoint_id = $1::uuid`,
    values: [endpointId, cursor, until],
  })
}

/** The locked row decides whether a human needs a step-up or has to wait; it cannot change until the transaction ends. */
interface LockedEndpoint {
  /** Null: from the first event. */
  readonly cursor: string | null
  /** How many replaced secrets still sign. */
  readonly earlierSecrets: number
  /** Whether it takes events: it is neither failing nor disabled. */
  readonly delivers: boolean
  /** The end of the feed when the last redelivery was asked for; null: none was, or there was no feed. */
  readonly redeliveredUntil: string | null
  /** Whole seconds until the pause after the last redelivery is over; 0: it is over. */
  readonly pauseSeconds: number
}

/** Undefined where no such endpoint is in effect. */
export async function lockEndpoint(sql: Sql, endpointId: string): Promise<LockedEndpoint | undefined> {
  const { rows } = await sql.query<LockedEndpoint>({
    text: `
      SELECT d.cursor, cardinality(${EARLIER_SECRETS}) AS "earlierSecrets",
        d.disabled_at IS NULL AND d.failing_since IS NULL AS delivers, d.redelivered_until AS "redeliveredUntil",
        greatest(0, ceil(extract(epoch FROM d.redelivered_at + interval '${REDELIVERY_PAUSE}' - now())))::integer AS "pauseSeconds"
      FROM event_deliveries AS d WHERE d.endpoint_id = $1::uuid FOR UPDATE`,
    values: [endpointId],
  })
  return rows[0]
}

/**
 * Replaces the secret of an endpoint, under `lockEndpoint`. The previous one signs for another day, and each before that until its own day is
 * over.
 * @param secret 32 bytes
 * @returns until when the previous one signs, ISO 8601; null where there was none
 */
export async function replaceSecret(sql: Sql, endpointId: string, secret: Buffer): Promise<string | null> {
  const { rows } = await sql.query<{ until: string | null }>({
    text: `
      WITH replaced AS (
        SELECT array_agg(signing.secret ORDER BY signing.until DESC) AS secrets,
          array_agg(signing.until ORDER BY signing.until DESC) AS untils, max(signing.until) FILTER (WHERE signing.newest) AS until
        FROM (
          SELECT d.secret, now() + interval '${EARLIER_SECRET}' AS until, true AS newest
          FROM event_deliveries AS d WHERE d.endpoint_id = $1::uuid AND d.secret IS NOT NULL
          UNION ALL
          SELECT e.secret, e.until, false FROM event_deliveries AS d, unnest(d.earlier_secrets, d.earlier_until) AS e (secret, until)
          WHERE d.endpoint_id = $1::uuid AND e.until > now()) AS signing)
      UPDATE event_deliveries SET secret = $2::bytea, earlier_secrets = coalesce(replaced.secrets, '{}'),
        earlier_until = coalesce(replaced.untils, '{}')
      FROM replaced WHERE endpoint_id = $1::uuid RETURNING ${isoTime('replaced.until')} AS until`,
    values: [endpointId, secret],
  })
  return rows[0]?.until ?? null
}

interface EventEndpointStatus extends EventEndpoint {
  /** The change that registered it. */
  readonly endpointId: string
  readonly registeredAt: string
  readonly state: 'delivering' | 'failing' | 'disabled'
  /** Null: from the first event. */
  readonly cursor: string | null
  readonly hasSecret: boolean
  /** ISO 8601, as all times of it; null: never. */
  readonly lastSuccessAt: string | null
  readonly lastFailureAt: string | null
  /** Completes "the endpoint …". */
  readonly lastFailure: string | null
  readonly failingSince: string | null
  /** Null unless `state` is failing. */
  readonly nextAttemptAt: string | null
  /** Until when the last replaced secret still signs; null: none does. */
  readonly previousSecretUntil: string | null
  /** Since when the service cannot read or sign its events, and why, as a sentence. */
  readonly unservedSince: string | null
  readonly unservedReason: string | null
}

/** @param endpointId only this endpoint; null: all that are in effect, by URL */
export async function readEventEndpoints(
  sql: Sql,
  endpointId: string | null = null,
): Promise<EventEndpointStatus[]> {
  const { rows } = await sql.query<Omit<EventEndpointStatus, keyof EventEndpoint> & { stated: string }>({
    text: `
      SELECT d.endpoint_id AS "endpointId", e.stated, ${isoTime('e.began_at')} AS "registeredAt",
        CASE WHEN d.disabled_at IS NOT NULL THEN 'disabled' WHEN d.failing_since IS NOT NULL THEN 'failing' ELSE 'delivering' END AS state,
        d.cursor, d.secret IS NOT NULL AS "hasSecret", ${isoTime('d.last_success_at')} AS "lastSuccessAt",
        ${isoTime('d.last_failure_at')} AS "lastFailureAt",
        d.problem AS "lastFailure", ${isoTime('d.failing_since')} AS "failingSince",
        CASE WHEN d.disabled_at IS NULL AND d.failing_since IS NOT NULL AND d.due_at > '-infinity' THEN ${isoTime('d.due_at')} END AS "nextAttemptAt",
        (SELECT ${isoTime('max(until)')} FROM unnest(d.earlier_until) AS until WHERE until > now()) AS "previousSecretUntil",
        ${isoTime('d.unserved_since')} AS "unservedSince", d.unserved_reason AS "unservedReason"
      FROM event_deliveries AS d JOIN authority AS e ON ${IS_ENDPOINT}
      WHERE $1::uuid IS NULL OR d.endpoint_id = $1::uuid ORDER BY e.target`,
    values: [endpointId],
  })
  return rows.map(({ endpointId: id, stated, ...row }) => ({ endpointId: id, ...endpointOf(stated), ...row }))
}

type EventEndpointStates = Readonly<Record<'delivering' | 'failing' | 'disabled', number>>

/** How many endpoints are in each state, and how many of those that are not disabled the service itself fails to serve. */
export async function countEventEndpointStates(
  sql: Sql,
): Promise<{ readonly states: EventEndpointStates; readonly unserved: number }> {
  const { rows } = await sql.query<EventEndpointStates & { unserved: number }>({
    text: `
      SELECT count(*) FILTER (WHERE disabled_at IS NULL AND failing_since IS NULL)::integer AS delivering,
        count(*) FILTER (WHERE disabled_at IS NULL AND failing_since IS NOT NULL)::integer AS failing,
        count(disabled_at)::integer AS disabled,
        count(unserved_since) FILTER (WHERE disabled_at IS NULL)::integer AS unserved
      FROM event_deliveries`,
  })
  const { unserved, ...states } = rows[0] ?? { delivering: 0, failing: 0, disabled: 0, unserved: 0 }
  return { states, unserved }
}
