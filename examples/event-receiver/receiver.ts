// A receiver of events: proves that a delivery came from the service, prints each event once, answers 204.
//   npx node examples/event-receiver/receiver.ts --service http://127.0.0.1:3000 --port 8090
// With EVENT_SECRET=whsec_… it checks the `v1` signature in place of `v1a`, and asks the service for nothing.
import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'

const BODY_BYTES_MAX = 1024 * 1024
/** A signature is refused when it is older, so that nobody can send what he has recorded. */
const TOLERANCE_SECONDS = 300

export interface ReceiverConfig {
  /** URL of the service: its `GET /.well-known/jwks.json` has the keys of `v1a` signatures. */
  readonly service: string
  /** `whsec_…`; undefined: `v1a` is checked. */
  readonly secret: string | undefined
  readonly port: number
  /** Called once for each event id, however often it is delivered. Keep the ids beside what you do with the events, in one commit. */
  readonly onEvent: (event: unknown) => void
}

/** @returns the server, listening on loopback: TLS ends at a proxy in front */
export async function startReceiver(config: ReceiverConfig): Promise<Server & { url: string }> {
  const seen = new Set<string>()
  const scheme = config.secret === undefined ? 'v1a' : 'v1'

  async function receive(request: IncomingMessage): Promise<{ status: number; why?: string }> {
    const body = await readBody(request)
    if (request.method !== 'POST' || body === undefined)
      return { status: 400, why: `it is no POST with a body of at most ${BODY_BYTES_MAX} bytes` }
    const { 'webhook-id': id = '', 'webhook-timestamp': timestamp = '' } = request.headers
    if (!(await isSigned(request.headers, `${id as string}.${timestamp as string}.${body}`)))
      return { status: 401, why: `webhook-signature has no ${scheme} signature that verifies` }
    const ageSeconds = Math.abs(Date.now() / 1000 - Number(timestamp))
    if (!(ageSeconds <= TOLERANCE_SECONDS))
      return { status: 401, why: `webhook-timestamp is not within ${TOLERANCE_SECONDS} s of this clock` }
    if (!seen.has(id as string)) config.onEvent(JSON.parse(body))
    seen.add(id as string)
    return { status: 204 }
  }

  async function isSigned(headers: IncomingHttpHeaders, message: string): Promise<boolean> {
    const signatures = String(headers['webhook-signature'] ?? '').split(' ')
    const given = signatures
      .filter((one) => one.startsWith(`${scheme},`))
      .map((one) => Buffer.from(one.slice(scheme.length + 1), 'base64'))
    if (config.secret !== undefined) {
      const key = Buffer.from(config.secret.replace(/^whsec_/, ''), 'base64')
      const due = createHmac('sha256', key).update(message).digest()
      return given.some((one) => one.length === due.length && timingSafeEqual(one, due))
    }
    const keys = await fetchKeys(config.service)
    return given.some((one) => keys.some((key) => verify(null, Buffer.from(message), key, one)))
  }

  const server = createServer((request, response) => {
    void receive(request)
      .catch((error: unknown) => {
        // The service delivers again what was not answered with 2xx.
        console.error(error)
        return { status: 500 }
      })
      .then(({ status, why }: { status: number; why?: string }) => {
        if (why !== undefined) console.error(`refused with ${status}: ${why}`)
        return response.writeHead(status).end(why)
      })
  })
  server.listen(config.port, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return Object.assign(server, { url: `http://127.0.0.1:${port}/events` })
}

/** Every Ed25519 key that is not revoked: after a rotation the newest signs. Cache them for a minute where many events come. */
async function fetchKeys(service: string) {
  const answer = await fetch(new URL('/.well-known/jwks.json', service))
  const { keys } = (await answer.json()) as { keys: { algorithm: string; pem: string; revokedAt?: string }[] }
  return keys
    .filter(({ algorithm, revokedAt }) => algorithm === 'ed25519' && revokedAt === undefined)
    .map(({ pem }) => createPublicKey(pem))
}

/** Undefined where it is too large. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      service: { type: 'string', default: 'http://127.0.0.1:3000' },
      port: { type: 'string', default: '8090' },
    },
  })
  const { url } = await startReceiver({
    service: values.service,
    secret: process.env['EVENT_SECRET'],
    port: Number(values.port),
    onEvent: (event) => console.log(JSON.stringify(event)),
  })
  console.error(`receives events at ${url}`)
}
