// The connection to the server whose tools a gateway governs.
import { Client, ProtocolError, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { CallToolResult } from '@modelcontextprotocol/client'
import type { Json } from '../formats/json/canonical.ts'
import type { UpstreamConfig } from './config.ts'
import type { Tool } from './tools.ts'

export type { CallToolResult }

/** The server says that it has no such tool, or does not take such arguments: it did nothing. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken'
}

export interface Upstream {
  /**
   * Every tool, as the server describes it now.
   * @throws Error where the server cannot be reached or does not answer
   */
  readonly tools: () => Promise<readonly Tool[]>
  /** What `tools` has returned last, unless the server has said since that it changed. */
  readonly known: () => readonly Tool[] | undefined
  /**
   * Calls a tool of a server that `tools` has just reached.
   * @throws NotTaken; any other error leaves it open whether the tool has acted
   */
  readonly call: (name: string, args: { readonly [name: string]: Json }) => Promise<CallToolResult>
  readonly close: () => Promise<void>
}

/** JSON-RPC's errors of a request that was not carried out: no such method, no such parameters. */
const NOT_TAKEN = [-32_601, -32_602]
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
  let connecting: Promise<Client> | undefined
  let known: readonly Tool[] | undefined

  /** A program is kept while it runs, because it may have a state; one that has ended is started again. */
  function connected(): Promise<Client> {
    connecting ??= connect(config, version, {
      onEnd: () => (connecting = undefined),
      onChange: () => (known = undefined),
    }).catch((error: unknown) => {
      connecting = undefined
      throw error
    })
    return connecting
  }

  async function tools(): Promise<readonly Tool[]> {
    const client = await connected()
    const found: Tool[] = []
    let cursor: string | undefined
    for (let page = 0; page < PAGES_MAX; page++) {
      const params = cursor === undefined ? {} : { cursor }
      const answered = await client.request({ method: 'tools/list', params }, { timeout: LIST_TIMEOUT_MS })
      found.push(...answered.tools)
      cursor = answered.nextCursor
      if (cursor === undefined) return (known = found)
    }
    throw new Error(`The server lists more than ${PAGES_MAX} pages of tools.`)
  }

  async function call(name: string, args: { readonly [name: string]: Json }): Promise<CallToolResult> {
    const client = await connected()
    try {
      const params = { name, arguments: args as Record<string, unknown> }
      // Not by `callTool`, which would throw away a result that differs from its schema: the effect has happened by then.
      return await client.request({ method: 'tools/call', params }, { timeout: timeoutMs })
    } catch (error) {
      if (ProtocolError.isInstance(error) && NOT_TAKEN.includes(error.code)) throw new NotTaken(error.message)
      throw error
    }
  }

  return {
    tools,
    known: () => known,
    call,
    async close() {
      const client = await connecting?.catch(() => undefined)
      await client?.close()
    },
  }
}

async function connect(
  config: UpstreamConfig,
  version: string,
  { onEnd, onChange }: { readonly onEnd: () => void; readonly onChange: () => void },
): Promise<Client> {
  const client = new Client(
    { name: 'countersign', version },
    // A tool that asks for input would need a decision of its own for each answer.
    { capabilities: {}, inputRequired: { autoFulfill: false }, versionNegotiation: { mode: 'auto' } },
  )
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- it is no event target
  client.onclose = () => {
    onEnd()
    onChange()
  }
  client.setNotificationHandler('notifications/tools/list_changed', onChange)
  await client.connect(transportOf(config), { timeout: LIST_TIMEOUT_MS })
  return client
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
