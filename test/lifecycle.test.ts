// Stop as an operator sees it, and what else the listener has a part in: signals, drains, exit codes, what is said and what is left behind.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { findOpen } from '../src/store/tables/released-batches.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { aCluster, aFolder, processesOf } from './embedded/drive.ts'
import { readStored } from './evidence.ts'
import { aSlowTransaction, startLoad, type Outcome } from './load.ts'
import { startService, until } from './service.ts'
import { aStartOn, failedStart, outputOf, startMain } from './start-main.ts'
import { aTransaction } from './transactions.ts'

const ROOT = join(import.meta.dirname, '..')

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

const inDoubt = async () => (await readStored(database.pool)).inDoubt

const unlocks: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const unlock of unlocks.splice(0)) await unlock()
})

/** How long the service waits for a lock. */
const LOCK_MS = 3_000

type Locked = 'refusal_records' | 'in_doubt_intents'

/** Waits until a statement on a table that is locked waits. */
async function someoneWaits(table: Locked): Promise<void> {
  await until(async () => {
    const { rowCount } = await database.pool.query(
      `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
      [`%${table}%`],
    )
    return rowCount
  }, `a statement on ${table} to wait`)
}

/** Locks a table, so that every statement on it waits. Returns a function that unlocks it. */
async function lock(table: Locked): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  unlocks.push(() => client.end())
  await client.query(`BEGIN; LOCK TABLE ${table}`)
  return async () => void (await client.query('COMMIT'))
}

describe('stop', () => {
  // proves fault: SIGTERM, SIGINT or SIGHUP under load
  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    '%s under load, twice: whatever was taken in is answered, nothing more is, and the exit code is 0',
    async (signal) => {
      const service = await startService({
        databaseUrl: database.url,
        env: { SHUTDOWN_TIMEOUT_MS: '120000' },
      })
      const doubtedBefore = await inDoubt()
      const kept = keptConnection(service.url)
      expect(await kept.get('/ready')).toMatchObject({ status: 200 })
      const load = startLoad(service, 16)
      await until(() => load.count(200) > 20, 'the load')
      const slow = Array.from({ length: 3 }, () => aSlowTransaction(2_500))
      const slowReplies = slow.map((transaction) => service.post('/execute', transaction))
      const slowIds = slow.map(({ businessTransactionId }) => businessTransactionId)
      const called = async () => (await findOpen(database.pool, slowIds)).size === slow.length
      await until(called, 'the slow connectors to be called')
      const unlock = await lock('refusal_records')
      const askedAt = performance.now()
      let readMs: number | undefined
      const blocked = service.get(`/refusal/${slowIds[0]}`).finally(() => {
        readMs = performance.now() - askedAt
      })
      await someoneWaits('refusal_records')

      const signalledAt = performance.now()
      const exited = once(service.process, 'exit')
      service.process.kill(signal)
      await until(() => service.lines().some(({ msg }) => msg === 'stopping'), 'the stop')
      service.process.kill(signal)
      expect(await kept.get('/ready')).toMatchObject({ status: 503, connection: 'close' })
      await until(() => isRefused(service.url), 'new connections to be refused')
      const refusedAt = performance.now()

      for (const reply of slowReplies) expect((await reply).status).toBe(200)
      // On a slow machine the reader may have had its answer: the service waits so long for a lock, and then says so.
      if (readMs === undefined) {
        expect(service.process.exitCode).toBeNull()
        expect(service.lines().some(({ msg }) => msg === 'stopped')).toBe(false)
      }
      await unlock()
      const read = await blocked
      expect(read.status).toBe(read.status === 503 && readMs! >= LOCK_MS ? 503 : 404)
      const [exitCode] = await exited
      expect(exitCode).toBe(0)
      const outcomes = await load.stop()
      // Requests that were sent before the signal are answered, and those sent after the socket has closed are refused. In between, the kernel may
      // make a connection that the close resets or ends: its request was never read.
      const { claimed } = await readStored(database.pool)
      const mayBeReset = ({ transaction, sentAt }: Outcome) =>
        sentAt >= signalledAt && sentAt <= refusedAt && !claimed.has(transaction.businessTransactionId)
      const unanswered = outcomes.filter(
        (outcome) =>
          outcome.reply?.status !== 200 &&
          outcome.lost !== 'ECONNREFUSED' &&
          !(/^(ECONNRESET|UND_ERR_SOCKET)$/.test(outcome.lost ?? '') && mayBeReset(outcome)),
      )
      expect(unanswered).toEqual([])
      expect(await inDoubt()).toEqual(doubtedBefore)
      await service.stop()
      await until(() => service.lines().at(-1)?.['msg'] === 'stopped', 'the last line of the log')
    },
  )

  // proves fault: SIGTERM while a connector never
  test('a connector that never answers is not waited for beyond SHUTDOWN_TIMEOUT_MS, and its intent stays in doubt', async () => {
    const service = await startService({ databaseUrl: database.url, env: { SHUTDOWN_TIMEOUT_MS: '300' } })
    const hanging = aTransaction({ intent: { parameters: { amount: 42, hang: true } } })
    const lost = expect(service.post('/execute', hanging)).rejects.toThrow('fetch failed')
    await until(async () => (await inDoubt()).has(hanging.businessTransactionId), 'the call')
    const signalledAt = performance.now()
    expect(await service.stop()).toBe(0)
    expect(performance.now() - signalledAt).toBeLessThan(10_000) // without the variable
    await lost
    expect((await inDoubt()).has(hanging.businessTransactionId)).toBe(true)
  })

  test('cuts a sweep for intents in doubt off, which is no error', async () => {
    const service = await startService({ databaseUrl: database.url })
    await lock('in_doubt_intents')
    await someoneWaits('in_doubt_intents')
    expect(await service.stop()).toBe(0)
    expect(service.lines().filter(({ level }) => Number(level) >= 50)).toEqual([])
  })

  // proves fault: Whoever reads the log goes
  test('a log that nobody reads any more changes nothing', async () => {
    const service = await startService({ databaseUrl: database.url })
    service.process.stdout?.destroy()
    service.process.stderr?.destroy()
    for (let i = 0; i < 20; i++) expect((await service.post('/execute', aTransaction())).status).toBe(200)
    expect(await service.stop()).toBe(0)
  })

  // proves fault: SIGTERM during a start that waits
  test('SIGTERM during a start that waits for its turn to migrate ends it at once, with exit code 0', async () => {
    const migrating = new Client({ connectionString: database.url })
    await migrating.connect()
    unlocks.push(() => migrating.end())
    await migrating.query('BEGIN; SELECT pg_advisory_xact_lock(7166460030604961650)')
    const waiting = async (): Promise<boolean> => {
      const { rows } = await database.pool.query(
        `SELECT FROM pg_locks JOIN pg_database ON oid = database
         WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted`,
      )
      return rows.length > 0
    }
    const dataDir = aFolder()
    const { child, ended } = startMain({ ...aStartOn(database), DATA_DIR: dataDir })
    await until(waiting, 'the start to wait')
    const signalledAt = performance.now()
    child.kill('SIGTERM')
    expect(await ended).toEqual({ exitCode: 0, said: '' })
    expect(performance.now() - signalledAt).toBeLessThan(60_000)
    expect(processesOf(dataDir)).toEqual([])
    await migrating.query('COMMIT')
    await until(async () => !(await waiting()), 'its connection to be gone')
  })

  test.each([
    ['SIGTERM to npm alone, as a supervisor sends it', 'SIGTERM', false],
    ['SIGINT to npm and all under it, as a terminal sends it', 'SIGINT', true],
  ] as const)('npm start, then %s: exit code 0, and no process is left', async (_, signal, toGroup) => {
    const folder = aFolder()
    const npm = spawn('npm', ['start'], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], HOME: folder, DATA_DIR: folder, PORT: '0' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    const output = outputOf(npm)
    await until(() => output().includes('"msg":"listening"'), 'the service to listen')
    // It has printed its first key and how to use it.
    expect(output()).toMatch(/csk_/)
    expect(output()).toContain('curl')
    process.kill(toGroup ? -(npm.pid as number) : (npm.pid as number), signal)
    const [exitCode] = await once(npm, 'exit')
    expect(exitCode).toBe(0)
    expect(processesOf(folder)).toEqual([])
  })
})

test('a start on a port in use says so, and stops the database that it started', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as AddressInfo
  const dataDir = aCluster()
  const { exitCode, said } = await failedStart({ PORT: String(port), DATA_DIR: dataDir })
  taken.close()
  expect(said).toMatch(new RegExp(`^countersign: cannot listen on 127\\.0\\.0\\.1:${port}: .*\n$`))
  expect(exitCode).toBe(1)
  expect(processesOf(dataDir)).toEqual([])
})

test.each([
  ['HOST', 'x86_64-conda-linux-gnu.invalid'],
  ['HOST', '203.0.113.1'],
  ['HOST', '2001:db8::1'],
  ['METRICS_HOST', 'metrics.invalid'],
])(
  'a %s that is none of this machine (%s) is named before the database is started',
  async (variable, host) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'countersign-test-'))
    const { exitCode, said } = await failedStart({ [variable]: host, METRICS_PORT: '0', DATA_DIR: dataDir })
    const left = readdirSync(dataDir)
    rmSync(dataDir, { recursive: true })
    expect(said).toMatch(
      new RegExp(
        `^countersign: ${variable} must be an address or a name of this machine, and ${host} cannot .*\n$`,
      ),
    )
    expect({ exitCode, left }).toEqual({ exitCode: 1, left: [] })
  },
)

test('every request is one line of the log, and load alone leaves nothing in doubt', async () => {
  const service = await startService({ databaseUrl: database.url })
  const doubtedBefore = await inDoubt()
  const load = startLoad(service, 64)
  await until(() => load.count(200) >= 500, '500 executions')
  const outcomes = await load.stop()
  expect(outcomes.filter(({ reply }) => reply?.status !== 200)).toEqual([])
  expect(await inDoubt()).toEqual(doubtedBefore)
  expect((await service.get('/nowhere')).status).toBe(404)
  expect(await service.stop()).toBe(0)

  const requestLines = () => service.lines().filter(({ msg }) => msg === 'request')
  await until(() => requestLines().length >= outcomes.length + 1, 'the last of the log')
  const lines = requestLines()
  expect(lines).toHaveLength(outcomes.length + 1)
  const logged = new Set(lines.map(({ requestId }) => requestId))
  expect(outcomes.every(({ reply }) => logged.has(reply?.headers.get('x-request-id')))).toBe(true)
  expect(lines[0]).toMatchObject({ method: 'POST', path: '/execute', status: 200, caller: 'tester' })
  expect(lines.at(-1)).toMatchObject({ method: 'GET', path: '/nowhere', status: 404 })
})

/** Whether new connections are. */
async function isRefused(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  try {
    await once(socket, 'connect')
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED'
  } finally {
    socket.destroy()
  }
}

/** One connection that stays open between its requests. */
function keptConnection(url: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    async get(path: string): Promise<{ status: number | undefined; connection: string | undefined }> {
      const [reply] = await once(request(url + path, { agent }).end(), 'response')
      reply.resume()
      await once(reply, 'end')
      return { status: reply.statusCode, connection: reply.headers.connection }
    },
  }
}
