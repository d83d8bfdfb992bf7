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
  /** The peer's address, as `plainAddress` writes it. Available only while the head is handled. */
  remoteAddress(): string
  /** Value of a header by its lower-case name; of a repeated header all values, joined by commas as RFC 9110 §5.3 reads them. */
  readonly header: (name: string) => string | undefined
  /** Lower-case name and value of every header line, in the order they came. */
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** The decisions that the front end makes from the head alone, before the listener reads on. */
export interface Reception {
  /**
   * `discard`: the body is read and thrown away, so that the client gets its reply for certain. `leave`: the body is not even read, and the
   * connection ends with the reply, which a client that still sends may not get.
   */
  readonly body: 'read' | 'discard' | 'leave'
  /** For a body that is read: reading begins when this resolves; bytes that came with the head may be read before. */
  readonly turn?: Promise<void> | undefined
  /** The reply will end the connection: requests pipelined behind this one are not run. */
  readonly endsConnection?: true | undefined
  /**
   * Called once, at once.
   * @param body the whole body if it is read, else an empty one; undefined when the client went away before its body came
   * @returns never a rejection; undefined when the client went away before its body came: no reply can be sent
   */
  readonly reply: (body: Promise<Uint8Array | undefined>) => Promise<Reply | undefined>
}

/** The reply of the front end. Content-Length, Date and the connection's framing are the listener's. */
export interface Reply {
  readonly status: number
  /** A `Connection: close` here, spelled so, ends the connection after the reply. */
  readonly headers: Readonly<Record<string, string>>
  /** Not sent to a HEAD request, or with status 204 or 304. */
  readonly body: string | Uint8Array
  /** Sent in place of the body while they are made, in chunks (RFC 9112 §7.1); if one cannot be made, the connection is cut. */
  readonly texts?: AsyncIterable<string> | undefined
  /** Called once, when the reply has left this process or its client has gone. */
  readonly sent?: (() => void) | undefined
}

export type OnRequest = (head: Head) => Reception

export interface ListenOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  readonly onRequest: OnRequest
  /** Called for every connection that the listener drops: such a connection has no log line of a request. */
  readonly onDropped?: (reason: DropReason, remoteAddress: string) => void
  /** Forces one server. By default uWebSockets.js where its binary loads, node:http elsewhere. */
  readonly server?: Listener['server']
  /** For node:http, default `nodeTimeouts`. Those of uWebSockets.js are compiled in; there `headMs` only says how long it waits for a head. */
  readonly timeouts?: Timeouts
}

export interface Timeouts {
  /** From a request's first byte, or the connection's start, to the end of its head. */
  readonly headMs: number
  /** From the first byte of a request to the last of its body. */
  readonly requestMs: number
  /** Between a reply and the next request. */
  readonly idleMs: number
  /** Without a byte in either direction, as when a client does not read its reply. Longer than the slowest reply. */
  readonly stalledMs: number
}

export interface Listener {
  readonly server: 'uWebSockets.js' | 'node:http'
  /** Why the preferred server is not used; undefined where it is, or where `server` forces one. */
  readonly because?: string
  readonly port: number
  /**
   * Accepts the connections that already wait, then refuses new ones and resolves. Every reply from now on carries `Connection: close` and
   * ends its connection.
   */
  stopAccepting(): Promise<void>
  /** Resolves when every request that came has its reply, or its client is gone. Only after `stopAccepting` is that certain to happen. */
  drained(): Promise<void>
  /** Closes all open connections, answered or not. */
  close(): Promise<void>
}
