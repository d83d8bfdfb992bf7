// The next events of an endpoint are read and signed: workers/events/sign.ts.
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
    /** The place in the feed behind it. */
    readonly cursor: string
    /** What is noted of an attempt to deliver it. */
    readonly about: AttemptedEvent
  }[]
  /** Where the feed was read from, and up to where. */
  readonly from: string | null
  readonly next: string
  /** Whether there may be more behind `next` already. */
  readonly more: boolean
}

/** The cursor of an endpoint is not one of this feed, as where the database has gone back. */
export interface UnreadableFeed {
  /** Completes "the endpoint …". */
  readonly problem: string
}

/** Null: the lease is lost. Each reads a part of the feed and makes some signatures. */
export const signEvents = ownWork<LeasedFeed, SignedEvents | UnreadableFeed | null>({
  lane: 'background',
  countMax: 4,
  bytesMax: Infinity,
  ...ONE,
})
