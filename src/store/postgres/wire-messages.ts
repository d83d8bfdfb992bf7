// Messages of a client in PostgreSQL's extended query protocol (its documentation, "Frontend/Backend Protocol", "Message Formats"), written into
// reused buffers. pg allocates a new buffer for each message: with batches of some hundred kilobytes, filling and collecting them was a quarter
// of the work of a worker thread besides its cryptography (docs/design-notes.md "Performance").
import type { Writable } from 'node:stream'

/** A parameter; all are sent as text. */
export type Parameter = string | number | boolean | null

const BUFFER_BYTES = 256 * 1024
/** Bounds the buffers that are kept, in size and number: a thread has few batches in flight, and large ones are rare. */
const KEPT_BYTES_MAX = 2 * 1024 * 1024
const KEPT_MAX = 3
/** The most bytes of a JavaScript string's code unit in UTF-8. */
const UNIT_BYTES_MAX = 3
/** The fixed bytes of any message here. */
const FIXED_BYTES = 32
/** Up to this length a loop in JavaScript is faster than a native call. */
const SHORT = 40

const kept: Buffer[] = []

/** Messages in order, to be sent once. After a RangeError, for more than 65,535 parameters in one `bind`, it must not be used any more. */
export class WireMessages {
  private buffer = kept.pop() ?? Buffer.allocUnsafeSlow(BUFFER_BYTES)
  private at = 0

  /** Parse: prepares a statement. No parameter types are sent: the text determines them. */
  parse(name: string, text: string): void {
    const start = this.begin('P')
    this.cString(name)
    this.cString(text)
    this.reserve(FIXED_BYTES)
    this.int16(0)
    this.end(start)
  }

  /** Bind: the statement's parameters, row after row and at most 65,535, to the unnamed portal; results come as text. */
  bind(name: string, rows: readonly (readonly Parameter[])[]): void {
    const start = this.begin('B')
    this.cString('')
    this.cString(name)
    this.reserve(FIXED_BYTES)
    this.int16(0) // all parameters are text
    this.int16(rows.reduce((count, row) => count + row.length, 0))
    for (const row of rows) for (const value of row) this.parameter(value)
    this.reserve(FIXED_BYTES)
    this.int16(0)
    this.end(start)
  }

  /** Execute: the unnamed portal, to its end. */
  execute(): void {
    const start = this.begin('E')
    this.cString('')
    this.int32(0)
    this.end(start)
  }

  /**
   * Sync: outside a transaction block, everything since the last Sync commits here; after an error, the server skips all messages up to here.
   */
  sync(): void {
    this.end(this.begin('S'))
  }

  /** Hands everything over in one piece. Nothing may be added afterwards. */
  send(stream: Writable): void {
    const { buffer } = this
    stream.write(buffer.subarray(0, this.at), () => {
      if (kept.length < KEPT_MAX && buffer.length <= KEPT_BYTES_MAX) kept.push(buffer)
    })
  }

  /** Starts a message and returns the offset of its length field. */
  private begin(type: string): number {
    this.reserve(FIXED_BYTES)
    this.buffer[this.at++] = type.charCodeAt(0)
    this.at += 4
    return this.at - 4
  }

  private end(start: number): void {
    this.buffer.writeInt32BE(this.at - start, start)
  }

  private parameter(value: Parameter): void {
    if (value === null) {
      this.reserve(4)
      this.int32(-1)
      return
    }
    const text = typeof value === 'string' ? value : String(value)
    this.reserve(4 + text.length, text)
    const start = this.at
    this.at += 4
    this.text(text)
    this.buffer.writeInt32BE(this.at - start - 4, start)
  }

  private cString(text: string): void {
    this.reserve(text.length + 1, text)
    this.text(text)
    this.buffer[this.at++] = 0
  }

  private text(text: string): void {
    if (text.length <= SHORT) {
      const start = this.at
      for (let i = 0; i < text.length; i++) {
        const unit = text.charCodeAt(i)
        if (unit > 127) {
          this.at = start + this.buffer.write(text, start)
          return
        }
        this.buffer[this.at++] = unit
      }
    } else {
      this.at += this.buffer.write(text, this.at)
    }
  }

  private int16(value: number): void {
    this.at = this.buffer.writeUInt16BE(value, this.at)
  }

  private int32(value: number): void {
    this.at = this.buffer.writeInt32BE(value, this.at)
  }

  /** Makes room for `bytes`, which count each unit of `text` as one byte; the text is measured only where it might not fit. */
  private reserve(bytes: number, text?: string): void {
    const free = this.buffer.length - this.at
    if (free >= bytes + (text === undefined ? 0 : text.length * (UNIT_BYTES_MAX - 1))) return
    const needed = text === undefined ? bytes : bytes - text.length + Buffer.byteLength(text)
    if (free >= needed) return
    const grown = Buffer.allocUnsafeSlow(Math.max(this.buffer.length * 2, this.at + needed))
    this.buffer.copy(grown, 0, 0, this.at)
    this.buffer = grown
  }
}
