// How much the door takes in at once: requests and the bytes of their bodies, from the head to the reply (docs/design-notes.md
// "Backpressure").

/** Bodies on their way, waiting or at work, all callers together. */
const BYTES_MAX = 64 * 1024 * 1024
/** One caller's share: bodies that are announced and never come must not shut the others out. */
const CALLER_BYTES_MAX = BYTES_MAX / 4

export interface Room {
  /**
   * Takes a place for a request whose body is yet to come.
   * in   caller  whose share it counts against
   * out  gives the place back, a second call does nothing; undefined: there is no room
   */
  readonly take: (bodyBytes: number, caller: string) => (() => void) | undefined
  readonly taken: () => { readonly requests: number; readonly bytes: number }
  /** Resolves when every place has been given back. */
  readonly empty: () => Promise<void>
}

export function openRoom(requestsMax: number): Room {
  const bytesOf = new Map<string, number>()
  let requests = 0
  let bytes = 0
  let whenEmpty: (() => void) | undefined

  return {
    take(bodyBytes, caller) {
      const own = bytesOf.get(caller) ?? 0
      if (requests >= requestsMax || bytes + bodyBytes > BYTES_MAX || own + bodyBytes > CALLER_BYTES_MAX)
        return undefined
      requests++
      bytes += bodyBytes
      bytesOf.set(caller, own + bodyBytes)
      let taken = true
      return () => {
        if (!taken) return
        taken = false
        requests--
        bytes -= bodyBytes
        const left = (bytesOf.get(caller) ?? 0) - bodyBytes
        if (left > 0) bytesOf.set(caller, left)
        else bytesOf.delete(caller)
        if (requests === 0) whenEmpty?.()
      }
    },
    taken: () => ({ requests, bytes }),
    empty: () => (requests === 0 ? Promise.resolve() : new Promise((resolve) => (whenEmpty = resolve))),
  }
}
