// How much the service takes in at once (docs/design-notes.md "Backpressure"). A request holds a place from the moment its body is
// complete until its reply; bodies that are only announced are counted apart, so that withholding them shuts nobody else out.
import type { Gate } from '../../core/gates.ts'
import { isAddress } from './compute.ts'

/** Bodies that have arrived and large replies that have not left, of all clients together. */
const BYTES_MAX = 64 * 1024 * 1024
/** One client, a caller or an address, may hold this part of the places and of the bytes. */
const CLIENT_SHARE = 4
/** Addresses are for the taking: all of them together may hold this part, so that callers always have the rest. */
const ADDRESSES_SHARE = 2

/** Gives a place back; a second call does nothing. */
export type Leave = () => void

/** Which bound refuses. */
type ShareGate = Extract<Gate, 'places' | 'memory' | 'client-share' | 'addresses-share'>

export interface Announced {
  /** The body is complete. Returns the gate that refuses it a place. */
  readonly arrived: () => Leave | ShareGate
  /** The client went away before. */
  readonly aborted: () => void
}

interface Taken {
  readonly requests: number
  readonly bytes: number
}

export interface Admission {
  /**
   * Expects a body of as many bytes as its header announces, and counts it against the client's share.
   * Returns the gate that refuses it: the client may hold its share of announced bytes, or of places, already.
   */
  readonly announce: (bytes: number, client: string) => Announced | ShareGate | 'announced'
  /** Takes a place at once. Returns the gate that refuses it. */
  readonly take: (bytes: number, client: string) => Leave | ShareGate
  readonly places: () => Taken
  readonly announced: () => Taken
  /** Resolves when every place has been given back. */
  readonly empty: () => Promise<void>
}

export function openAdmission(requestsMax: number): Admission {
  const places = openShares({ requestsMax, bytesMax: BYTES_MAX })
  // Announced, a request costs its connection and nothing else: only bytes have a bound for all clients together.
  const announced = openShares({
    requestsMax: Infinity,
    bytesMax: BYTES_MAX,
    clientRequestsMax: shareOf(requestsMax, CLIENT_SHARE),
  })

  return {
    announce(bytes, client) {
      const refusing = places.refusing(bytes, client)
      if (refusing !== undefined) return refusing
      const leave = announced.take(bytes, client)
      if (typeof leave === 'string') return 'announced'
      return {
        aborted: leave,
        arrived() {
          leave()
          return places.take(bytes, client)
        },
      }
    },
    take: places.take,
    places: places.taken,
    announced: announced.taken,
    empty: places.empty,
  }
}

function shareOf(whole: number, parts: number): number {
  return Math.max(1, Math.floor(whole / parts))
}

interface SharesOptions {
  readonly requestsMax: number
  readonly bytesMax: number
  readonly clientRequestsMax?: number
}

/** Requests and bytes, bounded for all clients together, for those without a key, and for each. */
function openShares({
  requestsMax,
  bytesMax,
  clientRequestsMax = shareOf(requestsMax, CLIENT_SHARE),
}: SharesOptions) {
  const clientBytesMax = shareOf(bytesMax, CLIENT_SHARE)
  const addressesRequestsMax = shareOf(requestsMax, ADDRESSES_SHARE)
  const addressesBytesMax = shareOf(bytesMax, ADDRESSES_SHARE)
  const ofClient = new Map<string, { requests: number; bytes: number }>()
  const ofAddresses = { requests: 0, bytes: 0 }
  let requests = 0
  let bytes = 0
  let whenEmpty: (() => void) | undefined

  /** Which bound one more would exceed; undefined: it fits. */
  function refusing(more: number, client: string): ShareGate | undefined {
    const own = ofClient.get(client)
    if (requests >= requestsMax) return 'places'
    if (bytes + more > bytesMax) return 'memory'
    // A single item larger than a share is let through alone: otherwise it would be refused for ever.
    const addressesAreFull =
      ofAddresses.requests >= addressesRequestsMax || ofAddresses.bytes + more > addressesBytesMax
    if (isAddress(client) && ofAddresses.requests > 0 && addressesAreFull) return 'addresses-share'
    if (own === undefined) return undefined
    return own.requests < clientRequestsMax && own.bytes + more <= clientBytesMax ? undefined : 'client-share'
  }

  function take(more: number, client: string): Leave | ShareGate {
    const gate = refusing(more, client)
    if (gate !== undefined) return gate
    let own = ofClient.get(client)
    if (own === undefined) ofClient.set(client, (own = { requests: 0, bytes: 0 }))
    const held = isAddress(client) ? [own, ofAddresses] : [own]
    requests++
    bytes += more
    for (const one of held) {
      one.requests++
      one.bytes += more
    }
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      requests--
      bytes -= more
      for (const one of held) {
        one.requests--
        one.bytes -= more
      }
      if (ofClient.get(client)?.requests === 0) ofClient.delete(client)
      if (requests === 0) whenEmpty?.()
    }
  }

  return {
    refusing,
    take,
    taken: (): Taken => ({ requests, bytes }),
    empty: (): Promise<void> =>
      requests === 0 ? Promise.resolve() : new Promise((resolve) => (whenEmpty = resolve)),
  }
}
