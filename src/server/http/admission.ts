// How much the service takes in at once (docs/design-notes.md "Backpressure"). A request holds a place from the moment its body is
// complete until its reply; bodies that are only announced are counted apart, so that withholding them shuts nobody else out.

/** Bodies that have arrived and large replies that have not left, of all clients together. */
const BYTES_MAX = 64 * 1024 * 1024
/** One client, a caller or an address, may hold this part of the places and of the bytes. */
const CLIENT_SHARE = 4

/** Gives a place back; a second call does nothing. */
export type Leave = () => void

export interface Announced {
  /** The body is complete. Returns undefined where no place is free. */
  readonly arrived: () => Leave | undefined
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
   * Returns undefined where the client holds its share of announced bytes, or of places, already.
   */
  readonly announce: (bytes: number, client: string) => Announced | undefined
  /** Takes a place at once. Returns undefined where none is free. */
  readonly take: (bytes: number, client: string) => Leave | undefined
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
    clientRequestsMax: shareOf(requestsMax),
  })

  return {
    announce(bytes, client) {
      if (!places.has(bytes, client)) return undefined
      const leave = announced.take(bytes, client)
      if (leave === undefined) return undefined
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

function shareOf(whole: number): number {
  return Math.max(1, Math.floor(whole / CLIENT_SHARE))
}

interface SharesOptions {
  readonly requestsMax: number
  readonly bytesMax: number
  readonly clientRequestsMax?: number
}

/** Requests and bytes, bounded for all clients together and for each. */
function openShares({ requestsMax, bytesMax, clientRequestsMax = shareOf(requestsMax) }: SharesOptions) {
  const clientBytesMax = shareOf(bytesMax)
  const ofClient = new Map<string, { requests: number; bytes: number }>()
  let requests = 0
  let bytes = 0
  let whenEmpty: (() => void) | undefined

  /** Whether one more fits. */
  function has(more: number, client: string): boolean {
    const own = ofClient.get(client)
    if (requests >= requestsMax || bytes + more > bytesMax) return false
    // A single item larger than the client's share is let through alone: otherwise it would be refused for ever.
    if (own === undefined) return true
    return own.requests < clientRequestsMax && own.bytes + more <= clientBytesMax
  }

  function take(more: number, client: string): Leave | undefined {
    if (!has(more, client)) return undefined
    let own = ofClient.get(client)
    if (own === undefined) ofClient.set(client, (own = { requests: 0, bytes: 0 }))
    requests++
    bytes += more
    own.requests++
    own.bytes += more
    const held = own
    let isTaken = true
    return () => {
      if (!isTaken) return
      isTaken = false
      requests--
      bytes -= more
      held.requests--
      held.bytes -= more
      if (held.requests === 0) ofClient.delete(client)
      if (requests === 0) whenEmpty?.()
    }
  }

  return {
    has,
    take,
    taken: (): Taken => ({ requests, bytes }),
    empty: (): Promise<void> =>
      requests === 0 ? Promise.resolve() : new Promise((resolve) => (whenEmpty = resolve)),
  }
}
