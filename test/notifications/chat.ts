// An HTTP server in the place of a chat's incoming webhook.
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Posted {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** `hang`: no answer comes. */
type Answer = number | 'hang' | { readonly status: number; readonly retryAfter: string }

export interface Chat {
  readonly url: string
  readonly posted: readonly Posted[]
  /** Answers further requests to a path so; 200 by default. Ends the connections of those that hang there. */
  readonly answer: (path: string, answer: Answer) => void
  readonly close: () => Promise<void>
}

export async function openChat(): Promise<Chat> {
  const posted: Posted[] = []
  const answers = new Map<string, Answer>()
  const hanging = new Map<ServerResponse, string>()
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { url: path = '', headers } = request
      posted.push({ path, headers, body: Buffer.concat(chunks).toString() })
      const answer = answers.get(path) ?? 200
      if (answer === 'hang') {
        hanging.set(response, path)
        return
      }
      const [status, more] =
        typeof answer === 'number' ? [answer, {}] : [answer.status, { 'retry-after': answer.retryAfter }]
      response.writeHead(status, more).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posted,
    answer(path, answer) {
      answers.set(path, answer)
      for (const [response, at] of hanging) if (at === path) response.destroy()
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
