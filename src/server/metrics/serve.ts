// GET /metrics on a port of its own, only for those who watch the service (docs/handbook/operating.md "What to watch").
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errorText } from '../../formats/text/error-text.ts'
import { createServer } from '../../core/outbound/node-http.ts'

const PATH = '/metrics'
/** More scrapers than anyone has. */
const CONNECTIONS_MAX = 32
/** How long a client that takes nothing of its reply keeps its place. */
const SILENCE_MAX_MS = 30_000

export interface MetricsServer {
  /** Where GET /metrics is served. */
  readonly url: string
  readonly close: () => Promise<void>
}

/** @throws Error that names the address when it cannot be opened */
export async function serveMetrics({
  host,
  port,
  contentType,
  scrape,
  onError,
}: {
  host: string
  port: number
  contentType: string
  scrape: () => Promise<string>
  onError: (error: unknown) => void
}): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: 10_000, keepAliveTimeout: 75_000 }, (request, response) => {
    // Bodies are not read: no request here needs one.
    if (request.url?.split('?')[0] !== PATH) return refuse(response, 404)
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return refuse(response, 405, { Allow: 'GET, HEAD' })
    void answer(request, response)
  })
  server.maxConnections = CONNECTIONS_MAX
  server.timeout = SILENCE_MAX_MS

  async function answer({ method }: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const text = await scrape()
      const headers = { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(text) }
      response.writeHead(200, { ...headers, 'Cache-Control': 'no-store' }).end(method === 'HEAD' ? '' : text)
    } catch (error) {
      onError(error)
      refuse(response, 500)
    }
  }

  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new Error(`METRICS_PORT: cannot serve metrics on ${host}:${port}: ${errorText(cause)}`, { cause })
  }
  const { port: ownPort } = server.address() as AddressInfo
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${ownPort}${PATH}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

function refuse(response: ServerResponse, status: number, headers: Record<string, string> = {}): void {
  response.writeHead(status, { ...headers, 'Content-Type': 'text/plain', Connection: 'close' }).end()
}
