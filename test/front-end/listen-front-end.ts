// A small front end behind a real listener: what it answers depends on the path, and it keeps what reached it.
import {
  listen,
  type Reception,
  type Head,
  type ListenOptions,
  type Listener,
  type Reply,
} from '../../src/server/http/listen/index.ts'

const preferred = await listen({
  host: '127.0.0.1',
  port: 0,
  onRequest: () => answered(text(200, '')),
})
await preferred.close()

/** Both where uWebSockets.js loads. COUNTERSIGN_REQUIRE_UWS makes its tests fail instead of being left out. */
export const servers: Listener['server'][] =
  preferred.server === 'uWebSockets.js' || process.env['COUNTERSIGN_REQUIRE_UWS'] !== undefined
    ? ['node:http', 'uWebSockets.js']
    : ['node:http']

export interface TestFrontEnd extends Listener {
  /** Every head that got past the guard, as "METHOD path?query". */
  readonly seen: string[]
  /** Bytes announced by requests whose client went away before they came. */
  readonly aborted: number[]
  /** The latest head's values, read while it was valid. */
  latest: Pick<Head, 'bodyBytes'> & { readonly remoteAddress: string; readonly note: string | undefined }
  /** Resolvers of the requests to /wait and /later… that are unanswered, and of the turns of /turn…. */
  readonly waiting: (() => void)[]
  /** How often a listener said that the reply of a /later… is out, or its client gone. */
  sent: number
}

export async function openFrontEnd(
  server: Listener['server'],
  options: Partial<Pick<ListenOptions, 'host' | 'port' | 'timeouts' | 'onDropped'>> = {},
): Promise<TestFrontEnd> {
  const seen: string[] = []
  const aborted: number[] = []
  const waiting: (() => void)[] = []
  const turn = (): Promise<void> => new Promise((resolve) => waiting.push(resolve))
  const later = (reply: Reply): Promise<Reply> => new Promise((resolve) => waiting.push(() => resolve(reply)))
  const counted = (reply: Reply): Reply => ({ ...reply, sent: () => void frontEnd.sent++ })
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    ...options,
    server,
    onRequest(head) {
      const withBody = (
        answer: (body: Uint8Array) => Reply | Promise<Reply>,
        when?: Promise<void>,
      ): Reception => ({
        body: 'read',
        turn: when,
        async reply(reading) {
          const body = await reading
          if (body !== undefined) return answer(body)
          aborted.push(head.bodyBytes)
          return undefined
        },
      })
      seen.push(`${head.method} ${head.path}${head.query === '' ? '' : `?${head.query}`}`)
      frontEnd.latest = {
        bodyBytes: head.bodyBytes,
        remoteAddress: head.remoteAddress(),
        note: head.header('x-note'),
      }
      switch (head.path) {
        case '/echo':
          return withBody((body) => text(200, body))
        case '/wait':
          return withBody((body) => later(text(200, body)))
        case '/turn':
          return withBody((body) => text(200, String(body.length)), turn())
        case '/turn-refused':
          return { ...answered(text(401, 'refused')), body: 'read', turn: turn() }
        case '/later':
          return answered(later(counted(text(200, 'later'))))
        case '/later-closing':
          return answered(later(counted(text(413, 'later', { Connection: 'close' }))))
        case '/refused':
          return answered(text(401, 'refused'))
        case '/refused-closing':
          return { ...answered(text(413, 'refused', { Connection: 'close' })), endsConnection: true }
        case '/streamed':
          return answered({ ...text(200, ''), texts: streamed() })
        case '/unchanged':
          return answered(text(304, '', { ETag: '"1"' }))
        default:
          return answered(text(200, `${head.method} ${head.path}`))
      }
    },
  })
  const frontEnd: TestFrontEnd = {
    ...listener,
    seen,
    aborted,
    waiting,
    sent: 0,
    latest: { bodyBytes: 0, remoteAddress: '', note: undefined },
  }
  return frontEnd
}

/** A request whose body nobody wants. */
export function answered(reply: Reply | Promise<Reply>): Reception {
  return { body: 'discard', reply: async () => reply }
}

async function* streamed(): AsyncGenerator<string, void> {
  yield 'first,'
  yield 'second'
}

function text(status: number, body: string | Uint8Array, headers: Record<string, string> = {}): Reply {
  return { status, headers: { 'Content-Type': 'text/plain', ...headers }, body }
}
