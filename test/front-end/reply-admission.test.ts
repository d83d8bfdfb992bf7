// Several things cut a reply that streams; one client has only so many of them at once.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { Failure } from '../../src/core/errors.ts'
import type { Answer } from '../../src/server/answer.ts'
import { openAdmission } from '../../src/server/http/admission.ts'
import { openCompute } from '../../src/server/http/compute.ts'
import type { Exchange } from '../../src/server/http/exchange.ts'
import { openReplyAdmission } from '../../src/server/http/reply-admission.ts'

const exchange: Exchange = {
  requestId: randomUUID(),
  method: 'GET',
  path: '/trust-records',
  ifNoneMatch: undefined,
  startedMs: 0,
  route: undefined,
  page: undefined,
  callerId: 'auditor',
  bySession: true,
  clientAddress: undefined,
  replyHeaders: {},
  refusedBy: undefined,
  wantsTiming: false,
  traceParent: undefined,
}

async function* pages() {
  for (const page of ['1', '2', '3']) yield page
}
const streamed = (): Answer => ({ status: 200, body: '', texts: pages() })

/** Sends with the real limits; its switches are what a stop, a revocation and a logout throw. */
function aSending() {
  const is = { stopping: false, over: false }
  const lines: Record<string, unknown>[] = []
  const send = openReplyAdmission({
    compute: openCompute(60_000),
    admission: openAdmission(100),
    stopping: () => is.stopping,
    log: (line) => void lines.push(line),
  })
  const to = (client: string) =>
    send(streamed(), exchange, { client, hasPlace: false, isOver: async () => is.over })
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
