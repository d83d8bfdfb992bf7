// The interface between a listener and the front end: a request goes in, a reply comes back.
import type { DropReason } from './refused.ts'

export type HttpVersion = '1.1' | '1.0'

/** A request line and its headers. */
export interface Head {
  /** Upper case. */
  readonly method: string
  /** Raw, not percent-decoded, without the query. Starts with a slash. */
  readonly path: string
  /** Raw, without the question mark; '' when there is none. */
  readonly query: string
  /** A client of HTTP/1.0 gets one reply, without chunks and without a 100, and then the end of its connection. */
  readonly httpVersion: HttpVersion
  /** Declared by Content-Length; 0 when there is none. The guard has refused every request whose length is in question. */
  readonly bodyBytes: number
  /** The peer's address, as `plainAddress` writes it. Only while the head is looked at. */
  remoteAddress(): string
  /** Value of a header by its lower-case name; of a repeated one all values, joined by commas as RFC 9110 §5.3 reads them. */
  readonly header: (name: string) => string | undefined
  /** Lower-case name and value of every header line, in the order they came. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** The decisions that the front end makes by the head alone, before the listener reads on. */
export interface Reception {
  /**
   * `discard`: it is read and thrown away, so that the client gets its reply for certain. `leave`: it is not even read, and the connection
   * ends with the reply, which a client that still sends may not get.
   */
  readonly body: 'read' | 'discard' | 'leave'
  /** For a body that is read: its client is left waiting until it resolves; what has come with the head may be read before. */
  readonly turn?: Promise<void> | undefined
  /** The reply will end the connection: what is pipelined behind this request is not run. */
  readonly endsConnection?: true | undefined
  /**
   * Called once, at once.
   * @param body all of a body that is read, and an empty one else; undefined when the client went away before it came
   * @returns never a rejection; undefined if the client went away before its body came: no reply can be sent
   */
  readonly reply: (body: Promise<Uint8Array | undefined>) => Promise<Reply | undefined>
}

/** The reply of the front end. Content-Length, Date and the connection's framing are the listener's. */
export interface Reply {
  readonly status: number
  /** A `Connection: close` here, spelled so, ends the connection after the reply. */
  readonly headers: Readonly<Record<string, string>>
  /** Nothing of it is sent to a HEAD request, or with status 204 or 304. */
  readonly body: string | Uint8Array
  /** Sent in place of the body while it is made, in chunks (RFC 9112 §7.1); where it throws, the connection is cut. */
  readonly texts?: AsyncIterable<string> | undefined
  /** Called once: the reply has left this process, or its client has gone. */
  readonly sent?: (() => void) | undefined
}

export type OnRequest = (head: Head) => Reception

export interface ListenOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  readonly onRequest: OnRequest
  /** Called for every connection that ends so: it has no log line of a request. */
  readonly onDropped?: (reason: DropReason, remoteAddress: string) => void
  /** Forces one server. By default uWebSockets.js where its binary loads, node:http elsewhere. */
  readonly server?: Listener['server']
  /** For node:http, default `nodeTimeouts`. Those of uWebSockets.js are compiled in; it takes `headMs` for the time that it waits for a head. */
  readonly timeouts?: Timeouts
}

export interface Timeouts {
  /** From a request's first byte, or the connection's start, to the end of its head. */
  readonly headMs: number
  /** From the first byte of a request to the last of its body. */
  readonly requestMs: number
  /** Between a reply and the next request. */
  readonly idleMs: number
  /** Without a byte moving either way: a client that does not read its reply. Above the slowest reply. */
  readonly stalledMs: number
}

export interface Listener {
  readonly server: 'uWebSockets.js' | 'node:http'
  /** Why it is not the one that is preferred; undefined where it is, or where one was asked for. */
  readonly because?: string
  readonly port: number
  /**
   * Takes the connections that already wait to be accepted and then refuses new ones, which is when it resolves. Every reply from
   * now on carries `Connection: close` and ends its connection.
   */
  stopAccepting(): Promise<void>
  /** Resolves when every request that came has its reply, or its client is gone. After `stopAccepting` it does resolve. */
  drained(): Promise<void>
  /** Closes what is still open, answered or not. */
  close(): Promise<void>
}
