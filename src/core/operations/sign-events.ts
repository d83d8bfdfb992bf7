// Reads and signs the next events of an endpoint: workers/events/sign.ts.
import type { AttemptedEvent } from '../../store/tables/event-attempts.ts'
import { ONE, ownWork } from './operation.ts'

export interface LeasedFeed {
  readonly endpointId: string
  readonly lease: string
}

export interface SignedEvents {
  /** In the order of the feed, for this endpoint, ready to be sent. */
  readonly events: readonly {
    readonly body: string
    readonly headers: Readonly<Record<string, string>>
    /** The place in the feed after the event. */
    readonly cursor: string
    /** The members that are noted of an attempt to deliver the event. */
    readonly about: AttemptedEvent
  }[]
  /** The range of the feed that was read: from this cursor to `next`. */
  readonly from: string | null
  readonly next: string
  /** Whether more events may already follow `next`. */
  readonly more: boolean
}

/** The cursor of an endpoint does not belong to this feed, as after an old backup was restored. */
export interface UnreadableFeed {
  /** Completes "the endpoint …". */
  readonly problem: string
}

/** Null: the lease is lost. Each item reads a part of the feed and makes some signatures. */
export const signEvents = ownWork<LeasedFeed, SignedEvents | UnreadableFeed | null>({
  lane: 'background',
  countMax: 4,
  bytesMax: Infinity,
  ...ONE,
})
