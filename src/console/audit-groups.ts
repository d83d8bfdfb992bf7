// Audit events as their page lists them: those that say the same one after the other are one row.
import type { AuditEventWithSignature } from '../formats/schemas/audit-event.ts'

export type Event = AuditEventWithSignature['event']

/** @returns who did it; undefined: nobody with a key */
export function callerOf({ callerId, detail }: Event): string | undefined {
  // A login comes before there is a caller: its detail names one.
  const named = callerId ?? (detail as { callerId?: unknown } | undefined)?.callerId
  return typeof named === 'string' ? named : undefined
}

/** Events one after the other that say the same but for their time and what they are of. */
interface Group {
  /** The newest. */
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

/** Each closing is a word of its own about another execution, which an auditor wants to see. */
const sayingOf = (event: Event) =>
  JSON.stringify([
    event.type,
    event.severity,
    callerOf(event),
    event.reason,
    event.route,
    event.type === 'intent.resolved' ? event.eventId : '',
  ])
