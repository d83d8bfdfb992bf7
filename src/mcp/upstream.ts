// The connection to the server whose tools a gateway governs.
import type { Stream } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'
import {
  Client,
  ProtocolError,
  ReadBuffer,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { Json } from '../formats/json/canonical.ts'
import { printable } from '../formats/text/printable.ts'
import type { UpstreamConfig } from './config.ts'
import type { Tool } from './tools.ts'

export type { CallToolResult }

/** The call was not sent, or the server says that it has not begun the call: nothing happened. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken'
}

/** The server says that it does not take such arguments. Some servers say the same of a result, after the tool has acted. */
export class ArgumentsRefused extends Error {
  override readonly name = 'ArgumentsRefused'
}

/** A server and its list of tools. */
export interface Listed {
  /** Every tool, as the server describes it now. */
  readonly tools: readonly Tool[]
  /**
   * Calls a tool on the connection that listed it, never on a newer connection.
   * @throws NotTaken; ArgumentsRefused; any other error leaves open whether the tool has acted
   */
  readonly call: (name: string, args: { readonly [name: string]: Json }) => Promise<CallToolResult>
}

export interface Upstream {
  /** @throws Error where the server cannot be reached or does not answer */
  readonly list: () => Promise<Listed>
  /** The tools that `list` returned last; undefined where the server has announced a change since. */
  readonly known: () => readonly Tool[] | undefined
  readonly close: () => Promise<void>
}

/** Errors before a tool is called: the method is unknown, or the HTTP headers differ from the body. */
const NOT_TAKEN = [-32_601, -32_020]
const INVALID_PARAMS = -32_602
/** Errors that occur only while connecting: no byte of a request was sent. `EHOSTUNREACH` may also end an established connection. */
const NEVER_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT']
const STREAM_ENDED = { code: -32_000, message: 'The stream of events ended before the answer.' }
const LIST_TIMEOUT_MS = 10_000
const PAGES_MAX = 64
const LINE_MAX = 8_192

/**
 * @param options.timeoutMs the time limit of one call
 * @param options.version of this program, for the server
 * @param options.label stands before each line that a program writes to standard error; without it the program writes there itself
 */
export function openUpstream(
  config: UpstreamConfig,
  {
    timeoutMs,
    version,
    label,
  }: { readonly timeoutMs: number; readonly version: string; readonly label?: string | undefined },
): Upstream {
  let connecting: Promise<Connection> | undefined
  let known: readonly Tool[] | undefined

  /** A program is kept while it runs, because it may have a state. An ended program is started again. */
  function connected(): Promise<Connection> {
    if (connecting !== undefined) return connecting
    const mine: Promise<Connection> = connect(
      config,
      { version, label },
      {
        onEnd: () => leave(mine),
        onChange: () => (known = undefined),
      },
    ).catch((error: unknown) => {
      leave(mine)
      throw error
    })
    return (connecting = mine)
  }

  function leave(left: Promise<Connection>): void {
    if (connecting === left) connecting = undefined
  }

  async function list(): Promise<Listed> {
    const asked = connected()
    const connection = await asked
    try {
      known = await toolsOf(connection.client)
    } catch (error) {
      // A program that hangs, or a session that its server has forgotten, would fail every later call. It is kept while calls run that may still end.
      if (connection.running === 0) {
        connection.hasEnded = true
        await connection.client.close().catch(() => {})
        leave(asked)
      }
      throw error
    }
    return { tools: known, call: (name, args) => call(connection, { name, arguments: args }, timeoutMs) }
  }

  return {
    list,
    known: () => known,
    async close() {
      const connection = await connecting?.catch(() => undefined)
      await connection?.client.close()
    },
  }
}

interface Connection {
  readonly client: Client
  /** How many calls have no answer yet. */
  running: number
  /** Whether the connection has ended: then nothing is sent any more. */
  hasEnded: boolean
}

async function toolsOf(client: Client): Promise<Tool[]> {
  const found: Tool[] = []
  let cursor: string | undefined
  for (let page = 0; page < PAGES_MAX; page++) {
    const params = cursor === undefined ? {} : { cursor }
    const answered = await client.request({ method: 'tools/list', params }, { timeout: LIST_TIMEOUT_MS })
    found.push(...answered.tools)
    cursor = answered.nextCursor
    if (cursor === undefined) return found
  }
  throw new Error(`The server lists more than ${PAGES_MAX} pages of tools.`)
}

async function call(
  connection: Connection,
  params: { readonly name: string; readonly arguments: { readonly [name: string]: Json } },
  timeoutMs: number,
): Promise<CallToolResult> {
  if (connection.hasEnded) throw new NotTaken('The server ended before the call was sent.')
  connection.running++
  try {
    // Not by `callTool`, which would discard a result that differs from its schema, although the effect has happened.
    return await connection.client.request({ method: 'tools/call', params }, { timeout: timeoutMs })
  } catch (error) {
    if (!ProtocolError.isInstance(error)) throw neverConnected(error) ? new NotTaken(reasonOf(error)) : error
    if (NOT_TAKEN.includes(error.code)) throw new NotTaken(error.message)
    throw error.code === INVALID_PARAMS ? new ArgumentsRefused(error.message) : error
  } finally {
    connection.running--
  }
}

async function connect(
  config: UpstreamConfig,
  { version, label }: { readonly version: string; readonly label: string | undefined },
  { onEnd, onChange }: { readonly onEnd: () => void; readonly onChange: () => void },
): Promise<Connection> {
  const client = new Client(
    { name: 'countersign', version },
    // A tool that asks for input would need a decision of its own for each answer.
    { capabilities: {}, inputRequired: { autoFulfill: false }, versionNegotiation: { mode: 'auto' } },
  )
  const connection: Connection = { client, running: 0, hasEnded: false }
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
  client.onclose = () => {
    connection.hasEnded = true
    onEnd()
    onChange()
  }
  client.setNotificationHandler('notifications/tools/list_changed', onChange)
  await client.connect(transportOf(config, label), { timeout: LIST_TIMEOUT_MS })
  return connection
}

/** `fetch` throws the same error for every failure, with the reason as its cause. */
const causeOf = (error: unknown) => (error as { cause?: NodeJS.ErrnoException }).cause
const neverConnected = (error: unknown) => NEVER_CONNECTED.includes(causeOf(error)?.code ?? '')
const reasonOf = (error: unknown) => causeOf(error)?.message ?? String(error)

function transportOf(config: UpstreamConfig, label: string | undefined) {
  if ('url' in config)
    return new HttpTransport(new URL(config.url), {
      requestInit: { headers: config.headers ?? {}, redirect: 'error' },
      fetch: fetchText,
    })
  const [command = '', ...args] = config.command
  // Without `env` the program gets PATH, HOME and the like, and no key of the gateway.
  const transport = new StdioClientTransport({
    command,
    args,
    ...(config.env && { env: config.env }),
    stderr: label === undefined ? 'inherit' : 'pipe',
  })
  if (label !== undefined && transport.stderr !== null) showLines(transport.stderr, label)
  // The transport has no option for its buffer. `test/mcp/streams.test.ts` fails where a later version uses another member for it.
  Object.assign(transport, { _readBuffer: new TextBuffer() })
  return transport
}

/** Prints the lines of a program with a label, without the colours and cursor movements that are meant for a terminal. */
function showLines(stream: Stream, label: string): void {
  const decoder = new StringDecoder('utf8')
  const show = (line: string) =>
    console.error(`${label}: ${printable(stripVTControlCharacters(line).trimEnd())}`)
  let rest = ''
  stream.on('data', (chunk: Buffer) => {
    const lines = `${rest}${decoder.write(chunk)}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) show(line)
    // A line without an end is printed in parts and never kept whole.
    if (rest.length > LINE_MAX) show(rest)
    if (rest.length > LINE_MAX) rest = ''
  })
  stream.on('end', () => rest !== '' && show(rest))
}

/** The SDK replaces bytes that are not UTF-8 by U+FFFD: the agent and the evidence would hold text that the server did not send. */
const strictDecoder = () => new TextDecoder('utf-8', { fatal: true })

/** Fails a call at once where its event stream breaks off. The SDK would let the call wait until its time limit. */
class HttpTransport extends StreamableHTTPClientTransport {
  override send(...[message, options]: Parameters<StreamableHTTPClientTransport['send']>): Promise<void> {
    const onRequestStreamEnd = () => {
      // If the answer came before the end of the stream, this error belongs to no request and is ignored.
      if ('id' in message && message.id !== undefined)
        this.onmessage?.({ jsonrpc: '2.0', id: message.id, error: STREAM_ENDED })
    }
    return super.send(message, { ...options, onRequestStreamEnd })
  }
}

/** Buffers the output of a program. The transport closes a connection whose bytes are refused here. */
class TextBuffer extends ReadBuffer {
  readonly #decoder = strictDecoder()

  /** @throws TypeError for bytes that are no UTF-8 */
  override append(chunk: Buffer): void {
    this.#decoder.decode(chunk, { stream: true })
    super.append(chunk)
  }
}

/** Fetches, and breaks the body off where its bytes are not UTF-8. */
const fetchText = (url: string | URL, init?: RequestInit) => fetch(url, init).then(checked)

function checked(response: Response): Response {
  if (response.body === null) return response
  const decoder = strictDecoder()
  const body = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      decoder.decode(chunk, { stream: true })
      controller.enqueue(chunk)
    },
    // The body may end in the middle of a character.
    flush: () => void decoder.decode(),
  })
  return new Response(response.body.pipeThrough(body), response)
}
