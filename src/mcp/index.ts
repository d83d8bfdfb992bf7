// `countersign mcp`: an MCP server in front of another MCP server, whose tools are called only for signed releases of a service. It imports the
// client and its receiver kit, and no server code of the service.
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

/** Writes to standard error, because standard output belongs to the protocol. A sentence may quote untrusted input, such as a token's header. */
const say = (sentence: string) => console.error(`countersign mcp: ${printable(sentence)}`)

interface With {
  readonly gateway: GatewayFile
  /** The version of this program. */
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
  /** Every client that reaches the port may call. */
  readonly unauthenticated: boolean
}

/**
 * Serves MCP until a signal: by HTTP, or on standard input and output until one of the two ends. It answers at once, and opens journal and port only
 * with the first request for tools: a client may start the program once to ask which protocol it speaks, and a second time to use it.
 * @param given.lock the pinned tools
 * @param given.introduction the next steps for a person: printed after the upstream server has answered, so that its own output does not hide them
 * @throws Error where the port is taken, or a tool that reads back is not pinned as a tool that only reads
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
  // With an introduction, a person reads standard error. A client may not read it: then the gateway would wait with the program's lines, not the
  // program alone.
  const label = introduction === undefined ? undefined : alias
  let opened: Promise<Gateway> | undefined

  /** Opens the gateway once for all requests. After a failure, such as before the service has started, it is tried again. */
  function open(): Promise<Gateway> {
    opened ??= openGateway(gateway, { ...given, label, say }).catch((error: unknown) => {
      opened = undefined
      say(error instanceof Error ? error.message : String(error))
      throw error
    })
    return opened
  }

  /** Prints the introduction, then the place where calls are served. */
  async function introduce(served: string): Promise<void> {
    if (introduction !== undefined) {
      // `open` has reported its own error. An error of the listing is reported to the client that asks for tools.
      await open()
        .then(({ catalogue }) => catalogue.shown())
        .catch(() => {})
      console.error(introduction)
    }
    say(served)
  }

  /** Released calls are carried out and stored first. Calls that wait for a human continue with the next equal call. */
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
    // The handlers are set before the address is printed, because a signal may come right after that.
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
  // A client that has closed only standard output, or has sent a signal, may keep standard input open.
  process.stdin.destroy()
  return closeCalls()
}

const untilSignal = () =>
  new Promise<void>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
