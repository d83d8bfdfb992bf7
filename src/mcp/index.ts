// `countersign mcp`: an MCP server in front of another one, whose tools are called by signed releases of a service only. It imports the client and
// its receiver kit, and nothing of the server.
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { GatewayFile } from './config.ts'
import { openGateway, TIMEOUT_SECONDS, type Gateway, type Service } from './gateway.ts'
import type { Lock } from './lock.ts'
import { writePin, type Pinned } from './pin.ts'
import { gatewayServer } from './server.ts'
import { openUpstream } from './upstream.ts'

export { readGateway, type GatewayFile } from './config.ts'
export { readLock, type Lock } from './lock.ts'
export { policyFileOf } from './pin.ts'

const HOLD_SECONDS = 45
/** A client of standard input and output is one session: this program was started for it. */
const STDIO = 'stdio'

/** Standard output belongs to the protocol. */
const say = (sentence: string) => console.error(`countersign mcp: ${sentence}`)

interface With {
  readonly gateway: GatewayFile
  /** Of this program. */
  readonly version: string
}

/** Pins the tools that the server lists now. */
export async function pinTools({ gateway, version }: With): Promise<Pinned> {
  const upstream = openUpstream(gateway.upstream, { timeoutMs: TIMEOUT_SECONDS * 1000, version })
  try {
    return writePin(gateway, (await upstream.list()).tools)
  } finally {
    await upstream.close()
  }
}

/**
 * Serves MCP on standard input and output until the input ends or a signal comes. Answers at once, and opens journal and port with the first
 * request for tools: a client may start the program once to ask which protocol it speaks, and a second time to use it.
 * @param given.lock what was pinned
 */
export async function serveGateway({
  gateway,
  ...given
}: With & { readonly lock: Lock; readonly service: Service }): Promise<void> {
  const { alias, holdSeconds = HOLD_SECONDS } = gateway
  let opened: Promise<Gateway> | undefined

  /** The same for all; tried again where it failed, such as before the service has started. */
  function open(): Promise<Gateway> {
    opened ??= openGateway(gateway, { ...given, say }).catch((error: unknown) => {
      opened = undefined
      say(error instanceof Error ? error.message : String(error))
      throw error
    })
    return opened
  }

  const served = { open, alias, version: given.version, holdMs: holdSeconds * 1000, session: STDIO }
  const stdio = serveStdio(() => gatewayServer(served), { onerror: (error) => say(error.message) })
  await new Promise<void>((resolve) => {
    process.stdin.once('close', resolve).once('end', resolve)
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
  await stdio.close()
  // What was released is carried out and remembered first; what waits for a human goes on with the next equal call.
  await opened?.then((one) => one.close()).catch(() => {})
}
