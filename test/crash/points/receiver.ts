// The outside world of the crash tests: a CRM and an external connector on loopback that count what they were asked to do. The count
// is theirs: whatever the service has stored or forgotten, an effect that happened twice is counted twice.
import { randomInt } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Receiver {
  /** `http://127.0.0.1:<port>` */
  readonly origin: string
  /** How often the effect on a deal was asked for, or the payment to a target. */
  readonly effects: (target: string) => number
  readonly close: () => Promise<void>
}

/** The first digit of a deal's id decides what becomes of an update of it. */
const FATES = { done: '1', refused: '4', lost: '5' } as const

/** A deal that no other test has. */
export function aDealId(fate: keyof typeof FATES): string {
  return `${FATES[fate]}${randomInt(2 ** 40)}`
}

export async function openReceiver(): Promise<Receiver> {
  const effects = new Map<string, number>()

  function happen(target: string): void {
    effects.set(target, (effects.get(target) ?? 0) + 1)
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    if (request.method === 'POST') {
      const { release } = JSON.parse(Buffer.concat(chunks).toString()) as { release: Record<string, string> }
      const { businessTransactionId, capability, target = '' } = release
      happen(target)
      const executedAt = new Date().toISOString()
      reply(response, 200, { businessTransactionId, capability, success: true, result: {}, executedAt })
      return
    }
    const deal = request.url?.split(/[/?]/)[5] ?? ''
    if (request.method === 'PATCH') happen(deal)
    if (deal.startsWith(FATES.refused)) reply(response, 400, { category: 'VALIDATION_ERROR' })
    else if (deal.startsWith(FATES.lost)) response.destroy()
    else reply(response, 200, { id: deal, properties: { hs_is_closed: 'false' } })
  }

  const server = createServer((request, response) => {
    // The client may be killed before it has sent everything.
    answer(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    effects: (target) => effects.get(target) ?? 0,
    close() {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}
