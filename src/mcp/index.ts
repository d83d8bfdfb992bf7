// `countersign mcp`: an MCP server in front of another one, whose tools are called by signed releases of a service only. It imports the client and
// its receiver kit, and nothing of the server.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { printable } from '../formats/text/printable.ts'
import { shellWord } from '../formats/text/text.ts'
import { STDIO } from './clients.ts'
import type { GatewayFile, UpstreamConfig } from './config.ts'
import { openGateway, TIMEOUT_SECONDS, type Gateway, type Service } from './gateway.ts'
import type { Lock } from './lock.ts'
import { strictLines } from './messages.ts'
import { writePin, type Pinned } from './pin.ts'
import { assertReadBacks } from './read-back.ts'
import { gatewayServer } from './server.ts'
import { openUpstream } from './upstream.ts'

export { addressOf, assertServable } from './address.ts'
export { readGateway, type GatewayFile } from './config.ts'
export { readLock, type Lock } from './lock.ts'
export { policyFileOf } from './pin.ts'

const HOLD_SECONDS = 45

/** Standard output belongs to the protocol. A sentence may quote what a stranger sent, such as the header of a token. */
const say = (sentence: string) => console.error(`countersign mcp: ${printable(sentence)}`)

interface With {
  readonly gateway: GatewayFile
  /** Of this program. */
  readonly version: string
}

/**
 * Pins the tools that the server lists now.
 * @throws Error that names the server where it cannot be started or does not answer
 */
export async function pinTools({ gateway, version }: With): Promise<Pinned> {
  const { alias } = gateway
  const upstream = openUpstream(gateway.upstream, {
    timeoutMs: TIMEOUT_SECONDS * 1000,
    version,
    label: alias,
  })
  try {
    const { tools } = await upstream.list().catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      throw new Error(`${serverOf(gateway.upstream)} does not answer as an MCP server: ${reason}.`, {
        cause: error,
      })
    })
    return writePin(gateway, tools)
  } finally {
    await upstream.close()
  }
}

const serverOf = (upstream: UpstreamConfig) =>
  'url' in upstream ? upstream.url : `The program ${upstream.command.map(shellWord).join(' ')}`

/** Streamable HTTP instead of standard input and output. */
export interface Http {
  readonly port: number
  /** Whoever reaches the port may call. */
  readonly unauthenticated: boolean
}

/**
 * Serves MCP until a signal comes: by HTTP, or on standard input and output until one of the two ends. Answers at once, and opens journal and port with
 * the first request for tools: a client may start the program once to ask which protocol it speaks, and a second time to use it.
 * @param given.lock what was pinned
 * @param given.introduction what a person does next: printed when the server behind has answered, so that none of its own lines hide it
 * @throws Error where the port is taken, or a tool that reads back is not pinned as one that only reads
 */
export async function serveGateway({
  gateway,
  http,
  introduction,
  ...given
}: With & {
  readonly lock: Lock
  readonly service: Service
  readonly http?: Http | undefined
  readonly introduction?: string
}): Promise<void> {
  const { alias, holdSeconds = HOLD_SECONDS } = gateway
  assertReadBacks(gateway, given.lock)
  // Somebody reads standard error. A client may not: its gateway would wait with a program's lines in hand, where otherwise the program alone waits.
  const label = introduction === undefined ? undefined : alias
  let opened: Promise<Gateway> | undefined

  /** The same for all; tried again where it failed, such as before the service has started. */
  function open(): Promise<Gateway> {
    opened ??= openGateway(gateway, { ...given, label, say }).catch((error: unknown) => {
      opened = undefined
      say(error instanceof Error ? error.message : String(error))
      throw error
    })
    return opened
  }

  /** Says at last where calls are served. */
  async function introduce(served: string): Promise<void> {
    if (introduction !== undefined) {
      // What went wrong was said, or is a client's that asks for tools.
      await open()
        .then(({ catalogue }) => catalogue.shown())
        .catch(() => {})
      console.error(introduction)
    }
    say(served)
  }

  /** What was released is carried out and remembered first; what waits for a human goes on with the next equal call. */
  const closeCalls = () => opened?.then((one) => one.close()).catch(() => {})
  const served = {
    open,
    alias,
    version: given.version,
    holdMs: holdSeconds * 1000,
    stateKey: randomBytes(32),
  }
  if (http !== undefined) {
    const { serveHttp } = await import('./http.ts')
    const front = await serveHttp({
      alias,
      port: http.port,
      http: gateway.http ?? {},
      serverFor: (client) => gatewayServer({ ...served, client }),
      say,
    })
    // A signal that comes as soon as it is said must find its listener.
    const signalled = untilSignal()
    await Promise.race([introduce(`serves MCP at ${front.url}.`), signalled])
    await signalled
    const closing = closeCalls()
    await front.close()
    return closing
  }
  const transport = new StdioServerTransport(
    process.stdin.pipe(strictLines((refused) => process.stdout.write(`${JSON.stringify(refused)}\n`))),
  )
  const stdio = serveStdio(() => gatewayServer({ ...served, client: STDIO }), {
    transport,
    onerror: (error) => say(error.message),
  })
  if (introduction !== undefined) void introduce('serves MCP on standard input and output.')
  await Promise.race([untilSignal(), finished(process.stdin).catch(() => {}), once(process.stdout, 'error')])
  await stdio.close()
  // A client that has closed the one end alone, or has sent a signal, may keep this one open.
  process.stdin.destroy()
  return closeCalls()
}

const untilSignal = () =>
  new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
