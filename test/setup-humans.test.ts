// countersign setup humans, and what the README and examples/llm-tools do with it, from a fresh clone, run as it is printed.
import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort } from '../src/cli/free-port.ts'
import { runCommand } from './command.ts'
import { aFolder } from './embedded/drive.ts'
import { baseEnvironment } from './run/environment.ts'
import { createDatabase } from './database.ts'
import { startService, until } from './service.ts'
import { makeKeys } from './signing-keys.ts'

const ROOT = join(import.meta.dirname, '..')

/** Process groups: npm and sh have children. */
const running: { readonly child: ChildProcess; readonly closed: Promise<unknown> }[] = []
const folders: string[] = []
afterAll(async () => {
  for (const { child } of running)
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL')
  await Promise.all(running.map(({ closed }) => closed))
  for (const folder of folders) rmSync(folder, { recursive: true })
})

/** A folder that holds what a clone does after `npm ci`. */
function aClone(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-trial-')))
  folders.push(folder)
  chmodSync(folder, 0o755) // started by root, PostgreSQL runs as another user
  const names =
    'bin clients docs examples migrations node_modules package.json policies src webhooks workers'.split(' ')
  for (const name of names) symlinkSync(join(ROOT, name), join(folder, name))
  return folder
}

function terminal(command: string, { cwd, env }: { cwd: string; env: Record<string, string> }) {
  const child = spawn('sh', ['-c', `exec ${command}`], {
    cwd,
    env: { ...baseEnvironment, HOME: cwd, ...env },
    detached: true,
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const closed = once(child, 'close') as Promise<[number | null]>
  running.push({ child, closed })
  return {
    child,
    closed,
    out: () => stdout,
    errors: () => stderr,
    /** Its exit code, with what it said where that is not 0. */
    ended: () => closed.then(([status]) => (status === 0 ? 0 : `${status}: ${stdout}${stderr}`)),
  }
}

/** The commands in the `sh` blocks of a section of a page. */
function commandsOf(page: string, section: RegExp): string[] {
  const [, found = ''] = section.exec(readFileSync(join(ROOT, page), 'utf8')) ?? []
  return Array.from(found.matchAll(/^```sh\n([^]*?)^```$/gm), ([, block = '']) => block)
    .join('')
    .split('\n')
    .filter((line) => line !== '')
}

const commands = commandsOf('README.md', /^## A first payment\n([^]*?)^##/m)
const [install, setup = '', start = '', receive = '', ask = '', sign = ''] = commands

describe("a trial, by the README's commands", () => {
  const cwd = aClone()
  let ports: { readonly connector: string; readonly tools: string }
  let service: ReturnType<typeof terminal>
  let url: URL
  let env: Record<string, string>

  // The ports alone are others than those that are printed.
  const here = (command: string) =>
    command
      .replaceAll(':3000', `:${url.port}`)
      .replaceAll('8080', ports.connector)
      .replaceAll('8081', ports.tools)

  beforeAll(async () => {
    ports = { connector: String(await freePort()), tools: String(await freePort()) }
    const made = terminal(
      `${setup} --connector http://127.0.0.1:${ports.connector}/ --tools http://127.0.0.1:${ports.tools}/`,
      {
        cwd,
        env: {},
      },
    )
    expect(await made.ended()).toBe(0)
    // The output that follows is what the README prints.
    for (const command of [start, receive, ask, sign])
      expect(made.out()).toContain(`\n  ${command.replaceAll('8080', ports.connector)}\n`)
    expect(made.out()).toContain('For a trial only')
    expect(made.out()).toMatch(
      /^The profiles are for http:\/\/\S+, with the data in \S+ \(.*\)\. Start the service with the same settings\.$/m,
    )
    service = terminal(start, { cwd, env: { PORT: '0' } })
    const [, origin = ''] = await until(
      () => /"url":"([^"]*)"/.exec(service.out()) ?? undefined,
      'the service',
    )
    url = new URL(origin)
    env = { COUNTERSIGN_URL: origin }
    // It has another port than the profiles say.
    const humans = join(cwd, 'mine', 'humans')
    for (const name of readdirSync(humans).filter((file) => file.endsWith('.json'))) {
      const profile = join(humans, name)
      const written = JSON.parse(readFileSync(profile, 'utf8')) as object
      if ('url' in written) writeFileSync(profile, JSON.stringify({ ...written, url: origin }))
    }
  })

  /** An agent asks, Dana signs what she is shown, and the agent goes on. */
  async function approved(command: string): Promise<unknown> {
    const agent = await withApproval(command)
    expect(await agent.ended()).toBe(0)
    return JSON.parse(agent.out())
  }

  async function withApproval(command: string) {
    const agent = terminal(here(command), { cwd, env })
    const [, code = 'none'] = await until(
      () => /Its action code is (\S+)\./.exec(agent.errors()) ?? undefined,
      'the agent to ask',
    )
    const dana = terminal(here(sign), { cwd, env })
    dana.child.stdin.end('y\n')
    expect(await dana.ended()).toBe(0)
    expect(dana.errors()).toMatch(
      /^\S+ asks you to approve:\n\n {2}[^\n{]*\n\nYou approve, once, by this signature, exactly this:/,
    )
    expect(dana.errors()).toContain(`\n  ${code}\n`)
    return agent
  }

  test('a first payment takes at most eight commands, and every later one an agent and a look', async () => {
    expect(commands.length).toBeLessThanOrEqual(8)
    expect([install, start, commands.length]).toEqual(['npm ci', 'npm start', 6])
    expect(statSync(join(cwd, 'mine', 'humans', 'dana.json')).mode & 0o777).toBe(0o600)
    const receiver = terminal(here(receive), { cwd, env })
    await until(() => receiver.out().includes('listening on'), 'the receiver')

    const first = (await approved(ask)) as { trustRecordId: string }
    expect(first).toMatchObject({
      executions: [{ status: 'COMPLETED', evidence: { result: { effects: 1 } } }],
    })
    const second = await approved(ask.replace('2026-118', '2026-119'))
    expect(second).toMatchObject({ executions: [{ evidence: { result: { effects: 2 } } }] })
    // The first invoice again.
    const again = terminal(here(ask), { cwd, env })
    expect(await again.ended()).toBe(0)
    expect(JSON.parse(again.out())).toMatchObject({ trustRecordId: first.trustRecordId })
    expect(receiver.out().match(/^effect /gm)).toHaveLength(2)

    // A payment that failed is an error the first time, and again when the agent reads its record.
    process.kill(-receiver.child.pid!, 'SIGTERM')
    await receiver.closed
    const third = ask.replace('2026-118', '2026-120')
    expect(await (await withApproval(third)).ended()).toMatch(/^1: .*pay: Execution failed/s)
    expect(await terminal(here(third), { cwd, env }).ended()).toMatch(/^1: .*pay: Execution failed/s)
  })

  test('a model looks things up, is refused what the policy refuses, and mails what Dana has read', async () => {
    const [
      serve = '',
      search = '',
      calculate = '',
      shell = '',
      injected = '',
      outside = '',
      mail = '',
      look,
    ] = commandsOf('examples/llm-tools/README.md', /([^]*)/)
    expect(look).toBe(sign)
    const tools = terminal(here(serve), { cwd, env })
    await until(() => tools.out().includes('listening on'), 'the tools')
    const answered = async (command: string) => {
      const agent = terminal(here(command), { cwd, env })
      expect(await agent.ended()).toBe(0)
      return JSON.parse(agent.out()) as unknown
    }
    const refused = (command: string) => terminal(here(command), { cwd, env }).ended()

    const { hits } = (await answered(search)) as { hits: { text: string }[] }
    expect(hits.map(({ text }) => /velocity/i.test(text))).toContain(true)
    expect(await answered(calculate)).toMatchObject({ value: 87.5 })
    expect(await refused(shell)).toContain('1: Execution rejected: This tool is not on the list.')
    expect(await refused(injected)).toContain('The context looks like a prompt injection.')
    expect(await refused(outside)).toContain('Mail goes to the team and to support only.')
    const document = 'npx node examples/llm-tools/agent.ts read_document --document ../../package'
    expect(await refused(document)).toContain('There is no document ../../package.')

    const { message } = (await approved(mail)) as { message: string }
    const sent = readFileSync(join(cwd, 'mine', 'tools', 'outbox', `${message}.eml`), 'utf8')
    expect(sent).toBe('To: team@example.com\nSubject: Limits\nApproved-By: dana\n\nThey are on.')
    // Refused calls never came here.
    expect(tools.out().match(/^(search|calculate|send_email|run_shell): /gm)).toHaveLength(3)
  })

  test('it is set up once', async () => {
    process.kill(-(service.child.pid ?? 0), 'SIGTERM')
    await service.closed
    const [refused, out] = [terminal(setup, { cwd, env: {} }), join(cwd, 'mine', 'humans')]
    const callers = readFileSync(join(cwd, '.data', 'callers.json'), 'utf8')
    expect(await refused.ended()).toMatch(
      new RegExp(
        `has humans already: alice, bob, dana\\. Nothing was changed\\. Their keys may be in ${RegExp.escape(out)}: go on with the profiles there\\.\n$`,
      ),
    )
    const elsewhere = terminal(`${setup} --dir mine/others`, { cwd, env: {} })
    expect(await elsewhere.ended()).toMatch(
      /has humans already: alice, bob, dana\. Nothing was changed\. .* keys that are lost are not made again\. To begin anew, set DATA_DIR to another folder/,
    )
    expect(existsSync(join(cwd, 'mine', 'others'))).toBe(false)
    expect(readFileSync(join(cwd, '.data', 'callers.json'), 'utf8')).toBe(callers)
  })

  test('where the files are gone, it says so, and leaves nothing new', async () => {
    const [out, callers] = [join(cwd, 'mine', 'humans'), join(cwd, '.data', 'callers.json')]
    rmSync(callers)
    expect(await terminal(setup, { cwd, env: {} }).ended()).toContain(
      `${out} exists: the humans of an earlier setup may be in it. Nothing was changed. Move it away, or name another folder by --dir.`,
    )
    rmSync(out, { recursive: true })
    expect(await terminal(setup, { cwd, env: {} }).ended()).toContain(
      'The database has approvers already: dana. There are no new humans. To begin anew, set DATA_DIR to another folder',
    )
    expect([existsSync(out), existsSync(callers)]).toEqual([false, false])
  })
})

describe('setup humans where a service has run before', () => {
  const cwd = aClone()
  const out = join(cwd, 'mine', 'humans')
  const callers = join(cwd, '.data', 'callers.json')

  test('a signal before the callers are kept leaves nothing half, and the next attempt keeps the callers of before', async () => {
    const first = terminal('npm start', { cwd, env: { PORT: '0' } })
    await until(() => /"url":"([^"]*)"/.exec(first.out()) ?? undefined, 'the service')
    process.kill(-first.child.pid!, 'SIGTERM')
    await first.closed
    const before = readFileSync(callers, 'utf8')

    const env = { PORT: String(await freePort()) }
    for (const name of ['', 'alice.json', 'agent.json']) {
      const interrupted = terminal(setup, { cwd, env })
      await until(() => existsSync(join(out, name)), `${name} to be written`)
      // As Ctrl-C: to the command and to the service that it has started.
      process.kill(-interrupted.child.pid!, 'SIGINT')
      expect(await interrupted.ended()).toMatch(/^1: The setup is finished or undone first\.\n/)
      expect([existsSync(out), readFileSync(callers, 'utf8')]).toEqual([false, before])
    }

    const made = terminal(setup, { cwd, env })
    expect(await made.ended()).toBe(0)
    expect(made.out()).toMatch(
      /^What was there before stays: the keys of local-dev, and everything that the service holds\.$/m,
    )
    const kept = JSON.parse(before) as object[]
    expect((JSON.parse(readFileSync(callers, 'utf8')) as object[]).slice(0, kept.length)).toEqual(kept)
  })
})

/** Reads what it says, having changed nothing. */
async function refusal(env: Record<string, string>, ...args: string[]): Promise<string> {
  const dir = join(aFolder(), 'humans')
  const ran = await runCommand(['setup', 'humans', '--dir', dir, ...args], { DATA_DIR: aFolder(), ...env })
  expect([ran.status, ran.stdout, existsSync(dir)]).toEqual([1, '', false])
  return ran.stderr
}

describe('setup humans is refused', () => {
  test('in production, where nobody authenticates, and where callers come from a variable', async () => {
    expect(await refusal({ NODE_ENV: 'production' })).toContain('NODE_ENV is production')
    expect(await refusal({ SERVICE_AUTH_DISABLED: 'true' })).toContain('SERVICE_AUTH_DISABLED is set')
    const one = JSON.stringify([{ callerId: 'one', keyHash: 'a'.repeat(64) }])
    expect(await refusal({ SERVICE_API_KEYS: one })).toContain('SERVICE_API_KEYS is set')
  })

  test('where another program listens at the port of the next start', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    expect(await refusal({ PORT: String(port) })).toContain(
      `Port ${port} is in use: end the program that listens`,
    )
  })

  test('on a database of one’s own, unless it is told to; then the callers are for SERVICE_API_KEYS', async () => {
    const database = await createDatabase()
    const signingKeyDir = aFolder()
    makeKeys(signingKeyDir)
    const local = [{ callerId: 'one', keyHash: 'a'.repeat(64) }]
    const env = {
      DATABASE_URL: database.url,
      SIGNING_KEY_DIR: signingKeyDir,
      SERVICE_API_KEYS: JSON.stringify(local),
    }
    expect(await refusal(env)).toContain('DATABASE_URL is set.')
    const dir = join(aFolder(), 'humans')
    const dataDir = aFolder()
    const ran = await runCommand(['setup', 'humans', '--dir', dir, '--own-database'], {
      ...env,
      PORT: '3999',
      DATA_DIR: dataDir,
    })
    expect(ran.status, ran.stderr).toBe(0)
    expect(ran.stdout).toMatch(
      /^The profiles are for http:\/\/127\.0\.0\.1:3999, .* \(set by PORT, DATA_DIR in the environment\)/m,
    )
    expect(ran.stdout).toMatch(/^  export SERVICE_API_KEYS=.*\n  PORT=3999 DATA_DIR=\S+ npm start$/m)
    expect(ran.stdout).toContain(`DATA_DIR=${dataDir} npm start`)
    expect(ran.stdout).toContain('--service http://127.0.0.1:3999 ')
    const callers = JSON.parse(readFileSync(join(dir, 'service-api-keys.json'), 'utf8')) as object[]
    expect(callers).toMatchObject([
      ...local,
      ...['alice', 'bob', 'dana', 'paying-agent'].map((callerId) => ({ callerId })),
    ])
    const service = await startService({ databaseUrl: database.url, signingKeyDir, callers })
    expect((await service.get('/keys/dana:laptop')).body.pem).toBe(
      readFileSync(join(dir, 'dana', 'laptop.public.pem'), 'utf8'),
    )
    expect(await service.stop()).toBe(0)
    // New humans beside approvers that count already: no trial that begins.
    expect(await refusal(env, '--own-database')).toContain('The database has approvers already: dana.')
    // Payments that go elsewhere are not sent to a trial's receiver, whoever signs.
    await database.pool.query(`DELETE FROM authority WHERE kind = 'approver'`)
    expect(await refusal(env, '--own-database', '--connector', 'http://127.0.0.1:9/')).toMatch(
      /vendor:pay goes to http:\/\/\S+ already, by a connector that governance has registered\. There are no new humans\./m,
    )
    await database.drop()
  })

  test('where one of its names is taken, or the list of callers is damaged', async () => {
    const dataDir = aFolder()
    mkdirSync(dataDir, { recursive: true })
    const file = join(dataDir, 'callers.json')
    writeFileSync(file, JSON.stringify([{ callerId: 'dana', keyHash: 'a'.repeat(64) }]))
    expect(await refusal({ DATA_DIR: dataDir })).toContain('has a caller dana already')
    writeFileSync(file, '[')
    expect(await refusal({ DATA_DIR: dataDir })).toContain(`${file} must be a JSON array`)
  })
})
