// Delivers events to the event endpoints in effect, on every instance (docs/design-notes.md "Events pushed out"). Each endpoint has a lease, so
// that one instance serves it. Endpoints are served concurrently, so that none waits for another.
import { randomUUID } from 'node:crypto'
import {
  countEventEndpointStates,
  noteFailed,
  noteUnserved,
  releaseLeases,
  takeDueEndpoints,
  type Lease,
} from '../../store/tables/event-deliveries.ts'
import type { Sql } from '../../store/postgres/sql.ts'
import { within } from '../../core/threads/within.ts'
import type { Dispatcher } from '../dispatch/dispatcher.ts'
import { tryOwnWork, whyNotDone, type NotDone } from '../dispatch/own-work.ts'
import { watchEvents } from '../watch/events.ts'
import { deliverEvents, type AttemptProblem, type DeliverWith } from './deliver-events.ts'
import { startDueWork } from './due.ts'

/** How often an instance looks for endpoints to serve. */
const LOOK_EVERY_MS = 500
const RELEASE_MS = 1_000

interface Delivering {
  /** Sentences for GET /ready. */
  readonly warnings: () => readonly string[]
  /** Endpoints in each state; undefined: not known yet. */
  readonly states: () => EndpointStates['states'] | undefined
  /** Delivers nothing more: attempts under way are given up, and other instances may take the endpoints at once. */
  readonly close: () => Promise<void>
}

type EndpointStates = Awaited<ReturnType<typeof countEventEndpointStates>>

interface EndpointLog {
  readonly warn: (line: object, message: string) => void
}

/**
 * @param sql a pool: statements of several endpoints run beside each other
 * @param onAttempt called for each attempt
 * @param log called for each new problem
 */
export function startDelivering({
  sql,
  submit,
  onAttempt = () => undefined,
  log,
}: {
  sql: Sql
  submit: Dispatcher['submit']
  onAttempt?: DeliverWith['onAttempt'] | undefined
  log: EndpointLog
}): Delivering {
  const closing = new AbortController()
  const { signal } = closing
  const watch = watchEvents(sql, { stopping: () => signal.aborted })
  const delivery: DeliverWith = { sql, submit, watch, onAttempt, signal }
  let states: EndpointStates | undefined

  const ended = startDueWork(signal, {
    everyMs: LOOK_EVERY_MS,
    take: () => takeDueEndpoints(sql),
    async settle(lease) {
      const problem = await deliverEvents(delivery, lease)
      if (problem === undefined) return
      if ('kind' in problem) await noteNotServed(sql, { lease, problem, log })
      else await noteFailure(delivery, { lease, problem, log })
    },
    // The lease runs out, and the endpoint is taken again.
    onUnsettled: (lease, reason) => log.warn({ ...about(lease), reason }, 'event endpoint'),
    async readState() {
      states = await countEventEndpointStates(sql)
    },
    onProblem: (reason) => log.warn({ reason }, 'events are not delivered'),
  })

  /** Releases the leases. Attempts are given up by now. */
  async function leave(): Promise<void> {
    const leases = await ended()
    if (leases.length > 0) await releaseLeases(sql, leases)
  }

  return {
    warnings: () => (states === undefined ? [] : warningsOf(states)),
    states: () => states?.states,
    async close() {
      closing.abort()
      await within(RELEASE_MS, leave(), undefined)
    },
  }
}

const about = ({ endpointId }: Lease) => ({ endpointId })

/** Stores a failed attempt. The log has the first failure; too many failures disable the endpoint, which the audit records too. */
async function noteFailure(
  { sql, submit }: DeliverWith,
  {
    lease,
    problem,
    log,
  }: { readonly lease: Lease; readonly problem: AttemptProblem; readonly log: EndpointLog },
): Promise<void> {
  const { disabled = false, failures = 0 } = (await noteFailed(sql, lease, problem)) ?? {}
  const reason = `The event endpoint ${disabled ? 'is disabled' : 'fails, and is tried again'}: it ${problem.problem}.`
  if (disabled || failures === 1) log.warn({ ...about(lease), reason }, 'event endpoint')
  if (!disabled) return
  const event = {
    eventId: randomUUID(),
    type: 'event_endpoint.disabled',
    occurredAt: new Date().toISOString(),
    route: 'service',
    reason,
    severity: 'WARNING',
    detail: about(lease),
  }
  const recorded = await tryOwnWork(submit, 'record-audit-event', event)
  if (recorded.kind !== 'done')
    log.warn({ ...about(lease), event, reason: whyNotDone(recorded) }, 'audit event lost')
}

/**
 * Stores that the service could not read or sign the events of an endpoint, for example because a signing key fails. GET /ready warns of it:
 * the receiver sees only that nothing comes.
 */
async function noteNotServed(
  sql: Sql,
  { lease, problem, log }: { readonly lease: Lease; readonly problem: NotDone; readonly log: EndpointLog },
): Promise<void> {
  const reason = `The service cannot read or sign its events. ${whyNotDone(problem)}`
  const isNew = await noteUnserved(sql, lease, reason)
  const { gate, status, log: logged = { status } } = problem.answer
  if (isNew === true) log.warn({ ...about(lease), reason, gate, ...logged }, 'event endpoint')
}

/** The warnings have numbers only, because GET /ready is open. */
function warningsOf({ states: { failing, disabled }, unserved }: EndpointStates): string[] {
  return [
    ...counted(failing, 'failing'),
    ...counted(disabled, 'disabled'),
    ...counted(unserved, 'not served, because the service cannot read or sign its events'),
  ]
}

function counted(count: number, what: string): string[] {
  return count === 0
    ? []
    : [`${count} event endpoint${count === 1 ? ' is' : 's are'} ${what}: GET /event-endpoints.`]
}
