// Lists of what the log holds of somebody, and the command that fetches and verifies them.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifyCompleteness } from '../../src/formats/log/completeness.ts'
import { parseVkey } from '../../src/formats/log/note.ts'
import { policyOfKeys, type LogPolicy } from '../../src/formats/log/policy.ts'
import { noteCrypto } from '../../src/core/signing/log-keys.ts'
import { untilLogRests, type TestDatabase } from '../database.ts'
import { runCommand } from '../command.ts'
import { aCaller, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const [other, auditor, busy] = [
  aCaller('other'),
  aCaller('auditor', { readAll: true, allowedCapabilities: [] }),
  aCaller('busy', { allowedPrincipalIds: ['tester'] }),
]

let database: TestDatabase
let service: TestService
let policy: LogPolicy
const folder = mkdtempSync(join(tmpdir(), 'countersign-complete-'))
const description = join(folder, 'log.json')
withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start({
    callers: [other.entry, auditor.entry, busy.entry],
  })
  const { text: saved } = await service.get('/.well-known/countersign-log', { key: null })
  writeFileSync(description, saved)
  const { logs } = JSON.parse(saved) as { logs: { vkeys: string[] }[] }
  const vkeys = logs.flatMap((log) => log.vkeys)
  policy = policyOfKeys(vkeys.map((vkey) => parseVkey(vkey, noteCrypto.sha256)))
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

const post = (body: object, key = auditor.key, path = '/log/completeness') =>
  service.post(path, body, { key })
const streams = async () =>
  Number((await database.pool.query<{ count: string }>('SELECT count(*) FROM log_streams')).rows[0]!.count)

async function execute(count: number, changes: (i: number) => object = () => ({}), key = service.key) {
  const answers = await Promise.all(
    Array.from({ length: count }, (_, i) => service.post('/execute', aTransaction(changes(i)), { key })),
  )
  return answers.map(({ status }) => status)
}

const complete = (args: readonly string[]) => runCommand(['log', 'complete', ...args], {})

const aName = () => `random:${randomUUID()}`

describe('POST /log/completeness 200', () => {
  test('proves what the log holds of a caller, a capability and a policy', async () => {
    expect(await execute(3)).toEqual([200, 200, 200])
    await untilLogRests(database)
    for (const [name, value] of [
      ['caller', 'tester'],
      ['capability', 'sandbox:echo'],
      ['policy', 'sandbox-echo'],
    ] as const) {
      const { status, body } = await post({ stream: { [name]: value } })
      expect(status).toBe(200)
      const { count, entries, tied } = verifyCompleteness(
        body,
        { policy, stream: { name, value } },
        noteCrypto,
      )
      expect({ count, tied, kinds: entries.map(({ kind }) => kind).toSorted() }).toEqual({
        count: 6,
        tied: true,
        kinds: [
          ...Array.from({ length: 3 }, () => 'authorization'),
          ...Array.from({ length: 3 }, () => 'receipt'),
        ],
      })
    }
  })

  test('gives a caller its own stream, without the salt', async () => {
    expect((await post({ stream: { caller: 'tester' } })).body).toHaveProperty('salt')
    const { status, body } = await post({ stream: { caller: 'tester' } }, service.key)
    expect(status).toBe(200)
    expect(body).not.toHaveProperty('salt')
  })

  test('is at the prefix of the log too', async () => {
    const stream = { caller: 'tester' }
    const at = (log: string) => service.post(`/log/${log}/completeness`, { stream }, { key: auditor.key })
    expect((await at('1')).status).toBe(200)
    for (const log of ['2', '0', 'x', '99999999999']) expect((await at(log)).status).toBe(404)
  })

  test('counts nothing for names that do not exist, however many refusals name them', async () => {
    await untilLogRests(database)
    const before = await streams()
    for (let round = 0; round < 10; round++) {
      const refused = await execute(100, () => ({ intent: { action: aName() } }))
      expect(new Set(refused)).toEqual(new Set([500]))
      await execute(10, () => ({ policy: { name: aName() } }))
    }
    const { rows } = await database.pool.query<{ count: string }>('SELECT count(*) FROM refusal_records')
    expect(rows[0]?.count).toBe('1000')
    await untilLogRests(database)
    expect(await streams()).toBe(before)
    const { body } = await post({ stream: { policy: 'sandbox-echo' }, from: 7 })
    const stream = { name: 'policy', value: 'sandbox-echo' } as const
    const { entries, count } = verifyCompleteness(body, { policy, stream, from: 7, to: 262 }, noteCrypto)
    // They are counted for their caller and their policy.
    expect(count).toBe(1006)
    expect(new Set(entries.map(({ kind }) => kind))).toEqual(new Set(['refusal']))
  })
})

describe('POST /log/completeness 404 streamNotFound', () => {
  test('is the answer for a stream of nobody, and for that of somebody else', async () => {
    const answer = { status: 404, body: { error: 'There is no such stream in the evidence log.' } }
    for (const [stream, key] of [
      [{ caller: 'tester' }, other.key],
      [{ capability: 'sandbox:echo' }, other.key],
      [{ caller: 'other' }, other.key],
      [{ caller: 'nobody' }, auditor.key],
    ] as const)
      expect(await post({ stream }, key)).toMatchObject(answer)
  })
})

describe('POST /log/completeness 404 noCheckpoint', () => {
  test.each(['9', '0', 'x', '1000000000'])('is the answer for log %s, which there is not', async (number) => {
    expect(
      await post({ stream: { caller: 'tester' } }, auditor.key, `/log/${number}/completeness`),
    ).toMatchObject({
      status: 404,
      body: { error: expect.stringMatching(/^There is no such log, or /) },
    })
  })
})

describe('POST /log/completeness 400 invalidField', () => {
  test('names what is wrong', async () => {
    expect(await post({ stream: { caller: 'tester' }, from: -1 })).toMatchObject({
      status: 400,
      body: { error: 'from must be a whole number, 1 or more.' },
    })
  })
})

describe('countersign log complete', () => {
  beforeAll(async () => {
    await execute(160, () => ({}), busy.key)
    await untilLogRests(database)
  })

  test('lists every entry, from several answers whose checkpoints follow each other', async () => {
    let answered = 0
    const proxy = await aProxy(async (request) => {
      // The log grows between two answers.
      if (request.method !== 'POST' || answered++ === 0) return
      await execute(1, () => ({}), busy.key)
      await untilLogRests(database)
    })
    const args = ['--stream', 'caller=busy', '--url', proxy.url, '--log', description]
    const { status, stdout: out, stderr: err } = await complete([...args, '--key', auditor.key])
    proxy.close()
    expect([status, answered], err).toEqual([0, 2])
    const lines = out.split('\n')
    const listed = lines.filter((line) => line.includes('\t')).map((line) => line.split('\t'))
    expect(listed.map(([n]) => n)).toEqual(Array.from({ length: 320 }, (_, i) => `${i + 1}`))
    expect(lines.find((line) => line.startsWith('caller=busy: 320 entries, and no others'))).toBeDefined()
    expect(out).toContain('computed from the salt')
    // Its owner sees the same, two more by now.
    const own = await complete([
      '--stream',
      'caller=busy',
      '--url',
      service.url,
      '--log',
      description,
      '--key',
      busy.key,
    ])
    expect([own.status, own.stderr]).toEqual([0, expect.any(String)])
    expect(own.stdout).toContain('caller=busy: 322 entries')
    expect(own.stdout).toContain('as the service says')
  })

  test('exits 1 where the answers prove nothing, and 2 where it cannot check', async () => {
    const args = ['--stream', 'caller=busy', '--log', description]
    let pages = 0
    const proxy = await aProxy(undefined, (body) => {
      const page = JSON.parse(body) as { entries: unknown[] }
      if (++pages === 2) page.entries.splice(3, 1)
      return JSON.stringify(page)
    })
    const dropped = await complete([...args, '--url', proxy.url, '--key', auditor.key])
    proxy.close()
    expect(dropped.status).toBe(1)
    expect(dropped.stdout).toMatch(
      /^Not proven: entry 4 of the list has the number 261 in the stream, not 260\.$/m,
    )
    for (const [more, why] of [
      [
        ['--url', service.url, '--key', other.key],
        'the service answers 404: There is no such stream in the evidence log.',
      ],
      [['--url', 'http://127.0.0.1:1', '--key', other.key], 'does not answer'],
      [['--url', service.url, '--stream', 'busy'], 'It must be one of caller, capability, policy, approver'],
      [['--url', service.url, '--log', join(folder, 'none')], 'cannot be read'],
    ] as const) {
      const { status, stderr: err } = await complete([...args, ...more])
      expect([status, err]).toEqual([2, expect.stringContaining(why)])
    }
  })
})

/** Between the command and the service. */
async function aProxy(
  before?: (request: IncomingMessage) => Promise<void>,
  changed: (body: string) => string = (body) => body,
): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer((request, response) => {
    void (async () => {
      await before?.(request)
      const { method = 'GET', url = '/', headers } = request
      const sent = await text(request)
      const answer = await fetch(service.url + url, {
        method,
        headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
        ...(method === 'POST' && { body: sent }),
      })
      const body = await answer.text()
      response.writeHead(answer.status).end(method === 'POST' ? changed(body) : body)
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}
