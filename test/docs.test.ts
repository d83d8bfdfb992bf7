// The documents: the README and the handbook tell no other story than the code.
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Environment } from '../src/core/config/config.ts'
import { loggedKinds } from '../src/formats/artifacts/kinds.ts'
import { proofKinds } from '../src/formats/log/ids.ts'
import { headingId } from '../src/server/routes/handbook.ts'
import { auditTypes } from '../src/formats/schemas/audit-types.ts'
import { createDatabase } from './database.ts'
import { aFolder } from './embedded/drive.ts'
import { blocks, chapters, forHere } from './handbook.ts'
import { until } from './service.ts'
import { baseEnvironment } from './run/environment.ts'

const ROOT = join(import.meta.dirname, '..')
/** Where the documents say that the service is. */
const SHOWN = 'http://127.0.0.1:3000'
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

test("the handbook's configuration table names every variable that is read, and no other", () => {
  const [, table = ''] =
    /\n## Configuration\n[^]*?\n(\|[^]*?)\n\n/.exec(chapters.get('operating.md') ?? '') ?? []
  const [, , ...rows] = table.split('\n')
  const named = rows.flatMap((row) => row.split('|')[1]?.match(/(?<=`)[A-Z_]+(?=`)/g) ?? [])
  expect(named.toSorted()).toEqual(Object.keys(Environment.properties).toSorted())
})

test('the handbook says of every type of audit event when it is written', () => {
  const [, table = ''] = /\n(\| about \|[^]*?)\n\n/.exec(chapters.get('auditing.md') ?? '') ?? []
  const named = new Set(table.match(/(?<=`)[a-z_]+(\.[a-z_]+)?(?=`)/g))
  expect(auditTypes.filter((type) => !named.has(type))).toEqual([])
})

test('the handbook says of every kind of proof which entry of the log it is of', () => {
  const [, table = ''] =
    /\n\| kind \| id \| kind of the entry \| hash in the entry \|\n(\|[^]*?)\n\n/.exec(
      chapters.get('log.md') ?? '',
    ) ?? []
  const rows = Array.from(
    table.matchAll(/^\| `([a-z-]+)` \| .+ \| `([a-z-]+)` \| .+ \|$/gm),
    ([, kind, entry]) => [kind, entry],
  )
  expect(rows).toHaveLength(Object.keys(proofKinds).length)
  expect(Object.fromEntries(rows)).toEqual(proofKinds)
  // The service writes entries of these kinds: none is missing in the table.
  const written = loggedKinds.map(({ logged }) => logged.kind)
  expect(new Set(rows.map(([, entry]) => entry))).toEqual(new Set(written))
})

const pages = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
]

test.each(pages)('every relative link of %s leads to a file', (page) => {
  const links = Array.from(read(ROOT, page).matchAll(/\]\(([^)\s]+)\)/g), ([, link = '']) => link)
  const relative = links.filter((link) => !/^(\w+:|#)/.test(link)).map((link) => link.replace(/#.*/, ''))
  expect(relative.filter((link) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([])
})

const sections = (page: string) =>
  Array.from(read(ROOT, page).matchAll(/^##+ (.*)$/gm), ([, heading = '']) => headingId(heading))

/** @returns its numbers, each of four digits, so that texts compare as versions do */
const inOrder = (version: string) =>
  version
    .replace(/-dev$/, '')
    .split('.')
    .map((part) => part.padStart(4, '0'))
    .join('.')

test('the package calls itself by the newest release of the changelog, or by the next one with -dev where there are changes since', () => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }
  const releases = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8').split(/^## /m).slice(1)
  const [newest = ''] = releases.filter((release) => !release.startsWith('Unreleased'))
  const [, released = ''] = /^(\d+\.\d+\.\d+) - \d{4}-\d\d-\d\d\n/.exec(newest) ?? []
  expect(released).not.toBe('')
  const [, changes = ''] = /^Unreleased\n([^]*)/.exec(releases[0] ?? '') ?? []
  if (changes.trim() === '') expect(version).toBe(released)
  else {
    expect(version).toMatch(/^\d+\.\d+\.\d+-dev$/)
    expect(inOrder(version) > inOrder(released)).toBe(true)
  }
  expect(newest).toContain('### Upgrade notes')
  expect(readFileSync(join(ROOT, 'SECURITY.md'), 'utf8')).toContain(`| ${released.replace(/\d+$/, 'x')},`)
})

test('every link to a section leads to one', () => {
  const links = pages.flatMap((page) =>
    Array.from(read(ROOT, page).matchAll(/\]\(([^)\s:#]*)#([^)\s]+)\)/g), ([, file = '', id = '']) => ({
      page: file === '' ? page : join(dirname(page), file),
      id,
    })),
  )
  expect(links).not.toEqual([])
  expect(links.filter(({ page, id }) => !sections(page).includes(id))).toEqual([])
})

test('every heading of the design notes that code refers to is there', () => {
  const headings = new Set(
    Array.from(read(ROOT, 'docs', 'design-notes.md').matchAll(/^##+ (.*)$/gm), ([, heading = '']) => heading),
  )
  const code = globSync('{bin,src,workers,tools,bench,test,migrations}/**/*.{ts,js,sql}', { cwd: ROOT })
  const cited = code.flatMap((file) =>
    // A reference may go over the end of a comment's line.
    Array.from(
      read(ROOT, file).matchAll(/design-notes\.md\s+(?:(?:\/\/|\*|--)\s*)?"([^"\n]+)"/g),
      ([, heading = '']) => ({ file, heading }),
    ),
  )
  expect(cited.length).toBeGreaterThan(10)
  expect(cited.filter(({ heading }) => !headings.has(heading))).toEqual([])
})

test("the handbook's start on one's own database runs as pasted, once the database is filled in", async () => {
  const shown = blocks('operating.md', 'sh').find((script) => script.startsWith('export DATABASE_URL=')) ?? ''
  const database = await createDatabase()
  const script = shown
    .replace(/(?<=DATABASE_URL=)'.*'/, `'${database.url}'`)
    .replace('bin/countersign serve', 'exec bin/countersign serve')
  const service = await serving(script, { cwd: ROOT, env: { HOME: aFolder() } })
  const [key] = /^csk_.*/m.exec(service.output()) ?? []
  expect(await ask(`${service.url}/callers/me`, key)).toEqual([
    200,
    expect.objectContaining({ callerId: 'billing-bot', allowedCapabilities: ['sandbox:echo'] }),
  ])
  expect(await service.stop()).toEqual([0, null])
  await database.drop()
})

test('the first execution, the check by openssl and the session of two humans run as pasted, and the old key ends', async () => {
  const [, check = ''] = /^```sh\n([^`]*\bnode -e [^]*?)^```$/m.exec(read(ROOT, 'README.md')) ?? []
  const session = read(ROOT, 'docs', 'two-humans.md')
  const scripts = Array.from(session.matchAll(/^```sh\n([^]*?)^```$/gm), ([, script = '']) => script)
  const [issue = '', ...inSecondTerminal] = scripts
  expect([scripts.length, issue]).toEqual([4, expect.stringMatching(/^npm start$/m)])
  const start = `exec '${process.execPath}' '${join(ROOT, 'src', 'server', 'main.ts')}'`
  const cwd = aFolder()
  // npm starts it in the checkout, wherever the terminal is; its data is this test's own.
  const env = { HOME: cwd, DATA_DIR: join(cwd, '.data'), POLICY_DIR: join(ROOT, 'policies') }

  const first = await serving(start, { cwd, env })
  const [firstCall = ''] = await until(() => /^curl .*/m.exec(first.output()) ?? undefined, 'the first call')
  const [key] = /csk_\S+(?=')/.exec(firstCall) ?? []
  const record = JSON.parse(pasted([firstCall], cwd).stdout) as { businessTransactionId: string }
  const given = `KEY='${key}' ID='${record.businessTransactionId}'`
  expect(pasted([given, check], cwd, first.url).stdout).toBe('Signature Verified Successfully\n')
  expect(await ask(`${first.url}/callers/me`, key)).toMatchObject([200, { callerId: 'local-dev' }])
  expect(await first.stop()).toEqual([0, null])

  const service = await serving(issue.replace('npm start', start), { cwd, env })
  expect(await ask(`${service.url}/callers/me`, key)).toMatchObject([401, {}])
  const { stdout, stderr } = pasted([...inSecondTerminal, 'printf %s "$ALICE"'], cwd, service.url)
  expect(stdout).toContain(
    'APPROVED -> REJECTED (too-large) Amount above 40.\n1 of 1 past decisions under sandbox-echo would flip',
  )
  expect(stderr).toMatch(/proposes:\n\n {2}\S[^\n]*\n\nYou approve, by this signature, this change:/)
  expect(stdout).toMatch(/  ok      change signature\n[^]*\nvalid\n/)
  expect(stdout).toContain('"target": "vendor-17"')
  const [alice] = /csk_\S+$/.exec(stdout) ?? []
  expect(await ask(`${service.url}/policies/sandbox-echo/1.0.1`, alice)).toMatchObject([
    200,
    { status: 'APPROVED', approvedBy: 'bob' },
  ])
  expect(await service.stop()).toEqual([0, null])
}, 600_000)

/** Runs a script that ends in a service, on a free port. Throws what it printed where that does not listen. */
async function serving(script: string, { cwd, env }: { cwd: string; env: Record<string, string> }) {
  const shell = spawn('sh', ['-e', '-c', forHere(script, SHOWN)], {
    cwd,
    env: { ...baseEnvironment, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const closed = once(shell, 'close')
  onTestFinished(() => void shell.kill('SIGKILL'))
  let output = ''
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const listening = until(() => /"url":"([^"]*)"/.exec(output), 'the service to listen')
  const [, url] = await Promise.race([listening, closed.then(() => [])])
  if (url === undefined) throw new Error(`the script ended:\n${output}`)
  return {
    url,
    output: () => output,
    stop() {
      shell.kill('SIGTERM')
      return closed
    },
  }
}

/** Reads what a terminal prints for these scripts, pasted one after the other. Throws where a command fails. */
function pasted(scripts: readonly string[], cwd: string, url = SHOWN): { stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync('sh', ['-e', '-c', forHere(scripts.join('\n'), url)], {
    cwd,
    encoding: 'utf8',
    env: baseEnvironment,
  })
  expect(status, stdout + stderr).toBe(0)
  return { stdout, stderr }
}

async function ask(url: string, key = ''): Promise<[number, unknown]> {
  const answer = await fetch(url, { headers: { Authorization: `Bearer ${key}` } })
  return [answer.status, await answer.json()]
}
