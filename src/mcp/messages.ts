// Parses incoming messages of clients, which must be JSON with exactly one reading. With two equal keys in its arguments, the approved call could
// differ from the call that a person, or another parser, reads in the same bytes.
import { Transform } from 'node:stream'
import {
  PARSE_ERROR,
  STDIO_DEFAULT_MAX_BUFFER_SIZE,
  type JSONRPCErrorResponse,
} from '@modelcontextprotocol/server'
import { MalformedJson, parseJson } from '../core/json/json.ts'
import { isObject } from '../formats/json/fields.ts'

const NEWLINE = 0x0a
export const LISTEN = 'subscriptions/listen'
/** The SDK answers `subscriptions/listen` itself, without tasks. A request that names tasks reaches the gateway's handler under this name. */
export const LISTEN_TO_TASKS = 'countersign/subscriptions/listen'

/**
 * Parses one message.
 * @returns the message, or the error that its sender gets
 */
export function readMessage(
  bytes: Uint8Array,
): { readonly message: unknown } | { readonly refused: JSONRPCErrorResponse } {
  try {
    return { message: parseJson(bytes) }
  } catch (error) {
    if (!(error instanceof MalformedJson)) throw error
    const message = `Refused, and nothing was done: the message is not JSON with exactly one reading (${error.message}).`
    const id = idIn(bytes)
    return {
      refused: { jsonrpc: '2.0', ...(id !== undefined && { id }), error: { code: PARSE_ERROR, message } },
    }
  }
}

/** The message as it is passed to the SDK. */
export function withListeners(message: unknown): unknown {
  if (!isObject(message) || message['method'] !== LISTEN || !isObject(message['params'])) return message
  const { notifications } = message['params']
  const isForTasks = isObject(notifications) && 'taskIds' in notifications
  return isForTasks ? { ...message, method: LISTEN_TO_TASKS } : message
}

/** The id by which the sender finds the refused message, if a less strict parser can read it. */
function idIn(bytes: Uint8Array): string | number | undefined {
  try {
    const { id } = JSON.parse(Buffer.from(bytes).toString('utf8')) as { id?: unknown }
    return typeof id === 'string' || typeof id === 'number' ? id : undefined
  } catch {
    return undefined
  }
}

/**
 * A stream of messages, one per line, that leaves out refused messages.
 * @param onRefused receives the answer to each refused message
 */
export function strictLines(onRefused: (answer: JSONRPCErrorResponse) => void): Transform {
  let begun: Buffer[] = []
  let bytes = 0

  function flush(this: Transform): void {
    const line = Buffer.concat(begun)
    begun = []
    bytes = 0
    const read = line.toString().trim() === '' ? { message: undefined } : readMessage(line)
    if ('refused' in read) return onRefused(read.refused)
    const message = withListeners(read.message)
    this.push(message === read.message ? line : `${JSON.stringify(message)}\n`)
  }

  return new Transform({
    transform(chunk: Buffer, _, done) {
      let start = 0
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        begun.push(chunk.subarray(start, end + 1))
        flush.call(this)
        start = end + 1
      }
      begun.push(chunk.subarray(start))
      bytes += chunk.length - start
      // The transport then ends the connection, because the message exceeds its limit.
      if (bytes > STDIO_DEFAULT_MAX_BUFFER_SIZE) this.push(Buffer.concat(begun.splice(0)))
      done()
    },
    flush(done) {
      if (bytes > 0) flush.call(this)
      done()
    },
  })
}
