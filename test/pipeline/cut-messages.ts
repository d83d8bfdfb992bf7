// A connection to the database that breaks inside of a message or of its answer, after so many bytes.
import type { Socket } from 'node:net'
import { openWire, type Wire } from './wire.ts'

export interface Cut {
  /** The message that is cut, counted from 1: those with a BEGIN, over all connections. */
  readonly message: number
  /** Whether the server gets the first bytes of the message, or we get those of the answer. */
  readonly of: 'message' | 'answer'
  readonly bytes: number
}

export interface CutMessages extends Wire {
  /** The bytes of what was cut last, as far as they came: more than those of the cut where anything was lost. */
  readonly size: () => number
  readonly cutNext: (cut: Cut) => void
}

export async function cutMessages(databaseUrl: string): Promise<CutMessages> {
  let next: Cut | undefined
  let seen = 0
  let size = 0
  const wire = await openWire(databaseUrl, ({ client, postgres, drop }) => {
    let cut: Cut | undefined
    let sent = 0
    /** Passes the bytes on up to the place of the cut, and breaks the connection there. */
    const pass = (bytes: Buffer, to: Socket, { bytes: upTo }: Cut) => {
      const rest = upTo - sent
      sent += bytes.length
      size = sent
      if (rest >= bytes.length) to.write(bytes)
      else to.write(bytes.subarray(0, Math.max(rest, 0)), drop)
    }
    return {
      fromClient(bytes) {
        const isCut = bytes.includes('BEGIN\0') && next !== undefined && ++seen === next.message
        if (isCut) {
          cut = next
          next = undefined
          sent = 0
        }
        // It came through whole: this is the next message.
        else if (cut?.of === 'answer') cut = undefined
        if (cut?.of === 'message') pass(bytes, postgres, cut)
        else postgres.write(bytes)
      },
      fromServer(bytes) {
        if (cut?.of === 'answer') return pass(bytes, client, cut)
        cut = undefined
        client.write(bytes)
      },
    }
  })
  return {
    ...wire,
    size: () => size,
    cutNext(cut) {
      seen = 0
      size = 0
      next = cut
    },
  }
}
