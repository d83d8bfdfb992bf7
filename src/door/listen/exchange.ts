// One request and its reply, over either server: when the body is read, and when the connection ends (RFC 9112 §9.3, §9.6).
import type { Head, OnHead, Reply } from './listener.ts'

/** A body that nobody wants is read and thrown away up to here; a longer one costs the client its connection. */
const discardBytesMax = 1024 * 1024

/** What a server can do with the request at hand. Both do nothing once the client is gone. */
export interface Wire {
  /**
   * Reads the body to its end and calls `done` once, with all of it if `keep`, else with nothing; or `aborted`, if the client goes
   * away before. Follows OnHead at once.
   */
  readBody(keep: boolean, done: (body: Uint8Array) => void, aborted: () => void): void
  /** Called once, last. */
  write(reply: Reply, close: boolean): void
}

export function exchange(head: Head, onHead: OnHead, isStopping: () => boolean, wire: Wire): void {
  const { bodyBytes } = head
  const clientCloses = /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(head.header('connection') ?? '')
  // A client that asked first may or may not send its body after a refusal: there is nothing to wait for.
  const asksFirst = head.header('expect') !== undefined
  const answer = onHead(head)
  const isUnwanted = bodyBytes > 0 && !('take' in answer)
  const canDiscard = isUnwanted && !asksFirst && bodyBytes <= discardBytesMax
  // Only what is answered at once leaves the connection open: the server then skips the body by itself.
  const bodyCloses = isUnwanted && (!canDiscard || answer instanceof Promise)
  const closes = (reply: Reply): boolean =>
    bodyCloses || clientCloses || isStopping() || reply.headers['Connection'] === 'close'
  const send = (reply: Reply | Promise<Reply>): void => {
    if (reply instanceof Promise) void reply.then(send)
    else wire.write(reply, closes(reply))
  }
  if ('take' in answer) {
    if (bodyBytes === 0) send(answer.take(new Uint8Array(0)))
    else wire.readBody(true, (body) => send(answer.take(body)), answer.aborted)
  } else if (canDiscard && (answer instanceof Promise || closes(answer))) {
    // A socket closed with unread bytes is reset, and the reset can overtake the reply.
    wire.readBody(
      false,
      () => send(answer),
      () => undefined,
    )
  } else {
    send(answer)
  }
}
