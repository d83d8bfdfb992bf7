// A queue that serves its clients in turn: a client that sends ten times as much waits ten times as long, and delays no other client.

export interface Queued {
  /** The client whose turn it uses: a callerId, or the address of a client without a key. */
  readonly client: string
  readonly bytes: number
  /** When the item came, milliseconds of `performance.now()`. */
  readonly since: number
}

export interface FairQueue<Item extends Queued> {
  readonly push: (item: Item) => void
  /**
   * Takes one item of each waiting client in turn, the oldest first, until `countMax` items or `bytesMax` bytes are reached. An item that
   * does not fit keeps its place in its client's line; the very first item is taken whatever its size.
   */
  readonly take: (most: { readonly countMax: number; readonly bytesMax: number }) => Item[]
  readonly length: () => number
  /** `since` of the longest waiting item; undefined where nothing waits. */
  readonly oldest: () => number | undefined
  /** Removes and returns the items that came at `since` or before. */
  readonly expire: (since: number) => Item[]
}

/** The waiting items of one client, in the order in which they came. Never empty while the line is in the ring. */
interface Line<Item> {
  readonly client: string
  readonly items: Item[]
}

export function openFairQueue<Item extends Queued>(): FairQueue<Item> {
  const lines = new Map<string, Line<Item>>()
  /** The same lines; the one at the front is served next. */
  let ring: Line<Item>[] = []
  let length = 0

  function removeEmpty(): void {
    for (const { client, items } of ring) if (items.length === 0) lines.delete(client)
    ring = ring.filter(({ items }) => items.length > 0)
  }

  return {
    push(item) {
      let line = lines.get(item.client)
      if (line === undefined) {
        line = { client: item.client, items: [] }
        lines.set(item.client, line)
        ring.push(line)
      }
      line.items.push(item)
      length++
    },
    take({ countMax, bytesMax }) {
      const taken: Item[] = []
      let bytes = 0
      let turn = ring
      // Each round serves the lines that were served in the round before and whose next item still fits.
      while (turn.length > 0 && taken.length < countMax) {
        const served: Line<Item>[] = []
        for (const line of turn) {
          const [next] = line.items
          if (taken.length === countMax) break
          if (next === undefined || (taken.length > 0 && bytes + next.bytes > bytesMax)) continue
          line.items.shift()
          taken.push(next)
          bytes += next.bytes
          served.push(line)
        }
        turn = served
      }
      length -= taken.length
      // The ring continues behind the client that was served last.
      const last = taken.at(-1)?.client
      const at = ring.findIndex(({ client }) => client === last)
      ring = [...ring.slice(at + 1), ...ring.slice(0, at + 1)]
      removeEmpty()
      return taken
    },
    length: () => length,
    oldest() {
      let oldest: number | undefined
      for (const { items } of ring) {
        const since = items[0]?.since
        if (since !== undefined && (oldest === undefined || since < oldest)) oldest = since
      }
      return oldest
    },
    expire(since) {
      const expired = ring.flatMap(({ items }) => {
        const stays = items.findIndex((item) => item.since > since)
        return items.splice(0, stays === -1 ? items.length : stays)
      })
      length -= expired.length
      removeEmpty()
      return expired
    },
  }
}
