// The chapters of docs/handbook against the service: what they tell a reader to send, to call and to run is there and works.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { openMatching } from '../../src/server/http/match.ts'
import { routes } from '../../src/server/routes/index.ts'
import type { TestDatabase } from '../database.ts'
import { blocks, chapters, forHere } from '../handbook.ts'
import { aCaller, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { baseEnvironment } from '../run/environment.ts'
import { withDatabase } from '../with-service.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const CLI = join(ROOT, 'src', 'cli', 'index.ts')
const everything = [...chapters.values()].join('\n')

/** As the one that `npm start` makes. */
const local = aCaller('local-dev')
const auditor = aCaller('auditor', { allowedCapabilities: undefined, readAll: true })

let database: TestDatabase
let service: TestService
let folder: string

withDatabase(async ({ database: made, start }) => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-test-handbook-'))
  database = made
  service = await start({ callers: [local.entry, auditor.entry] })
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

const named = new Set(
  // An approver's key is a key like others, by an id of two parts.
  Array.from(everything.matchAll(/`((?:GET|POST) \/[^`?]*)`/g), ([, name = '']) =>
    name.replace('{approverId}:{keyId}', '{keyId}'),
  ),
)

test('the pictures of a chapter are in its page, each with words for who does not see it', async () => {
  const pictures = readdirSync(join(ROOT, 'docs', 'handbook', 'pictures'))
  const shown = Array.from(
    everything.matchAll(/!\[([^\]]{20,})\]\(pictures\/([\w-]+\.(?:png|svg))\)/g),
    ([, , name]) => name,
  )
  expect(new Set(shown)).toEqual(new Set(pictures))
  const bytes = pictures.map((name) => statSync(join(ROOT, 'docs', 'handbook', 'pictures', name)).size)
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(2 * 1024 * 1024)
  const { text } = await service.get('/handbook/console', { key: null })
  expect(text).toMatch(/<img src="data:image\/png;base64,iVBOR[^"]+" alt="The Overview over 30 days: [^"]+">/)
  const { text: drawn } = await service.get('/handbook/agents', { key: null })
  expect(drawn).toMatch(/<img src="data:image\/svg\+xml;base64,PHN2Z[^"]+" alt="A call: [^"]+">/)
})

test.each([...named])('%s is a route', (name) => {
  const [method = '', path = ''] = name.split(' ')
  expect(openMatching(routes)(method, path)).toMatchObject({ kind: 'route', route: { method, path } })
})

/** The words that are written behind each command. */
const commands = Map.groupBy(
  everything.matchAll(/bin\/countersign ([a-z]+(?:[ -][a-z]+)*)(.*)/g),
  ([, words = '']) => words,
)

test('the handbook names routes and commands', () => {
  expect(named.size).toBeGreaterThan(10)
  expect(commands.size).toBeGreaterThan(5)
})

test.each(Array.from(commands, ([words, found]) => ({ words, rests: found.map(([, , rest = '']) => rest) })))(
  'countersign $words takes what is written behind it',
  ({ words, rests }) => {
    // Some of the words behind a command are its arguments: `callers issue auditor`.
    const { status, stdout } = spawnSync(process.execPath, [CLI, ...words.split(' '), '--help'], {
      encoding: 'utf8',
    })
    expect(status).toBe(0)
    const [command = ''] = /(?<=Usage: countersign )[a-z]+(?:[ -][a-z]+)*/.exec(stdout) ?? []
    expect(command).not.toBe('')
    expect(words).toMatch(new RegExp(`^${command}`))
    for (const rest of rests)
      for (const [option] of rest.matchAll(/--[a-z-]+/g)) expect(stdout).toContain(`  ${option} `)
  },
)

test('the transaction that is shown is executed as it is, and only once', async () => {
  const [transaction = ''] = blocks('executions.md', 'json')
  const submit = () => service.post('/execute', transaction, { key: local.key })
  const first = await submit()
  expect([first.status, first.body.receipts.length]).toEqual([200, 1])
  const again = await submit()
  expect([again.status, again.headers.get('location')]).toEqual([
    409,
    `/trust-records/${first.body.businessTransactionId}`,
  ])
})

test('the export scripts save every record, as lines and in pages, and the command that is shown finds them valid', async () => {
  for (let i = 0; i < 5; i++) expect((await service.post('/execute', aTransaction())).status).toBe(200)
  const run = (script: string) =>
    spawnSync('sh', ['-c', script], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...baseEnvironment, KEY: auditor.key },
    })
  // But the one that makes the auditor's key, and that of a pack, whose period is long over one day (test/audit-pack.test.ts makes packs).
  const scripts = blocks('auditing.md', 'sh').filter((script) => !/callers issue|audit-pack/.test(script))
  expect(scripts).toHaveLength(5)
  for (const script of scripts) {
    const { status, stderr } = run(inSmallPages(script))
    expect([status, stderr]).toEqual([0, ''])
  }

  const lines = readFileSync(join(folder, 'records.ndjson'), 'utf8').split('\n')
  const pages = readdirSync(folder).filter((name) => name.startsWith('page-'))
  const saved = pages.flatMap(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as { businessTransactionId: string }[],
  )
  const { rows } = await database.pool.query<{ id: string }>(
    'SELECT business_transaction_id::text AS id FROM trust_records',
  )
  expect(lines).toHaveLength(rows.length + 2)
  expect(readFileSync(join(folder, 'report.html'), 'utf8')).toContain('Everything that was checked')
  expect(pages).toHaveLength(Math.ceil(rows.length / 2))
  expect(saved.map((record) => record.businessTransactionId).toSorted()).toEqual(
    rows.map(({ id }) => id).toSorted(),
  )
})

test('the export script fails without ending the shell that it is pasted into', () => {
  const script = blocks('auditing.md', 'sh').find((one) => one.includes('next=')) ?? ''
  const { stdout, stderr } = spawnSync('sh', ['-c', `${inSmallPages(script)}\necho "status $?"`], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...baseEnvironment, KEY: 'csk_unknown' },
  })
  expect([stdout, stderr]).toEqual(['status 1\n', expect.stringContaining('error: 401')])
})

/** In small pages. */
function inSmallPages(script: string): string {
  return forHere(script, service.url).replace('pageSize=100', 'pageSize=2')
}
