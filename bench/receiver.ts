// An external connector for measurement, a program of its own: answers each release after a while and does nothing. It checks no
// signature, so that its CPU stays out of the way: a receiver to copy is examples/external-receiver. The soak's event endpoints are below
// /events/ here, and accept every event.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceiverJob {
  readonly delayMs: number
}

export interface ReceiverReady {
  readonly origin: string
}

process.on('message', ({ delayMs }: ReceiverJob) => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (request.url?.startsWith('/events/') === true) {
        response.writeHead(204).end()
        return
      }
      const { release } = JSON.parse(Buffer.concat(chunks).toString()) as {
        release: { businessTransactionId: string; capability: string; parameters: { drop?: boolean } }
      }
      const { businessTransactionId, capability, parameters } = release
      // For the soak: hangs up in the middle.
      if (parameters.drop === true) {
        request.socket.destroy()
        return
      }
      setTimeout(() => {
        const result = { success: true, result: { measured: true }, executedAt: new Date().toISOString() }
        const answer = { businessTransactionId, capability, ...result }
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(answer))
      }, delayMs)
    })
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => {
    const { port } = server.address() as AddressInfo
    process.send?.({ result: { origin: `http://127.0.0.1:${port}` } satisfies ReceiverReady })
  })
})
