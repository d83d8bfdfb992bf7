import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { makeRawKey } from '../src/core/callers/callers.ts'
import { sha256Hex } from '../src/store/sha256.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { processesOf } from './embedded/drive.ts'
import { startService, type TestService } from './service.ts'
import { baseEnvironment } from './run/environment.ts'

const ROOT = join(import.meta.dirname, '..')
const scopeless = { callerId: 'scopeless', key: makeRawKey() }
const nobody = { callerId: 'nobody', key: makeRawKey() }

let database: TestDatabase
let service: TestService
let folder: string

beforeAll(async () => {
  database = await createDatabase()
  service = await startService({
    databaseUrl: database.url,
    callers: [
      {
        callerId: scopeless.callerId,
        keyHash: sha256Hex(scopeless.key),
        allowedCapabilities: ['vendor:pay'],
      },
      {
        callerId: nobody.callerId,
        keyHash: sha256Hex(nobody.key),
        allowedCapabilities: ['*'],
        allowedPrincipalIds: [],
      },
    ],
  })
})

afterAll(async () => {
  await service.stop()
  await database.drop()
})

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
})

afterEach(() => rmSync(folder, { recursive: true }))

/** `npm run demo` with these arguments, no variable but PATH, TMPDIR and those given. */
function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [join(ROOT, 'demo', 'demo.ts'), ...args], {
    env: { ...baseEnvironment, TMPDIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const ended = once(child, 'close').then(([code]: unknown[]) => ({ code, stdout, stderr }))
  return { child, ended }
}

async function withService(env: Record<string, string>, use: (other: TestService) => Promise<void>) {
  const itsDatabase = await createDatabase()
  const other = await startService({ databaseUrl: itsDatabase.url, env })
  try {
    await use(other)
  } finally {
    await other.stop()
    await itsDatabase.drop()
  }
}

const demo = (args: string[], env?: Record<string, string>) => start(args, env).ended

const ANSWERS =
  /answer +200\n(.*\n)+.*answer +500 RUNTIME_ERROR {2}Execution rejected: Amount above 1000\.\n(.*\n)+.*answer +409 {2}Business Transaction '[0-9a-f-]{36}'\n +already exists\.\n(.*\n)+.*answer +400 {2}businessTransactionId must be a valid UUID\.\n/

/** The checks of a scene in order, `+` for a pass and `-` for a fail. */
function verdicts(page: string, scene: number): string {
  const text = page.split(/\n\n(?=\d {2})/)[scene] ?? ''
  const checks = text.matchAll(/(pass|fail) {2}(\w+)/g)
  return Array.from(checks, ([, verdict, name]) => name + (verdict === 'pass' ? '+' : '-')).join(' ')
}

function expectTheWholeStory({ code, stdout, stderr }: Awaited<ReturnType<typeof demo>>): void {
  expect(stderr).toBe('')
  expect(stdout).toMatch(ANSWERS)
  const sound = 'hash+ signature+ authorization+ binding+ hash+ signature+ record+ hash+ signature+'
  expect(verdicts(stdout, 5)).toBe(sound)
  const changed = 'hash- signature- authorization+ binding- hash+ signature+ record-'
  expect(verdicts(stdout, 6)).toBe(changed)
  expect(verdicts(stdout, 7)).toBe('hash+ signature- authorization+ binding-')
  expect(stdout).toContain('does not prove')
  expect(stdout).toMatch(/\nEverything was as expected\.\n$/)
  expect(code).toBe(0)
}

describe('a service of its own', () => {
  test('is started, shown and removed, whatever database the environment names', async () => {
    const result = await demo([], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' })
    expectTheWholeStory(result)
    expect(readdirSync(folder)).toEqual([])
    const url = /Countersign at (\S+)/.exec(result.stdout)?.[1] ?? ''
    await expect(fetch(url)).rejects.toThrow('fetch failed')
  })

  test('is removed too when nobody reads on, as with `| head`', async () => {
    const { child, ended } = start([])
    await once(child.stdout, 'data')
    child.stdout.destroy()
    child.stderr.destroy()
    expect((await ended).code).toBe(141)
    expect(processesOf(folder)).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('is removed on %s too', async (signal) => {
    const { child, ended } = start([])
    await once(child.stdout, 'data')
    child.kill(signal)
    const { code, stderr } = await ended
    expect(stderr).toBe('')
    expect(code).toBe(signal === 'SIGINT' ? 130 : 143)
    expect(readdirSync(folder)).toEqual([])
  })
})

describe('a running service', () => {
  test('is named by variables', async () => {
    const result = await demo([], { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: service.key })
    expectTheWholeStory(result)
    expect(result.stdout).toContain(`Countersign at ${service.url}\n   caller   tester, acting for tester\n`)
  })

  test('is named by options, which win', async () => {
    const args = ['--url', `${service.url}/`, '--key', service.key]
    expectTheWholeStory(
      await demo(args, { COUNTERSIGN_URL: 'http://127.0.0.1:1', COUNTERSIGN_API_KEY: 'csk_x' }),
    )
  })

  test('may sign with two algorithms: both are verified', () =>
    withService({ RECEIPT_ALGORITHMS: 'ed25519,ml-dsa-65' }, async ({ url, key }) => {
      expectTheWholeStory(await demo(['--url', url, '--key', key]))
    }))

  test('may have authentication disabled: no key is needed', () =>
    withService({ SERVICE_AUTH_DISABLED: 'true' }, async ({ url }) => {
      const result = await demo(['--url', url])
      expectTheWholeStory(result)
      expect(result.stdout).toContain('authentication is disabled')
    }))

  test('that answers otherwise is found out: exit code 1, and what was not as expected', async () => {
    cpSync(join(ROOT, 'policies', 'sandbox-echo'), join(folder, 'sandbox-echo'), { recursive: true })
    const file = join(folder, 'sandbox-echo', '1.0.0', 'policy.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('1000', '5000'))
    await withService({ POLICY_DIR: folder }, async ({ url, key }) => {
      const { code, stdout, stderr } = await demo(['--url', url, '--key', key])
      expect(stdout).not.toContain('Everything was as expected')
      expect(stderr).toContain('The answer to the rejected transaction: "200" instead of "500 RUNTIME_ERROR')
      expect(stderr).toContain('The checks of the refusal that fail: ["hash","signature"] instead of [].')
      expect(code).toBe(1)
    })
  })
})

describe('the page', () => {
  test('has 80 columns and no colour where nobody asks for any', async () => {
    const { stdout } = await demo(['--url', service.url, '--key', service.key])
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(stdout).not.toContain('\x1b')
  })
})

describe('exit code 1 and a sentence', () => {
  test.each([
    [
      'a wrong key',
      () => ['--url', service.url, '--key', 'csk_wrong'],
      /^The service does not know this key; /,
    ],
    ['no key', () => ['--url', service.url], /^This service needs a key; give one as /],
    ['a key with a typographic dash', () => ['--url', service.url, '--key', 'csk_…'], /^The key holds /],
    [
      'a key without the capability',
      () => ['--url', service.url, '--key', scopeless.key],
      /^Caller scopeless lacks the capability sandbox:echo; .*allowedCapabilities\.$/,
    ],
    [
      'a key without a principal',
      () => ['--url', service.url, '--key', nobody.key],
      /^Caller nobody may act for no principal; .*allowedPrincipalIds\.$/,
    ],
    [
      'an unreachable URL',
      () => ['--url', 'http://127.0.0.1:1'],
      /^Nobody answers at http:\/\/127\.0\.0\.1:1: /,
    ],
    ['no URL', () => ['--url', 'localhost:3000'], /^localhost:3000 is no http or https URL\.\nusage: /],
    ['a key and no URL', () => ['--key', 'csk_x'], /^--key needs --url\.\nusage: /],
    ['a misspelled option', () => ['--uri', 'x'], /^Unknown option '--uri'.*\nusage: /s],
  ])('for %s', async (_, args, sentence) => {
    const { code, stderr } = await demo(args())
    expect(stderr.trimEnd()).toMatch(sentence)
    expect(code).toBe(1)
  })

  test('for another kind of server', async () => {
    const server = createServer((_request, response) => response.end('<h1>It works!</h1>'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { code, stderr } = await demo([
      '--url',
      `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ])
    server.close()
    expect(stderr).toBe('This does not answer like Countersign: GET /callers/me is 200.\n')
    expect(code).toBe(1)
  })
})
