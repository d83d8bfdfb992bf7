// The systems around the service in the demo's month: one that carries out actions, and two that take events.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { ServiceKeys } from '../../clients/typescript/src/receiver/keys.ts'
import { verifyRelease } from '../../clients/typescript/src/receiver/release.ts'
import type { Outcome } from './month.ts'

export interface Receivers {
  readonly origin: string
  /** The signing keys of the service, once it runs. */
  trust(keys: ServiceKeys): void
  /** How the next release of a transaction is answered; `done` without it. */
  answerNext(businessTransactionId: string, outcome: Outcome): void
  stop(): Promise<void>
}

/** @param now the demo's clock, milliseconds since 1970 */
export async function startReceivers(now: () => number): Promise<Receivers> {
  let keys: ServiceKeys | undefined
  let origin = ''
  const outcomes = new Map<string, Outcome>()

  async function act(capability: string, body: Buffer): Promise<{ status: number; body?: object }> {
    if (keys === undefined) return { status: 503, body: { error: 'It does not know the service yet.' } }
    const given = { keys, audience: origin, capabilities: [capability], now: new Date(now()) }
    const verified = await verifyRelease(body, given)
    if ('refused' in verified) return { status: verified.status, body: { error: verified.refused } }
    const { businessTransactionId, target } = verified.release
    const outcome = outcomes.get(businessTransactionId) ?? 'done'
    if (outcome === 'unknown') return { status: 500, body: { error: 'The outcome is unknown.' } }
    const success = outcome === 'done'
    return {
      status: 200,
      body: {
        businessTransactionId,
        capability,
        success,
        result: success
          ? { target, reference: businessTransactionId.slice(0, 8) }
          : { reason: 'The account is closed.' },
        executedAt: new Date(now()).toISOString(),
      },
    }
  }

  async function reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const [, area, name = ''] = (request.url ?? '').split('/')
    const answer =
      area === 'events'
        ? { status: name === 'healthy' ? 204 : 500 }
        : request.method === 'POST'
          ? await act(decodeURIComponent(name), body)
          : // What became of a release that it never answered is not known here either.
            { status: 503, body: { error: 'It was begun, and its outcome is unknown.' } }
    response
      .writeHead(answer.status, { 'Content-Type': 'application/json' })
      .end('body' in answer ? JSON.stringify(answer.body) : undefined)
  }

  const server: Server = createServer((request, response) => void reply(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    trust: (given) => void (keys = given),
    answerNext: (id, outcome) => void outcomes.set(id, outcome),
    stop: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
