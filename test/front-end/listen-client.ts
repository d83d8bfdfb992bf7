// A client of single bytes: says exactly what is written on a connection, and collects what comes back.
import { connect, type Socket } from 'node:net'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'

export interface Connection {
  readonly socket: Socket
  /** Everything received so far, as Latin-1. */
  readonly received: () => string
  readonly isClosed: () => boolean
  /** Closed with bytes unread or unsent: what was received last may be missing. */
  readonly wasReset: () => boolean
  /** Writes each part and lets the listener, which shares this event loop, read it before the next. */
  send(...parts: string[]): Promise<void>
}

/** Opens a connection that never throws: a reset is a close like any other. */
export async function open(port: number, host = '127.0.0.1'): Promise<Connection> {
  const socket = connect({ port, host, noDelay: true })
  let received = ''
  let closed = false
  let reset = false
  socket.on('data', (chunk) => (received += chunk.toString('latin1')))
  socket.on('error', () => (reset = true))
  socket.on('close', () => (closed = true))
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('close', reject))
  return {
    socket,
    received: () => received,
    isClosed: () => closed,
    wasReset: () => reset,
    async send(...parts) {
      for (const part of parts) {
        await new Promise((resolve) => socket.write(part, 'latin1', resolve))
        if (parts.length > 1) for (let turns = 0; turns < 3; turns++) await turn()
      }
    },
  }
}

/** Waits for a condition; after the deadline it fails with what was seen instead. */
export async function until(
  condition: () => boolean,
  saw: () => unknown,
  deadlineMs = 60_000,
): Promise<void> {
  const end = performance.now() + deadlineMs
  while (!condition()) {
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms; saw ${JSON.stringify(saw())}`)
    await sleep(2)
  }
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** The complete replies in a stream, in order. An interim 100 counts as one without a body; `toHead` replies have none. */
export function answers(stream: string, toHead = false): Answer[] {
  const found: Answer[] = []
  for (let rest = stream; ;) {
    const headEnd = rest.indexOf('\r\n\r\n')
    if (headEnd < 0) return found
    const [statusLine = '', ...lines] = rest.slice(0, headEnd).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(':')).toLowerCase(),
        line.slice(line.indexOf(':') + 2),
      ]),
    )
    const bodyEnd = headEnd + 4 + (toHead ? 0 : Number(headers['content-length'] ?? 0))
    if (rest.length < bodyEnd) return found
    found.push({ status: Number(statusLine.split(' ')[1]), headers, body: rest.slice(headEnd + 4, bodyEnd) })
    rest = rest.slice(bodyEnd)
  }
}
