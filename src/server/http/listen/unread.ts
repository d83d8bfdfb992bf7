// Connections on which uWebSockets.js has read no request: the library refuses them itself (HTTP/1.0 with 505) and reports nothing.

/** Above the library's time limit for a head: 10 s, counted in steps of 4 s. */
const headMsMax = 16_000

/**
 * @param onUnread called with the peer's address, when later connections open or close
 * @param nowMs any clock that does not go back
 */
export function watchUnread(
  onUnread: (remoteAddress: string) => void,
  headMs = headMsMax,
  nowMs: () => number = () => performance.now(),
) {
  /** Address and port of each connection without a request, and when it was opened; the oldest first. */
  const silent = new Map<string, { readonly remoteAddress: string; readonly openedMs: number }>()

  function forget(peer: string): void {
    const connection = silent.get(peer)
    silent.delete(peer)
    if (connection !== undefined) onUnread(connection.remoteAddress)
  }

  return {
    opened(remoteAddress: string, port: number): void {
      const peer = `${port} ${remoteAddress}`
      // The port is used again: the connection that had it is gone.
      forget(peer)
      silent.set(peer, { remoteAddress, openedMs: nowMs() })
    },
    /** Takes a function: for a request on a kept connection the address is not needed. */
    request(peer: () => readonly [remoteAddress: string, port: number]): void {
      if (silent.size === 0) return
      const [remoteAddress, port] = peer()
      silent.delete(`${port} ${remoteAddress}`)
    },
    /** The library does not tell which connection has closed; a connection that is still silent after `headMs` has. */
    swept(): void {
      for (const [peer, { openedMs }] of silent) {
        if (nowMs() - openedMs < headMs) return
        forget(peer)
      }
    },
  }
}
