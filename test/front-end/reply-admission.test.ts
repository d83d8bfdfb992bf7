// Several things cut a reply that streams; one client has only so many of them at once.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { Failure } from '../../src/core/errors/errors.ts'
import type { Answer } from '../../src/server/answer.ts'
import type { Exchange } from '../../src/server/http/exchange.ts'
import { openBook } from '../../src/server/http/gates/book.ts'
import { openCompute } from '../../src/server/http/gates/compute.ts'
import { admitReply } from '../../src/server/http/reply-admission.ts'

const exchange: Omit<Exchange, 'client'> = {
  requestId: randomUUID(),
  method: 'GET',
  path: '/trust-records',
  ifNoneMatch: undefined,
  startedMs: 0,
  wantsTiming: false,
  traceParent: undefined,
  callerId: 'auditor',
  address: '127.0.0.1',
}

async function* pages() {
  for (const page of ['1', '2', '3']) yield page
}
const streamed = (): Answer => ({ status: 200, body: '', texts: pages() })

/** Sends with the real limits; its switches are what a stop, a revocation and a logout throw. */
function aSending() {
  const is = { stopping: false, over: false }
  const lines: Record<string, unknown>[] = []
  const admitting = {
    gates: { hold: openBook(100).hold, compute: openCompute(60_000) },
    service: { stopping: () => is.stopping },
    log: (line: Record<string, unknown>) => void lines.push(line),
  }
  const to = (client: string) =>
    admitReply(
      streamed(),
      { ...exchange, client },
      { hasPlace: false, isOver: async () => is.over },
      admitting,
    )
  return { is, lines, to }
}

/** Reads the pages of a reply; after the first one calls `then`. */
async function read(reply: Answer | Failure, then: () => void): Promise<string[]> {
  if (reply instanceof Failure || reply.texts === undefined) throw new Error('the reply does not stream')
  const got: string[] = []
  for await (const page of reply.texts) {
    got.push(page)
    if (got.length === 1) then()
  }
  return got
}

test('a stream whose key and session last is sent to its end', async () => {
  const { lines, to } = aSending()
  expect(await read(to('auditor'), () => undefined)).toEqual(['1', '2', '3'])
  expect(lines).toEqual([])
})

test.each([
  ['over', 'its key or session is not in effect any more'],
  ['stopping', 'the service stops'],
] as const)('one that is %s is cut before its next page, and the log says why', async (what, why) => {
  const { is, lines, to } = aSending()
  await expect(read(to('auditor'), () => (is[what] = true))).rejects.toThrow(why)
  expect(lines).toMatchObject([
    { msg: 'a reply was cut short', caller: 'auditor', cause: expect.stringContaining(why) as unknown },
  ])
})

test('one client has two streams at once, and leaves the others theirs', () => {
  const { to } = aSending()
  const statuses = ['a', 'a', 'a', 'b'].map((client) => to(client)).map((reply) => reply instanceof Failure)
  expect(statuses).toEqual([false, false, true, false])
})
