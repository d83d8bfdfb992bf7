// Delivers the events of one endpoint, one after the other, for as long as its lease holds (docs/design-notes.md "Events pushed out").
// A thread reads the feed and signs: workers/events/sign.ts. Waiting for answers takes no thread.
import { setTimeout as delay } from 'node:timers/promises'
import { readCursor } from '../../core/events/cursor.ts'
import { reachOf } from '../../core/outbound/address.ts'
import { call, type HttpCall, type HttpOutcome } from '../../core/outbound/call.ts'
import { KeptConnection } from '../../core/outbound/kept.ts'
import { secondsToWait } from '../../core/outbound/retry-after.ts'
import { ATTEMPTS_KEPT, notedAttempts, type Attempt } from '../../store/tables/event-attempts.ts'
import { noteDelivered, noteServed, type Lease } from '../../store/tables/event-deliveries.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import type { SignedEvents } from '../../core/operations/sign-events.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { SERVICE_CLIENT, tryOwnWork, type NotDone } from '../dispatch/own-work.ts'
import type { EventWatch } from '../watch/events.ts'

/** Events that come within this time are read and signed together. */
const GATHER_MS = 100
/** How often an endpoint without new events is looked at, which renews its lease. */
const IDLE_MS_MAX = 8_000
/** Shorter than a lease by more than the time to store the result of an attempt. */
const ATTEMPT_MS = 15_000
/** Progress is stored, and the lease renewed, at least this often: it bounds the events that are delivered again after a crash. */
const STORE_EVERY_MS = 1_000
/** Older signatures are made again: receivers refuse a timestamp that is five minutes old. */
const SIGNATURES_MAX_MS = 60_000

/** The parts that the deliveries of all endpoints share. */
export interface DeliverWith {
  readonly sql: Sql
  readonly submit: Dispatcher['submit']
  readonly watch: EventWatch
  /** Called for each attempt. */
  readonly onAttempt: (outcome: 'delivered' | 'failed') => void
  /** Ends the attempt under way. */
  readonly signal: AbortSignal
}

/** Why an attempt failed. */
export interface AttemptProblem {
  /** Completes "the endpoint …". Reveals nothing of the answer but its status. */
  readonly problem: string
  /** The endpoint answered 410: it wants no more events. */
  readonly gone: boolean
  /** How long the endpoint asked to wait before the next attempt, seconds; 0: it did not. */
  readonly waitSeconds: number
  /** The attempts that are not stored yet, as `notedAttempts` writes them. */
  readonly attempts: string
}

/** Attempts that are not stored yet: the newest of them, and how many there were. */
class Attempts {
  #newest: Attempt[] = []
  #made = 0

  add(made: Attempt): void {
    this.#made++
    this.#newest.push(made)
    if (this.#newest.length > ATTEMPTS_KEPT) this.#newest.shift()
  }

  /** @returns the attempts to be stored, and forgets them here */
  take(): string {
    const noted = notedAttempts(this.#newest, this.#made)
    this.#newest = []
    this.#made = 0
    return noted
  }
}

/**
 * Delivers events as they come, until an attempt fails, the lease is lost or the signal aborts.
 * @returns why the last attempt failed, or why the service could not read and sign the events, to be noted; undefined where the lease is
 *   lost or given back
 */
export async function deliverEvents(
  delivery: DeliverWith,
  lease: Lease,
): Promise<AttemptProblem | NotDone | undefined> {
  const kept = new KeptConnection()
  const attempts = new Attempts()
  let isUnserved = lease.isUnserved
  try {
    while (!delivery.signal.aborted) {
      const { endpointId, lease: token } = lease
      const done = await tryOwnWork(delivery.submit, 'sign-events', { endpointId, lease: token })
      if (done.kind !== 'done') return done
      if (isUnserved) await noteServed(delivery.sql, lease)
      isUnserved = false
      const signed = done.result
      if (signed === null) return undefined
      if ('problem' in signed) return { ...signed, gone: false, waitSeconds: 0, attempts: attempts.take() }
      const ended = await deliverAll(delivery, { lease, kept, signed, attempts })
      if (ended !== 'delivered') return ended === 'lost' ? undefined : ended
      if (!signed.more) await somethingFor(delivery, lease, signed)
    }
    return undefined
  } finally {
    kept.destroy()
  }
}

/** Waits until there may be an event for an endpoint. One look at the feed serves all endpoints. */
async function somethingFor(
  { watch, signal }: DeliverWith,
  { scope }: Lease,
  { events, next }: SignedEvents,
): Promise<void> {
  const place = readCursor(next)
  // An event seldom comes alone.
  const ms = events.length > 0 ? GATHER_MS : IDLE_MS_MAX
  await Promise.all([
    delay(GATHER_MS, undefined, { signal, ref: false }).catch(() => undefined),
    place && watch.wait(place, { scope, client: SERVICE_CLIENT, ms }),
  ])
}

interface SignedForEndpoint {
  readonly lease: Lease
  readonly kept: KeptConnection
  readonly signed: SignedEvents
  readonly attempts: Attempts
}

/** @returns why it ended: all events are delivered, the lease is lost (or the signal aborted), or an attempt failed */
async function deliverAll(
  delivery: DeliverWith,
  { lease, kept, signed: { events, from, next }, attempts }: SignedForEndpoint,
): Promise<'delivered' | 'lost' | AttemptProblem> {
  const { sql, signal, onAttempt } = delivery
  const signedAtMs = performance.now()
  let storedAtMs = signedAtMs
  let cursor = next
  let unstored = false
  /** @returns false where the lease is lost */
  const store = async () => {
    if (!unstored) return true
    unstored = false
    storedAtMs = performance.now()
    return noteDelivered(sql, lease, { cursor, succeeded: true, attempts: attempts.take() })
  }
  for (const { body, headers, cursor: reached, about } of events) {
    if (performance.now() - signedAtMs > SIGNATURES_MAX_MS) return (await store()) ? 'delivered' : 'lost'
    const beganAt = new Date().toISOString()
    const beganAtMs = performance.now()
    const outcome = await attempt(lease, { headers, body, signal }, kept)
    const problem = problemOf(outcome)
    if (signal.aborted) {
      await store()
      return 'lost'
    }
    onAttempt(problem === undefined ? 'delivered' : 'failed')
    if (problem !== undefined && !(await store())) return 'lost'
    attempts.add({
      ...about,
      beganAt,
      durationMs: Math.round(performance.now() - beganAtMs),
      status: outcome.kind === 'answered' ? outcome.status : null,
      problem: problem?.problem ?? null,
    })
    if (problem !== undefined) return { ...problem, attempts: attempts.take() }
    cursor = reached
    unstored = true
    if (performance.now() - storedAtMs > STORE_EVERY_MS && !(await store())) return 'lost'
  }
  cursor = next
  if (unstored) return (await store()) ? 'delivered' : 'lost'
  // None of the events is for this endpoint: only its cursor moves on.
  const holds =
    next === from || noteDelivered(sql, lease, { cursor, succeeded: false, attempts: attempts.take() })
  return (await holds) ? 'delivered' : 'lost'
}

/** Tries once more where the endpoint had closed the kept connection: it recognizes an event that it has already taken by its id. */
async function attempt(
  { url }: Lease,
  sent: Pick<HttpCall, 'headers' | 'body' | 'signal'>,
  kept: KeptConnection,
): Promise<HttpOutcome> {
  const untilMs = performance.now() + ATTEMPT_MS
  const send = () => {
    const timeoutMs = Math.ceil(untilMs - performance.now())
    return call({ method: 'POST', url, ...sent, reach: reachOf(url), timeoutMs }, { kept })
  }
  const wasKept = kept.idle() !== undefined
  const outcome = await send()
  const isAgain = wasKept && outcome.kind === 'lost' && untilMs - performance.now() > ATTEMPT_MS / 2
  return isAgain ? send() : outcome
}

/** Undefined: the endpoint took the event. */
function problemOf(outcome: HttpOutcome): Omit<AttemptProblem, 'attempts'> | undefined {
  const waitSeconds = secondsToWait(outcome, Date.now())
  const failed = (problem: string, gone = false) => ({ problem, gone, waitSeconds })
  if (outcome.kind === 'not-sent')
    return failed(outcome.reason.replace('the endpoint was not reached', 'cannot be reached'))
  if (outcome.kind === 'lost') return failed(`gave no whole answer: ${outcome.cause}`)
  const { status } = outcome
  return status >= 200 && status < 300 ? undefined : failed(`answered ${status}`, status === 410)
}
