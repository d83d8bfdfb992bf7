// A start as an operator sees it: what it says, and what stops it.
import { once } from 'node:events'
import { chmodSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateKeys } from '../src/core/signing/keys.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { aCluster, aFolder, processesOf } from './embedded/drive.ts'
import { startService, until } from './service.ts'
import { makeKeys } from './signing-keys.ts'
import { aStartOn, failedStart } from './start-main.ts'
import { aTransaction } from './transactions.ts'

const ROOT = join(import.meta.dirname, '..')

let database: TestDatabase
beforeAll(async () => {
  database = await createDatabase()
})
afterAll(() => database.drop())

/** Every start ends with these lines: where the pages for people are. */
const pagesOf = (url: string) =>
  [
    ['Documentation', 'documentation'],
    ['Reference', 'reference'],
    ['Handbook', 'handbook'],
    ['Verifier', 'verifier'],
    ['Offline signer', 'signer'],
  ]
    .map(([title = '', name]) => `  ${title.padEnd(14)}  ${url}/${name}\n`)
    .join('')

/** The embedded service has a console, by the name of this machine. */
const consoleOf = (url: string) =>
  `  ${'Console'.padEnd(14)}  http://localhost:${new URL(url).port}/console\n`

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
  const said = `Countersign is ready at ${second.url}. The key of local-dev was shown at its first start; if it is lost, delete ${env.DATA_DIR}/callers.json, with all callers in it, and start again.\n`
  await until(
    () => second.output().includes(said + consoleOf(second.url) + pagesOf(second.url)),
    'the sentence',
  )
  expect(second.output()).not.toContain('csk_')
  const warning = "Policy 'sandbox-echo' version '1.0.0' keeps its approved content; its file differs."
  expect((await second.get('/ready')).body).toEqual({
    status: 'READY',
    authDisabled: false,
    warnings: [warning],
  })
  expect(second.lines()).toContainEqual(expect.objectContaining({ level: 50, msg: warning, file }))
  const unchecked =
    "Policy sandbox-echo 1.0.0: Nothing checks the signal 'approved'; it is the caller's word."
  expect(second.lines()).toContainEqual(expect.objectContaining({ level: 20, msg: unchecked }))
  await leadsToConsole(second.url)
  expect(await second.stop()).toBe(0)
})

/** The console of the embedded service is at localhost alone; the address of the API leads there, and no other name does. */
async function leadsToConsole(url: string): Promise<void> {
  const console = `http://localhost:${new URL(url).port}`
  for (const path of ['/console', '/console/requests/a%20b', '/console/executions?status=failed&q=a%26b']) {
    const { status, headers } = await fetch(url + path, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([307, console + path])
    const [other] = await once(request(url + path, { headers: { host: 'a.example' } }).end(), 'response')
    expect((other as IncomingMessage).resume().statusCode).toBe(404)
  }
}

test('private keys that others can read are a warning of the start, and of GET /ready until they are mended, without their path', async () => {
  const folder = aFolder()
  makeKeys(folder)
  const [file = ''] = readdirSync(folder).filter((name) => name.endsWith('.private.pem'))
  chmodSync(join(folder, file), 0o644)
  const service = await startService({ databaseUrl: database.url, signingKeyDir: folder })
  const warning = (shown: string) =>
    `${shown}/${file} can be read by others (mode 0644), who can sign with it. To mend it: chmod go-r ${shown}/*.private.pem`
  expect(service.lines()).toContainEqual(expect.objectContaining({ level: 40, msg: warning(folder) }))
  expect((await service.get('/ready')).body.warnings).toEqual([warning('"$SIGNING_KEY_DIR"')])
  chmodSync(join(folder, file), 0o600)
  expect((await service.get('/ready')).body.warnings).toBeUndefined()
  expect(await service.stop()).toBe(0)
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

  test('on broken webhook rules names the file, the line, the rule and the mistake', async () => {
    const webhookDir = aFolder()
    const file = join(webhookDir, 'acme.yaml')
    writeFileSync(
      file,
      "provider: acme\nrules:\n  - { id: paid, when: payload.event = 'paid', transaction: payload.id, says: executed }\n",
    )
    const { exitCode, said } = await failedStart({ ...aStartOn(database), WEBHOOK_DIR: webhookDir })
    expect(said).toContain(`countersign: ${file}, line 3, column 37, rule paid, when: `)
    expect(exitCode).toBe(1)
  })

  test('without any policy names the folder', async () => {
    const policyDir = aFolder()
    expect(await failedStart({ ...aStartOn(database), POLICY_DIR: policyDir })).toEqual({
      exitCode: 1,
      said: `countersign: POLICY_DIR ${policyDir} holds no policy.\n`,
    })
  })

  test('without keys names the folder and the command that makes them', async () => {
    const folder = join(aFolder(), 'none')
    expect(await failedStart({ ...aStartOn(database), SIGNING_KEY_DIR: folder })).toEqual({
      exitCode: 1,
      said: `countersign: No ed25519 key in ${folder}. To make one: countersign keys generate --dir ${folder}\n`,
    })
  })

  test("without the log's keys names their command and LOG=off, with which it starts", async () => {
    const folder = aFolder()
    generateKeys({ dir: folder, now: new Date() })
    expect(await failedStart({ ...aStartOn(database), SIGNING_KEY_DIR: folder })).toEqual({
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

  // proves abuse: A private key, or its folder
  test.each(['', 'log'])(
    'with a private key in /%s that others can write names it and the command that mends it',
    async (sub) => {
      const folder = aFolder()
      makeKeys(folder)
      const [file = ''] = readdirSync(join(folder, sub)).filter((name) => name.endsWith('.private.pem'))
      const path = join(folder, sub, file)
      chmodSync(path, 0o622)
      expect(await failedStart({ ...aStartOn(database), SIGNING_KEY_DIR: folder })).toEqual({
        exitCode: 1,
        said: `countersign: ${path} can be written by others (mode 0622), who can put another key there. To mend it: chmod go-w ${path}\n`,
      })
    },
  )

  test('with another name than the log of its database has says both', async () => {
    const folder = aFolder()
    makeKeys(folder)
    const own = await createDatabase()
    const env = { ...aStartOn(database), DATABASE_URL: own.url, SIGNING_KEY_DIR: folder }
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

  test.each(['POLICY_DIR', 'WEBHOOK_DIR', 'NOTIFICATIONS'])(
    'without what %s names says so',
    async (variable) => {
      const { exitCode, said } = await failedStart({ ...aStartOn(database), [variable]: '/nowhere' })
      expect(said).toBe(`countersign: ${variable} must be a path that exists: there is no /nowhere.\n`)
      expect(exitCode).toBe(1)
    },
  )

  test('without its database names DATABASE_URL and the reason, not the password', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const { exitCode, said } = await failedStart({
        ...aStartOn(database),
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
