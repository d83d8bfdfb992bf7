// Start and stop as an operator sees them: signals, drains, exit codes, what is said and what is left behind.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { generateKeys } from '../src/core/signing/keys.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { aCluster, aFolder, processesOf } from './embedded/drive.ts'
import { readStored } from './evidence.ts'
import { aSlowTransaction, startLoad, type Outcome } from './load.ts'
import { startService, until } from './service.ts'
import { makeKeys } from './signing-keys.ts'
import { aTransaction } from './transactions.ts'
import { baseEnvironment } from './run/environment.ts'

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

/** Locks a table, so that every statement on it waits. Returns a function that unlocks it. */
async function lock(table: 'refusal_records' | 'in_doubt_intents'): Promise<() => Promise<void>> {
  const client = new Client({ connectionString: database.url })
  await client.connect()
  unlocks.push(() => client.end())
  await client.query(`BEGIN; LOCK TABLE ${table}`)
  return async () => void (await client.query('COMMIT'))
}

describe('stop', () => {
  // proves fault: SIGTERM or SIGINT under load
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s under load, twice: whatever was taken in is answered, nothing more is, and the exit code is 0',
    async (signal) => {
      const service = await startService({ databaseUrl: database.url })
      const doubtedBefore = await inDoubt()
      const kept = keptConnection(service.url)
      expect(await kept.get('/ready')).toMatchObject({ status: 200 })
      const load = startLoad(service, 16)
      await until(() => load.count(200) > 20, 'the load')
      const slow = Array.from({ length: 3 }, () => aSlowTransaction(1_200))
      const slowReplies = slow.map((transaction) => service.post('/execute', transaction))
      const unlock = await lock('refusal_records')
      const blocked = service.get(`/refusal/${slow[0]?.businessTransactionId}`)
      await until(async () => {
        const released = await inDoubt()
        return slow.every((one) => released.has(one.businessTransactionId))
      }, 'the slow connectors to be called')

      const signalledAt = performance.now()
      service.process.kill(signal)
      await until(() => service.lines().some(({ msg }) => msg === 'stopping'), 'the stop')
      service.process.kill(signal)
      expect(await kept.get('/ready')).toMatchObject({ status: 503, connection: 'close' })
      await until(() => isRefused(service.url), 'new connections to be refused')
      const refusedAt = performance.now()

      for (const reply of slowReplies) expect((await reply).status).toBe(200)
      expect(service.process.exitCode).toBeNull() // the blocked reader is still waited for
      expect(service.lines().some(({ msg }) => msg === 'stopped')).toBe(false)
      await unlock()
      expect((await blocked).status).toBe(404)
      const [exitCode] = await once(service.process, 'exit')
      expect(exitCode).toBe(0)
      const outcomes = await load.stop()
      // What was sent before the signal is answered, and what is sent after the socket has closed is refused. In between, the kernel may
      // make a connection that the close resets: its request was never read.
      const { claimed } = await readStored(database.pool)
      const mayBeReset = ({ transaction, sentAt }: Outcome) =>
        sentAt >= signalledAt && sentAt <= refusedAt && !claimed.has(transaction.businessTransactionId)
      const unanswered = outcomes.filter(
        (outcome) =>
          outcome.reply?.status !== 200 &&
          outcome.lost !== 'ECONNREFUSED' &&
          !(outcome.lost === 'ECONNRESET' && mayBeReset(outcome)),
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
    await until(async () => {
      const { rowCount } = await database.pool.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      )
      return rowCount === 1
    }, 'the sweep to wait')
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
    const { child, ended } = startMain({ ...withOwnDatabase(), DATA_DIR: dataDir })
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

/** What every start ends with: where the pages for people are. */
const pagesOf = (url: string) =>
  ['documentation', 'reference', 'handbook', 'verifier']
    .map((name) => `  ${`${name[0]?.toUpperCase()}${name.slice(1)}`.padEnd(13)}  ${url}/${name}\n`)
    .join('')

test('a start with callers of its own says where it is and where its pages are', async () => {
  const service = await startService({ databaseUrl: database.url })
  const said = `Countersign is ready at ${service.url}.\n${pagesOf(service.url)}`
  await until(() => service.output().includes(said), 'the sentence')
  expect(await service.stop()).toBe(0)
})

test('a later start says what became of the first key, and GET /ready which approved policy has another file, without its path', async () => {
  const env = { DATA_DIR: aFolder(), SERVICE_API_KEYS: '' }
  const first = await startService({ env })
  await until(() => first.output().includes('curl -sS'), 'the first steps')
  await until(() => first.output().includes(pagesOf(first.url)), 'the pages')
  expect(first.output()).not.toContain('if it is lost')
  expect(await first.stop()).toBe(0)

  const policyDir = aFolder()
  cpSync(join(ROOT, 'policies', 'sandbox-echo'), join(policyDir, 'sandbox-echo'), { recursive: true })
  const file = join(policyDir, 'sandbox-echo', '1.0.0', 'policy.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('1000', '5000'))
  const second = await startService({ env: { ...env, POLICY_DIR: policyDir, LOG_LEVEL: 'debug' } })
  const said = `Countersign is ready at ${second.url}. The key of local-dev was shown at its first start; if it is lost, delete ${env.DATA_DIR}/callers.json and start again.\n`
  await until(() => second.output().includes(said + pagesOf(second.url)), 'the sentence')
  expect(second.output()).not.toContain('csk_')
  const warning = "Policy 'sandbox-echo' version '1.0.0' keeps its approved content; its file differs."
  expect((await second.get('/ready')).body).toEqual({
    status: 'READY',
    authDisabled: false,
    warnings: [warning],
  })
  expect(second.lines()).toContainEqual(expect.objectContaining({ level: 50, msg: warning, file }))
  const unchecked =
    "Policy sandbox-echo 1.0.0: nothing checks the signal 'approved'; it is the caller's word."
  expect(second.lines()).toContainEqual(expect.objectContaining({ level: 20, msg: unchecked }))
  expect(await second.stop()).toBe(0)
})

describe('a start that cannot be', () => {
  test('is one fatal line of the log with the reason, and its stack only at level debug', async () => {
    const env = { DATABASE_URL: 'postgres://countersign@127.0.0.1:1/x', SIGNING_KEY_DIR: aFolder() }
    for (const level of ['info', 'debug']) {
      const start = startService({ env: { ...env, LOG_LEVEL: level } })
      const output = await start.then(String, (error: Error) => error.message)
      expect(output).toContain('countersign: The database of DATABASE_URL cannot be opened: ')
      expect(output.match(/"reason":"The database of DATABASE_URL cannot be opened: /g)).toHaveLength(1)
      expect(output.includes('"stack":')).toBe(level === 'debug')
    }
  })

  test('on a port in use says so, and stops the database that it started', async () => {
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

  test('on a broken policy names the file and the mistake', async () => {
    const dataDir = aCluster()
    const policyDir = aFolder()
    cpSync(join(ROOT, 'policies', 'sandbox-echo'), join(policyDir, 'sandbox-echo'), { recursive: true })
    const file = join(policyDir, 'sandbox-echo', '1.0.0', 'policy.yaml')
    writeFileSync(file, 'rules: [')
    const { exitCode, said } = await failedStart({ DATA_DIR: dataDir, POLICY_DIR: policyDir })
    expect(said).toContain(`countersign: ${file}`)
    expect(exitCode).toBe(1)
    expect(processesOf(dataDir)).toEqual([])
  })

  test('without any policy names the folder', async () => {
    const policyDir = aFolder()
    expect(await failedStart({ ...withOwnDatabase(), POLICY_DIR: policyDir })).toEqual({
      exitCode: 1,
      said: `countersign: POLICY_DIR ${policyDir} holds no policy.\n`,
    })
  })

  test('without keys names the folder and the command that makes them', async () => {
    const folder = join(aFolder(), 'none')
    expect(await failedStart({ ...withOwnDatabase(), SIGNING_KEY_DIR: folder })).toEqual({
      exitCode: 1,
      said: `countersign: No ed25519 key in ${folder}. To make one: countersign keys generate --dir ${folder}\n`,
    })
  })

  test("without the log's keys names their command and LOG=off, with which it starts", async () => {
    const folder = aFolder()
    generateKeys({ dir: folder, now: new Date() })
    expect(await failedStart({ ...withOwnDatabase(), SIGNING_KEY_DIR: folder })).toEqual({
      exitCode: 1,
      said:
        `countersign: No ed25519 key of the evidence log in ${join(folder, 'log')}. ` +
        `To make it: countersign keys generate --log --dir ${folder}. To run without the log: LOG=off.\n`,
    })
    const service = await startService({
      databaseUrl: database.url,
      signingKeyDir: folder,
      env: { LOG: 'off' },
    })
    expect(await service.stop()).toBe(0)
  })

  test('with another name than the log of its database has says both', async () => {
    const folder = aFolder()
    makeKeys(folder)
    const own = await createDatabase()
    const env = { ...withOwnDatabase(), DATABASE_URL: own.url, SIGNING_KEY_DIR: folder }
    const first = await startService({
      databaseUrl: own.url,
      signingKeyDir: folder,
      env: { LOG_ORIGIN: 'first.example' },
    })
    expect(await first.stop()).toBe(0)
    expect(await failedStart({ ...env, LOG_ORIGIN: 'second.example' })).toEqual({
      exitCode: 1,
      said:
        'countersign: LOG_ORIGIN is second.example, but the log of this database is first.example/log/1: ' +
        'signed as it is, its name cannot change. Set LOG_ORIGIN=first.example, or leave it out.\n',
    })
    await own.drop()
  })

  test('without its database names DATABASE_URL and the reason, not the password', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const { exitCode, said } = await failedStart({
        ...withOwnDatabase(),
        DATABASE_URL: `postgres://countersign:hush@${host}:1/x`,
      })
      expect(said).toMatch(
        /^countersign: The database of DATABASE_URL cannot be opened: connect ECONNREFUSED .*\n$/,
      )
      expect(said).not.toContain('hush')
      expect(exitCode).toBe(1)
    }
  })

  test('on a data folder in use refuses, and the one that uses it goes on', async () => {
    const dataDir = aCluster()
    const service = await startService({ env: { DATA_DIR: dataDir } })
    const { exitCode, said } = await failedStart({ DATA_DIR: dataDir })
    expect(said).toContain(`${dataDir} is in use by another Countersign`)
    expect(exitCode).toBe(1)
    expect((await service.post('/execute', aTransaction())).status).toBe(200)
    expect(await service.stop()).toBe(0)
    expect(processesOf(dataDir)).toEqual([])
  })
})

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

/** What a start on the test's database needs; there are no keys in its folder. */
const withOwnDatabase = () => ({
  DATABASE_URL: database.url,
  SIGNING_KEY_DIR: aFolder(),
  SERVICE_API_KEYS: JSON.stringify([{ callerId: 'a', keyHash: 'a'.repeat(64) }]),
})

/** The exit code of a start, and what it wrote to standard error. */
type Ended = Promise<{ exitCode: unknown; said: string }>

const failedStart = (env: Record<string, string>): Ended => startMain(env).ended

function startMain(env: Record<string, string>): { child: ChildProcess; ended: Ended } {
  const child = spawn(process.execPath, [join(ROOT, 'src', 'server', 'main.ts')], {
    env: { ...baseEnvironment, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy() // as by `| head`: the sentence on standard error is enough
  const said = outputOf(child)
  return { child, ended: once(child, 'close').then(([exitCode]: unknown[]) => ({ exitCode, said: said() })) }
}

function outputOf(child: ChildProcess): () => string {
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  return () => output
}

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
