// Accounts for the requests and bytes that this instance holds at once, in three columns. Each is bounded for all clients together, for those
// without a key, and for one client (docs/design-notes.md "Backpressure").
import type { Gate } from '../../../core/errors/gates.ts'
import { isAddress } from './client.ts'
import { bounds } from './index.ts'

/**
 * `announced`: bodies that have not arrived; a client that withholds them shuts out no other. `inFlight`: requests from the moment their body
 * is complete until their reply, and large replies until they have left. `streams`: replies that are made while they are sent.
 */
type Column = 'announced' | 'inFlight' | 'streams'

/** The bound that refuses. */
type PlaceGate = Extract<
  Gate,
  'places' | 'memory' | 'client-share' | 'addresses-share' | 'announced' | 'exports'
>

interface Total {
  readonly requests: number
  readonly bytes: number
}

/** A place in the book. It is given back once, however often it is disposed of. */
export interface Held extends Disposable {
  /**
   * Gives the place back and takes a place in another column.
   * @returns the gate that refuses it; undefined also for a place that was disposed of, which takes no other
   */
  readonly move: (to: Column) => PlaceGate | undefined
}

export interface Book {
  /** Takes a place at once. @returns the gate that refuses it */
  readonly hold: (column: Column, client: string, bytes: number) => Held | PlaceGate
  readonly total: (column: Column) => Total
  /** Resolves when nothing is in flight. */
  readonly empty: () => Promise<void>
}

/** @param requestsMax how many may be in flight: QUEUE_REQUESTS_MAX */
export function openBook(requestsMax: number): Book {
  const inFlight = openColumn({ requestsMax })
  const columns: Readonly<Record<Column, BookColumn>> = {
    inFlight,
    // An announced request costs only its connection, so only bytes have a bound for all clients together.
    announced: openColumn({
      requestsMax: Infinity,
      clientRequestsMax: shareOf(requestsMax, bounds.clientShare),
      gate: 'announced',
      leadsTo: inFlight,
    }),
    streams: openColumn({ requestsMax: bounds.streams, gate: 'exports' }),
  }
  return {
    hold(column, client, bytes) {
      const release = columns[column].take(client, bytes)
      return typeof release === 'string' ? release : heldOf(release, (to) => columns[to].take(client, bytes))
    },
    total: (column) => columns[column].total(),
    empty: inFlight.empty,
  }
}

type Release = () => void

function heldOf(taken: Release, take: (column: Column) => Release | PlaceGate): Held {
  let release: Release | undefined = taken
  const giveBack = () => {
    release?.()
    release = undefined
  }
  return {
    move(to) {
      if (release === undefined) return undefined
      giveBack()
      const next = take(to)
      if (typeof next === 'string') return next
      release = next
      return undefined
    },
    [Symbol.dispose]: giveBack,
  }
}

interface ColumnBounds {
  readonly requestsMax: number
  readonly clientRequestsMax?: number
  /** Named in place of each of the column's bounds. */
  readonly gate?: PlaceGate
  /** The column that a place moves to: a request that has no place there is refused here already. */
  readonly leadsTo?: BookColumn
}

interface BookColumn {
  readonly take: (client: string, bytes: number) => Release | PlaceGate
  /** The bound that one more request would exceed; undefined: it fits. */
  readonly refusing: (client: string, bytes: number) => PlaceGate | undefined
  readonly total: () => Total
  readonly empty: () => Promise<void>
}

function openColumn({
  requestsMax,
  clientRequestsMax = shareOf(requestsMax, bounds.clientShare),
  gate,
  leadsTo,
}: ColumnBounds): BookColumn {
  const bytesMax = bounds.memoryBytes
  const clientBytesMax = shareOf(bytesMax, bounds.clientShare)
  const addressesRequestsMax = shareOf(requestsMax, bounds.addressesShare)
  const addressesBytesMax = shareOf(bytesMax, bounds.addressesShare)
  const ofClient = new Map<string, { requests: number; bytes: number }>()
  const ofAddresses = { requests: 0, bytes: 0 }
  const all = { requests: 0, bytes: 0 }
  let whenEmpty: (() => void) | undefined

  function exceeded(client: string, more: number): PlaceGate | undefined {
    if (all.requests >= requestsMax) return 'places'
    if (all.bytes + more > bytesMax) return 'memory'
    // A single item larger than a share is let through alone: otherwise it would be refused for ever.
    const addressesAreFull =
      ofAddresses.requests >= addressesRequestsMax || ofAddresses.bytes + more > addressesBytesMax
    if (isAddress(client) && ofAddresses.requests > 0 && addressesAreFull) return 'addresses-share'
    const own = ofClient.get(client)
    if (own === undefined) return undefined
    return own.requests < clientRequestsMax && own.bytes + more <= clientBytesMax ? undefined : 'client-share'
  }

  function refusing(client: string, more: number): PlaceGate | undefined {
    const behind = leadsTo?.refusing(client, more)
    if (behind !== undefined) return behind
    const own = exceeded(client, more)
    return own && (gate ?? own)
  }

  function take(client: string, more: number): Release | PlaceGate {
    const refused = refusing(client, more)
    if (refused !== undefined) return refused
    let own = ofClient.get(client)
    if (own === undefined) ofClient.set(client, (own = { requests: 0, bytes: 0 }))
    const counts = isAddress(client) ? [all, own, ofAddresses] : [all, own]
    const add = (requests: number, bytes: number) => {
      for (const count of counts) {
        count.requests += requests
        count.bytes += bytes
      }
    }
    add(1, more)
    return () => {
      add(-1, -more)
      if (ofClient.get(client)?.requests === 0) ofClient.delete(client)
      if (all.requests === 0) whenEmpty?.()
    }
  }

  return {
    take,
    refusing,
    total: () => ({ ...all }),
    empty: () => (all.requests === 0 ? Promise.resolve() : new Promise((resolve) => (whenEmpty = resolve))),
  }
}

/** At least one: where a share is smaller than one place, each client still has one. */
function shareOf(whole: number, parts: number): number {
  return Math.max(1, Math.floor(whole / parts))
}
