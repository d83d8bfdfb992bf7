// Keeps the events of the streams of one 2025 session. A client whose stream was cut, for example by a proxy that ends replies after 30 seconds,
// names the last event that it received and gets the later events.
import { randomBytes } from 'node:crypto'
import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server'

/** A call that is held has ten events. */
const EVENTS_MAX = 256
const BYTES_MAX = 256 * 1024

interface Event {
  readonly id: string
  readonly streamId: string
  readonly message: JSONRPCMessage
  readonly bytes: number
}

export interface Events extends EventStore {
  /** Ids of the requests that the stream of an event has answered. */
  readonly answeredOn: (eventId: string) => (string | number)[]
}

/** Keeps the newest events of a session. A dropped event, or an event of another session, is unknown. */
export function openEvents({ eventsMax = EVENTS_MAX, bytesMax = BYTES_MAX } = {}): Events {
  // A session with another tag knows none of these ids.
  const tag = randomBytes(8).toString('hex')
  const events: Event[] = []
  let last = 0
  let bytes = 0

  const find = (eventId: string) => events.find(({ id }) => id === eventId)
  const ofStream = (event: Event | undefined) => events.filter(({ streamId }) => streamId === event?.streamId)

  return {
    async storeEvent(streamId, message) {
      const event = {
        id: `${tag}-${++last}`,
        streamId,
        message,
        bytes: Buffer.byteLength(JSON.stringify(message)),
      }
      events.push(event)
      bytes += event.bytes
      while (events.length > eventsMax || bytes > bytesMax) bytes -= events.shift()!.bytes
      return event.id
    },
    getStreamIdForEventId: async (eventId) => find(eventId)?.streamId,
    async replayEventsAfter(lastEventId, { send }) {
      const after = find(lastEventId)
      if (after === undefined) throw new Error('There is no such event.')
      const stream = ofStream(after)
      // The first event of a stream has an id but no message.
      for (const { id, message } of stream.slice(stream.indexOf(after) + 1))
        if ('jsonrpc' in message) await send(id, message)
      return after.streamId
    },
    answeredOn: (eventId) =>
      ofStream(find(eventId)).flatMap(({ message }) => ('result' in message ? [message.id] : [])),
  }
}
