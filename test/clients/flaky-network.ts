// A network between a client and the service that loses, delays and refuses what a test says: an outside double, never a part of ours.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'

/** A fate decides on one request; `pass` hands it to the service and comes back with the service's status. */
export type Fate = (exchange: {
  /** `METHOD /path` */
  readonly route: string
  readonly pass: () => Promise<PassedOn>
  readonly response: ServerResponse
}) => Promise<void> | void

interface PassedOn {
  readonly status: number
  readonly headers: Headers
  readonly body: Uint8Array
}

export interface FlakyNetwork {
  readonly url: string
  /** `METHOD /path` of everything that was sent, in order. */
  readonly seen: string[]
  /** The next requests of this `METHOD /path`, in order; later ones arrive. */
  plan(route: string, ...fates: Fate[]): void
  close(): Promise<void>
}

/** Passed on, and the reply is lost on the way back. */
export const loseReply: Fate = async ({ pass, response }) => {
  await pass()
  response.destroy()
}

/** Lost on the way there. */
export const loseRequest: Fate = ({ response }) => {
  response.destroy()
}

export function answer(status: number, body: object, headers: Record<string, string> = {}): Fate {
  return ({ response }) => {
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
  }
}

/** @param usual what happens to every request that no test has planned */
export async function openFlakyNetwork(serviceUrl: string, usual: Fate = arrive): Promise<FlakyNetwork> {
  const seen: string[] = []
  const plans = new Map<string, Fate[]>()
  const server = createServer((request, response) => {
    const route = `${request.method} ${request.url}`
    seen.push(route)
    const fate = plans.get(route)?.shift() ?? usual
    void handle(fate, { route, request, response, serviceUrl }).catch(() => response.destroy())
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    plan: (route, ...fates) => void plans.set(route, fates),
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

export const arrive: Fate = async ({ pass, response }) => {
  const { status, headers, body } = await pass()
  const kept = ['content-type', 'retry-after', 'x-request-id', 'link'].flatMap((name): [string, string][] => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value]]
  })
  response.writeHead(status, Object.fromEntries(kept)).end(body)
}

async function handle(
  fate: Fate,
  {
    route,
    request,
    response,
    serviceUrl,
  }: { route: string; request: IncomingMessage; response: ServerResponse; serviceUrl: string },
): Promise<void> {
  const body = await buffer(request)
  await fate({
    route,
    response,
    async pass() {
      const { authorization, prefer } = request.headers
      const passed = await fetch(serviceUrl + request.url, {
        method: request.method ?? 'GET',
        headers: {
          'Content-Type': 'application/json',
          ...(authorization === undefined ? {} : { Authorization: authorization }),
          ...(prefer === undefined ? {} : { Prefer: String(prefer) }),
        },
        ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
      })
      const { status, headers } = passed
      return { status, headers, body: new Uint8Array(await passed.arrayBuffer()) }
    },
  })
}
