// A receiver of connector releases: takes one, proves that it came from the service and is meant for here, acts once, answers. And answers
// what became of one.
//   npx node examples/external-receiver/receiver.ts --service https://countersign.example --port 8080 --journal mine/receiver.journal
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { answerQuestion } from './question.ts'
import { openJournal } from './journal.ts'
import { fetchKeys, verifyRelease, type Keys, type Release } from './release.ts'

const BODY_BYTES_MAX = 1024 * 1024

export interface ReceiverConfig {
  readonly keys: Keys
  /** File; made where there is none. What was done stands in it. */
  readonly journal: string
  readonly port: number
  readonly capability: string
  /** As it was registered. Behind a proxy that is the proxy's; by default where this listens. */
  readonly origin?: string | undefined
  /**
   * The effect. What it answers becomes evidence; a `Refused` is an effect that certainly did not happen, with the reason. Any other
   * error leaves it open whether it happened, and a person will have to look.
   */
  readonly act: (release: Release) => unknown
}

export class Refused extends Error {}

/** @returns the server, listening on loopback: TLS ends at a proxy in front */
export async function startReceiver(config: ReceiverConfig): Promise<Server & { origin: string }> {
  const journal = openJournal(config.journal)
  /** By authorizationId: two requests with one release share one act. */
  const underway = new Map<string, Promise<unknown>>()
  let origin = config.origin ?? ''

  async function answer(body: Buffer): Promise<{ status: number; body: unknown }> {
    const verified = verifyRelease(body, { ...config, origin, now: new Date() })
    if ('refused' in verified) return { status: verified.status, body: { error: verified.refused } }
    const { release } = verified
    const { authorizationId } = release
    const before = journal.find(authorizationId)
    if (before?.answer !== undefined) return { status: 200, body: before.answer }
    let acting = underway.get(authorizationId)
    // Begun and never ended: this process died while it acted. Whether the effect happened is for a person to find out.
    if (before !== undefined && acting === undefined)
      return { status: 500, body: { error: 'It was begun before and its outcome is unknown.' } }
    acting ??= once(release).finally(() => underway.delete(authorizationId))
    underway.set(authorizationId, acting)
    return { status: 200, body: await acting }
  }

  /** On disk before the effect, so that no crash can make it happen twice; and with its answer before anybody is told. */
  async function once(release: Release): Promise<unknown> {
    journal.begin(release.authorizationId)
    const answered = (success: boolean, result: unknown) => {
      const { businessTransactionId, capability } = release
      const sent = {
        businessTransactionId,
        capability,
        success,
        result,
        executedAt: new Date().toISOString(),
      }
      journal.end(release.authorizationId, sent)
      return sent
    }
    try {
      return answered(true, (await config.act(release)) ?? null)
    } catch (error) {
      if (error instanceof Refused) return answered(false, { reason: error.message })
      throw error
    }
  }

  async function replyTo(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
    if (request.method === 'GET')
      return answerQuestion(request, { ...config, origin, journal, now: new Date() })
    if (request.method !== 'POST')
      return { status: 405, body: { error: 'POST a release, or GET what became of one.' } }
    try {
      const body = await readBody(request)
      return body === undefined ? { status: 413, body: { error: 'Too large.' } } : await answer(body)
    } catch (error) {
      console.error(error)
      return { status: 500, body: { error: 'The outcome is unknown.' } }
    }
  }

  const server = createServer((request, response) => {
    void replyTo(request).then(({ status, body }) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body)),
    )
  })
  await new Promise<void>((resolve) => server.listen(config.port, '127.0.0.1', resolve))
  origin ||= `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return Object.assign(server, { origin })
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

if (import.meta.main) {
  // A sentence in place of a stack trace.
  process.once('uncaughtException', (error) => {
    // `fetch` puts its reason into `cause`.
    console.error(
      `receiver: ${error.message}${error.cause instanceof Error ? `: ${error.cause.message}` : ''}`,
    )
    process.exit(1)
  })
  const { values } = parseArgs({
    options: {
      service: { type: 'string', default: 'http://127.0.0.1:3000' },
      port: { type: 'string', default: '8080' },
      journal: { type: 'string', default: 'receiver.journal' },
      capability: { type: 'string', default: 'vendor:pay' },
      origin: { type: 'string' },
    },
  })
  let effects = 0
  const { origin } = await startReceiver({
    ...values,
    keys: await fetchKeys(values.service),
    port: Number(values.port),
    // Put the effect here.
    act({ target, parameters }) {
      effects++
      console.log(`effect ${effects}: ${target} ${JSON.stringify(parameters)}`)
      return { effects }
    },
  })
  console.log(`listening on ${origin} for ${values.capability}`)
}
