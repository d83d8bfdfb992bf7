// One request and its reply, over either server: when the body is read, and when the connection ends (RFC 9112 §9.3, §9.6).
import type { Head, OnRequest, Reply } from './listener.ts'

/** An unwanted body is read and discarded up to this size; a longer one costs the client its connection. */
export const DISCARD_BYTES_MAX = 1024 * 1024

/** The operations that a server offers for one request. None has an effect once the client is gone. */
export interface Wire {
  /** The reply will end the connection: requests pipelined behind this one are not run. Called at once or not at all. */
  endsHere(): void
  /** Reads the body to its end, from `turn` on, and calls `done` once, with all of it; or `aborted`, if the client goes away before. */
  readBody(done: (body: Uint8Array) => void, aborted: () => void, turn?: Promise<void>): void
  /** Reads the body and throws it away. Calls `done` once, at the end of the body or when the client has gone away. */
  discardBody(done: () => void): void
  /** Called once, last. */
  write(reply: Reply, close: boolean): void
}

export function serveRequest(head: Head, onRequest: OnRequest, isStopping: () => boolean, wire: Wire): void {
  const { bodyBytes } = head
  const accepted = onRequest(head)
  const isUnwanted = bodyBytes > 0 && accepted.body !== 'read'
  // A client that sent `Expect` may or may not send its body after a refusal: there is nothing to wait for.
  const canDiscard =
    accepted.body === 'discard' && head.header('expect') === undefined && bodyBytes <= DISCARD_BYTES_MAX
  const ends =
    accepted.endsConnection === true ||
    head.httpVersion === '1.0' ||
    /(?:^|,)[ \t]*close[ \t]*(?:,|$)/i.test(head.header('connection') ?? '') ||
    (isUnwanted && !canDiscard)
  if (ends || isStopping()) wire.endsHere()
  let abandonBody: (() => void) | undefined
  const reading = accepted.body === 'read' ? readBody(accepted.turn) : NO_BODY
  const discarded =
    isUnwanted && canDiscard ? new Promise<void>((resolve) => wire.discardBody(resolve)) : undefined
  void answer()

  async function answer(): Promise<void> {
    const reply = await accepted.reply(reading)
    if (reply === undefined) return
    const close = ends || isStopping() || reply.headers['Connection'] === 'close'
    // A socket that is closed with unread bytes is reset, and the reset can overtake the reply.
    if (close) await (discarded ?? reading)
    wire.write(reply, close)
    // After a reply neither server says for certain how the body ended: a handler that still waits for it gets undefined.
    abandonBody?.()
  }

  function readBody(turn?: Promise<void>): Promise<Uint8Array | undefined> {
    if (bodyBytes === 0) return NO_BODY
    return new Promise((resolve) => {
      abandonBody = () => resolve(undefined)
      wire.readBody(resolve, abandonBody, turn)
    })
  }
}

const NO_BODY = Promise.resolve(new Uint8Array(0))
