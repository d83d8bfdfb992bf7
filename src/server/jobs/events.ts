// Delivers events to the endpoints of event_endpoints, on every instance (docs/design-notes.md "Events pushed out"). Each endpoint has a lease, so that
// one instance serves it, and is served by itself, so that none waits for another. A thread reads the feed and signs: workers/events/sign.ts.
// Waiting for answers takes no thread.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { errorText } from '../../core/error-text.ts'
import { reachOf } from '../../core/outbound/address.ts'
import { readCursor } from '../../core/events/cursor.ts'
import { call, type HttpCall, type HttpOutcome } from '../../core/outbound/call.ts'
import { KeptConnection } from '../../core/outbound/kept.ts'
import {
  countEventEndpointStates,
  noteDelivered,
  noteFailed,
  releaseLeases,
  takeDueEndpoints,
  type Lease,
} from '../../core/tables/event-deliveries.ts'
import type { Sql } from '../../core/tables/sql.ts'
import type { SignedEvents, UnreadableFeed } from '../../core/thread-messages.ts'
import { within } from '../../core/within.ts'
import { SERVICE_CLIENT, type Dispatcher } from '../dispatch/dispatcher.ts'
import { watchEvents } from '../event-watch.ts'

/** How often an instance looks for endpoints to serve. */
const LOOK_EVERY_MS = 500
/** What happens within this time is read and signed together. */
const GATHER_MS = 100
/** An endpoint that nothing is for is looked at so often, which renews its lease. */
const IDLE_MS_MAX = 8_000
/** Shorter than a lease by more than what is noted of an attempt takes. */
const ATTEMPT_MS = 15_000
/** Progress is stored at least so often, and the lease renewed with it: what is delivered again after a crash is bounded by it. */
const STORE_EVERY_MS = 1_000
/** Older signatures are made again: receivers refuse a timestamp that is five minutes old. */
const SIGNATURES_MAX_MS = 60_000
/** How often /ready and the metrics learn how the endpoints are. */
const STATUS_EVERY_MS = 5_000
const RELEASE_MS = 1_000

export interface Delivering {
  /** Sentences for GET /ready. */
  readonly warnings: () => readonly string[]
  /** Endpoints in each state; undefined: not known yet. */
  readonly states: () => EndpointStates | undefined
  /** Delivers nothing more: attempts under way are given up, and others may take the endpoints at once. */
  readonly close: () => Promise<void>
}

type EndpointStates = Awaited<ReturnType<typeof countEventEndpointStates>>

/**
 * @param sql a pool: statements of several endpoints run beside each other
 * @param onAttempt called for each attempt
 * @param log called when something is wrong that was not before
 */
export function startDelivering({
  sql,
  submit,
  onAttempt = () => undefined,
  log,
}: {
  sql: Sql
  submit: Dispatcher['submit']
  onAttempt?: ((outcome: 'delivered' | 'failed') => void) | undefined
  log: { warn: (line: object, message: string) => void; info: (message: string) => void }
}): Delivering {
  const closing = new AbortController()
  const { signal } = closing
  const watch = watchEvents(sql, { stopping: () => signal.aborted })
  const serving = new Map<string, { readonly lease: Lease; readonly done: Promise<void> }>()
  let states: EndpointStates | undefined
  let readAtMs = -Infinity

  async function look(): Promise<void> {
    for (const lease of await takeDueEndpoints(sql)) {
      const done = serve(lease)
        .catch((error: unknown) => {
          // The lease runs out, and the endpoint is taken again.
          if (!signal.aborted) log.warn({ ...about(lease), reason: errorText(error) }, 'event endpoint')
        })
        .finally(() => {
          // Those of the end are given back in `leave`.
          if (!signal.aborted) serving.delete(lease.lease)
        })
      serving.set(lease.lease, { lease, done })
    }
    if (performance.now() - readAtMs < STATUS_EVERY_MS) return
    readAtMs = performance.now()
    states = await countEventEndpointStates(sql)
  }

  function serve(lease: Lease): Promise<void> {
    const kept = new KeptConnection()
    return deliverOn(lease, kept).finally(() => kept.destroy())
  }

  /** Delivers what comes until an attempt fails or the lease is lost. */
  async function deliverOn(lease: Lease, kept: KeptConnection): Promise<void> {
    while (!signal.aborted) {
      const signed = await signedEvents(lease)
      if (signed === null) return
      if ('problem' in signed) return fail(lease, { ...signed, gone: false })
      if (!(await deliverAll(lease, signed, kept))) return
      if (!signed.more) await somethingFor(lease, signed)
    }
  }

  /** Waits until there may be an event for an endpoint. One look at the feed serves all of them. */
  async function somethingFor({ scope }: Lease, { events, next }: SignedEvents): Promise<void> {
    const place = readCursor(next)
    // One is seldom alone.
    const ms = events.length > 0 ? GATHER_MS : IDLE_MS_MAX
    await Promise.all([
      delay(GATHER_MS, undefined, { signal, ref: false }).catch(() => undefined),
      place && watch.wait(place, { scope, client: SERVICE_CLIENT, ms }),
    ])
  }

  /** @returns null where the lease is lost */
  async function signedEvents(lease: Lease): Promise<SignedEvents | UnreadableFeed | null> {
    const { endpointId, lease: token } = lease
    const reply = await submit({
      operation: 'sign-events',
      client: SERVICE_CLIENT,
      callerIndex: -1,
      body: Buffer.from(JSON.stringify({ endpointId, lease: token })),
    })
    if (reply.status !== 200)
      throw new Error(`its events cannot be read: ${JSON.stringify(reply.log ?? reply.status)}`)
    return JSON.parse(Buffer.from(reply.body).toString()) as SignedEvents | UnreadableFeed | null
  }

  /** @returns false where delivery ends here: an attempt failed, or the lease is lost */
  async function deliverAll(
    lease: Lease,
    { events, from, next }: SignedEvents,
    kept: KeptConnection,
  ): Promise<boolean> {
    const signedAtMs = performance.now()
    let storedAtMs = signedAtMs
    let cursor = next
    let unstored = false
    const store = async () => {
      if (!unstored) return true
      unstored = false
      storedAtMs = performance.now()
      return noteDelivered(sql, lease, { cursor, succeeded: true })
    }
    for (const { body, headers, cursor: reached } of events) {
      if (performance.now() - signedAtMs > SIGNATURES_MAX_MS) return store()
      const problem = problemOf(await attempt(lease, { headers, body }, kept))
      if (signal.aborted) {
        await store()
        return false
      }
      onAttempt(problem === undefined ? 'delivered' : 'failed')
      if (problem !== undefined) {
        if (await store()) await fail(lease, problem)
        return false
      }
      cursor = reached
      unstored = true
      if (performance.now() - storedAtMs > STORE_EVERY_MS && !(await store())) return false
    }
    if (unstored) {
      cursor = next
      return store()
    }
    // Nothing of what was read is for this endpoint.
    return next === from || noteDelivered(sql, lease, { cursor: next, succeeded: false })
  }

  /** Tries once more where the endpoint had closed the connection that was kept: it knows an event that it has taken by its id. */
  async function attempt(
    { url }: Lease,
    sent: Pick<HttpCall, 'headers' | 'body'>,
    kept: KeptConnection,
  ): Promise<HttpOutcome> {
    const untilMs = performance.now() + ATTEMPT_MS
    const send = () =>
      call(
        {
          method: 'POST',
          url,
          ...sent,
          reach: reachOf(url),
          timeoutMs: Math.ceil(untilMs - performance.now()),
          signal,
        },
        { kept },
      )
    const wasKept = kept.idle() !== undefined
    const outcome = await send()
    const isAgain = wasKept && outcome.kind === 'lost' && untilMs - performance.now() > ATTEMPT_MS / 2
    return isAgain ? send() : outcome
  }

  async function fail(lease: Lease, failure: AttemptProblem): Promise<void> {
    const disabled = await noteFailed(sql, lease, failure)
    if (disabled !== true) return
    const reason = `The event endpoint is disabled: it ${failure.problem}.`
    log.warn({ ...about(lease), reason }, 'event endpoint')
    const event = {
      eventId: randomUUID(),
      type: 'event_endpoint.disabled',
      occurredAt: new Date().toISOString(),
      route: 'service',
      reason,
      severity: 'WARNING',
      detail: about(lease),
    }
    await submit({
      operation: 'record-audit-event',
      client: SERVICE_CLIENT,
      callerIndex: -1,
      body: Buffer.from(JSON.stringify(event)),
    })
  }

  async function lookOn(): Promise<void> {
    let failed: string | undefined
    while (!signal.aborted) {
      try {
        await look()
        failed = undefined
      } catch (error) {
        const reason = errorText(error)
        if (reason !== failed && !signal.aborted) log.warn({ reason }, 'event endpoints')
        failed = reason
      }
      await delay(LOOK_EVERY_MS, undefined, { signal, ref: false }).catch(() => undefined)
    }
  }

  /** Attempts are given up by now. */
  async function leave(): Promise<void> {
    await looking
    const leases = Array.from(serving.values(), ({ lease }) => lease)
    await Promise.all(Array.from(serving.values(), ({ done }) => done))
    if (leases.length > 0) await releaseLeases(sql, leases)
  }

  const looking = lookOn()
  return {
    warnings: () => (states === undefined ? [] : warningsOf(states)),
    states: () => states,
    async close() {
      closing.abort()
      await within(RELEASE_MS, leave(), undefined)
    },
  }
}

const about = ({ endpointId }: Lease) => ({ endpointId })

interface AttemptProblem {
  /** Completes "the endpoint …". Says nothing of what was answered but the status. */
  readonly problem: string
  /** It answered 410: it wants no more. */
  readonly gone: boolean
}

/** Undefined: the endpoint took the event. */
function problemOf(outcome: HttpOutcome): AttemptProblem | undefined {
  if (outcome.kind === 'not-sent')
    return {
      problem: outcome.reason.replace('the endpoint was not reached', 'cannot be reached'),
      gone: false,
    }
  if (outcome.kind === 'lost') return { problem: `gave no whole answer: ${outcome.cause}`, gone: false }
  const { status } = outcome
  return status >= 200 && status < 300 ? undefined : { problem: `answered ${status}`, gone: status === 410 }
}

/** Numbers only: GET /ready is open. */
function warningsOf({ failing, disabled }: EndpointStates): string[] {
  return [...counted(failing, 'failing'), ...counted(disabled, 'disabled')]
}

function counted(count: number, what: string): string[] {
  return count === 0
    ? []
    : [`${count} event endpoint${count === 1 ? ' is' : 's are'} ${what}: GET /event-endpoints.`]
}
