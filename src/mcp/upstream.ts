// The connection to the server whose tools a gateway governs.
import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { Json } from '../formats/json/canonical.ts'
import type { UpstreamConfig } from './config.ts'
import type { Tool } from './tools.ts'

export type { CallToolResult }

/** The call was not sent, or the server says that it has not begun it: it did nothing. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken'
}

/** The server says that it does not take such arguments. Some servers say so of a result too, when the tool has acted. */
export class ArgumentsRefused extends Error {
  override readonly name = 'ArgumentsRefused'
}

/** A server as it has answered. */
export interface Listed {
  /** Every tool, as the server describes it now. */
  readonly tools: readonly Tool[]
  /**
   * Calls a tool of the very server that has listed it, and never of one that was started since.
   * @throws NotTaken; ArgumentsRefused; any other error leaves it open whether the tool has acted
   */
  readonly call: (name: string, args: { readonly [name: string]: Json }) => Promise<CallToolResult>
}

export interface Upstream {
  /** @throws Error where the server cannot be reached or does not answer */
  readonly list: () => Promise<Listed>
  /** The tools that `list` has returned last, unless the server has said since that they changed. */
  readonly known: () => readonly Tool[] | undefined
  readonly close: () => Promise<void>
}

/** No such method, and HTTP headers that differ from the body: both are found before a tool is called. */
const NOT_TAKEN = [-32_601, -32_020]
const INVALID_PARAMS = -32_602
const LIST_TIMEOUT_MS = 10_000
const PAGES_MAX = 64

/**
 * @param options.timeoutMs of one call
 * @param options.version of this program, for the server
 */
export function openUpstream(
  config: UpstreamConfig,
  { timeoutMs, version }: { readonly timeoutMs: number; readonly version: string },
): Upstream {
  let connecting: Promise<Connection> | undefined
  let known: readonly Tool[] | undefined

  /** A program is kept while it runs, because it may have a state; one that has ended is started again. */
  function connected(): Promise<Connection> {
    if (connecting !== undefined) return connecting
    const mine: Promise<Connection> = connect(config, version, {
      onEnd: () => leave(mine),
      onChange: () => (known = undefined),
    }).catch((error: unknown) => {
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
      // A program that hangs, or a session that its server has forgotten, would fail every call to come. What is at work in it may still end.
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
  /** Nothing is sent to it any more. */
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
    // Not by `callTool`, which would throw away a result that differs from its schema: the effect has happened by then.
    return await connection.client.request({ method: 'tools/call', params }, { timeout: timeoutMs })
  } catch (error) {
    if (!ProtocolError.isInstance(error)) throw error
    if (NOT_TAKEN.includes(error.code)) throw new NotTaken(error.message)
    throw error.code === INVALID_PARAMS ? new ArgumentsRefused(error.message) : error
  } finally {
    connection.running--
  }
}

async function connect(
  config: UpstreamConfig,
  version: string,
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
  await client.connect(transportOf(config), { timeout: LIST_TIMEOUT_MS })
  return connection
}

function transportOf(config: UpstreamConfig) {
  if ('url' in config)
    return new StreamableHTTPClientTransport(new URL(config.url), {
      requestInit: { headers: config.headers ?? {}, redirect: 'error' },
    })
  const [command = '', ...args] = config.command
  // Without `env` it gets PATH, HOME and the like, and no key of the gateway.
  return new StdioClientTransport({
    command,
    args,
    ...(config.env && { env: config.env }),
    stderr: 'inherit',
  })
}
