// One request and its reply, over either server: when the body is read, and when the connection ends (RFC 9112 §9.3, §9.6).
import type { Head, OnHead, Reply } from './listener.ts'

/** A body that nobody wants is read and thrown away up to here; a longer one costs the client its connection. */
const discardBytesMax = 1024 * 1024

/** What a server can do with the request at hand. Nothing of it does anything once the client is gone. */
export interface Wire {
  /** The reply will end the connection: whatever comes behind this request is not run. Follows OnHead at once, as the next two do. */
  endsHere(): void
  /** Reads the body to its end and calls `done` once, with all of it; or `aborted`, if the client goes away before. */
  readBody(done: (body: Uint8Array) => void, aborted: () => void): void
  /** Reads the body and throws it away. Calls `done` once, at the end of the body or when the client has gone away. */
  discardBody(done: () => void): void
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
  const closesAnyway = (): boolean => (isUnwanted && !canDiscard) || clientCloses || isStopping()
  const closes = (reply: Reply): boolean => closesAnyway() || reply.headers['Connection'] === 'close'
  const send = (reply: Reply | Promise<Reply>): void => {
    if (reply instanceof Promise) void reply.then(send)
    else wire.write(reply, closes(reply))
  }
  if ('headers' in answer ? closes(answer) : closesAnyway()) wire.endsHere()
  if ('take' in answer) {
    if (bodyBytes === 0) send(answer.take(new Uint8Array(0)))
    else wire.readBody((body) => send(answer.take(body)), answer.aborted)
  } else if (canDiscard && (answer instanceof Promise || closes(answer))) {
    // A socket closed with unread bytes is reset, and the reset can overtake the reply. What is answered at once and leaves the
    // connection open needs no waiting: the server then skips the body by itself.
    // An answer that is there by the end of the body goes out at once: uWebSockets.js goes on to what is pipelined behind it.
    let reply = answer
    if (answer instanceof Promise) void answer.then((known) => (reply = known))
    wire.discardBody(() => send(reply))
  } else {
    send(answer)
  }
}
