// An event as readers get it: ids, hashes, type and time. It has no parameters of an execution and no names that a caller made up.
import { createHash } from 'node:crypto'
import { Type } from 'typebox'
import { uuidOf } from '../../formats/bytes.ts'
import { resolutions } from '../../formats/schemas/intent-states.ts'
import { changeStatuses } from '../../formats/schemas/governance.ts'
import { Instant, NonEmptyText, Sha256, Uuid } from '../../formats/schemas/primitives.ts'
import { eventTypes, type EventType } from '../../formats/schemas/event-types.ts'

const hash = Type.Optional(Sha256)
const id = Type.Optional(Uuid)

export const Event = Type.Object({
  eventId: Type.String({ ...Uuid, description: 'the same however often the event is read or delivered' }),
  type: Type.Enum([...eventTypes]),
  occurredAt: Instant,
  entry: Type.Object(
    { log: Type.Integer({ minimum: 1 }), index: Type.Integer({ minimum: 0 }) },
    { description: 'its place in the evidence log, which is its place in the feed' },
  ),
  businessTransactionId: id,
  callerId: Type.Optional(NonEmptyText),
  trustRecordHash: hash,
  receiptId: id,
  receiptHash: hash,
  refusalRecordHash: hash,
  auditEventId: id,
  transitionId: id,
  state: Type.Optional(NonEmptyText),
  resolution: Type.Optional(Type.Enum([...resolutions])),
  confirmationId: id,
  provider: Type.Optional(NonEmptyText),
  says: Type.Optional(NonEmptyText),
  deliveryHash: hash,
  requestId: id,
  requestHash: hash,
  expiresAt: Type.Optional(Instant),
  closeId: id,
  noteId: id,
  changeId: id,
  kind: Type.Optional(NonEmptyText),
  target: Type.Optional(NonEmptyText),
  changeHash: hash,
  status: Type.Optional(Type.Enum([...changeStatuses])),
  by: Type.Optional(NonEmptyText),
})
export type FeedEvent = Type.Static<typeof Event>

/** UUIDv5 namespace of events: chosen once, at random. */
const NAMESPACE_HEX = '6b0d7c1e5f4a4c0e9a3d2b8f1c7e4a90'
const NAMESPACE = Buffer.from(NAMESPACE_HEX, 'hex')

/**
 * The id of an event, made from its type and artifact, so that a reader recognizes it when it is read again, also in another log.
 * @returns a UUID of version 5
 */
export function eventIdOf({ type, id: artifact }: { readonly type: EventType; readonly id: string }): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(`${type} ${artifact}`).digest().subarray(0, 16)
  bytes[6] = (bytes[6]! & 0x0f) | 0x50
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return uuidOf(bytes.toString('hex'))
}
