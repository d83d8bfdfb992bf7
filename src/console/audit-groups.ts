// Audit events as their page lists them: consecutive events that say the same share a row.
import type { AuditEventWithSignature } from '../formats/schemas/audit-event.ts'

export type Event = AuditEventWithSignature['event']

/** @returns the caller of an event; undefined: no caller with a key */
export function callerOf({ callerId, detail }: Event): string | undefined {
  // The event of a login has no caller yet: its detail names the caller.
  const named = callerId ?? (detail as { callerId?: unknown } | undefined)?.callerId
  return typeof named === 'string' ? named : undefined
}

/** Consecutive events that differ only in their time and their subject. */
interface Group {
  /** The newest event of the group. */
  readonly event: Event
  readonly others: readonly Event[]
}

/** @param events of a page, newest first @returns a group for each run of events that say the same */
export function grouped(events: readonly AuditEventWithSignature[]): readonly Group[] {
  const groups: { event: Event; others: Event[] }[] = []
  for (const { event } of events) {
    const last = groups.at(-1)
    if (last !== undefined && sayingOf(last.event) === sayingOf(event)) last.others.push(event)
    else groups.push({ event, others: [] })
  }
  return groups
}

/** Closings (`intent.resolved`) never say the same: each is about another execution, and an auditor wants to see it. */
const sayingOf = (event: Event) =>
  JSON.stringify([
    event.type,
    event.severity,
    callerOf(event),
    event.reason,
    event.route,
    event.type === 'intent.resolved' ? event.eventId : '',
  ])
