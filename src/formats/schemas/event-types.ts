// The types of events, and the entries of the evidence log that are events (docs/handbook/callers.md "Following events").

/** The stored code of each type; a code is never used again. */
const codes = {
  'execution.completed': 1,
  'execution.failed': 2,
  'execution.refused': 3,
  'execution.in_doubt': 4,
  'execution.closed': 5,
  'confirmation.received': 6,
  'confirmation.contradicts': 7,
  'change.proposed': 8,
  'change.resolved': 9,
  'approval_request.opened': 10,
  'approval_request.approved': 11,
  'approval_request.declined': 12,
  'approval_request.expired': 13,
  'approval_request.ended': 14,
  'approval_request.noted': 15,
} as const

export type EventType = keyof typeof codes
export const eventTypes = Object.keys(codes) as EventType[]
export function isEventType(name: string): name is EventType {
  return Object.hasOwn(codes, name)
}

const typesByCode = new Map(eventTypes.map((type) => [codes[type] as number, type]))

/** The mark of an entry whose kind does not determine its event: the event's type, or `none` for no event. */
export type EventMark = EventType | 'none'

export function codeOfEvent(type: EventType): number {
  return codes[type]
}

/** Undefined for a code of a later version. */
export function eventTypeOf(code: number): EventType | undefined {
  return typesByCode.get(code)
}

/** One bit for each code. */
export function codesMask(types: Iterable<EventType>): number {
  let mask = 0
  for (const type of types) mask |= bitOf(codes[type])
  return mask
}

export const bitOf = (code: number): number => 1 << code
