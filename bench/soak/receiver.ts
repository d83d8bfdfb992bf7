// The external connector of the soak: does what it is told by the release's parameters, and `drop` hangs up in the middle.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

/** out  its address, on loopback. in  stack  takes what has to be undone */
export async function openReceiver(stack: AsyncDisposableStack): Promise<string> {
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

interface Released {
  readonly release: {
    readonly businessTransactionId: string
    readonly capability: string
    readonly parameters: { readonly drop?: boolean }
  }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  request.on('error', () => undefined)
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { release } = JSON.parse(Buffer.concat(chunks).toString()) as Released
  const { businessTransactionId, capability, parameters } = release
  if (parameters.drop) {
    request.socket.destroy()
    return
  }
  const result = { businessTransactionId, capability, success: true, result: { done: true } }
  const text = JSON.stringify({ ...result, executedAt: new Date().toISOString() })
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(text)
}
