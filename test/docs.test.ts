// The documents: the contract that the code cites is the one that was agreed, and the README tells no other story than the code.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Environment } from '../src/config.ts'
import { createDatabase } from './database.ts'
import { aFolder } from './embedded/drive.ts'
import { until } from './service.ts'

const ROOT = join(import.meta.dirname, '..')
const AGREED = join(ROOT, '..', 'shared', 'spec')
const read = (...path: string[]) => readFileSync(join(...path), 'utf8')

test.for(['interface.md', 'decisions.md'])('%s is the one that was agreed on', (name, { skip }) => {
  skip(!existsSync(AGREED), 'the agreed documents are not beside this checkout')
  expect(read(ROOT, 'docs', name)).toBe(read(AGREED, name))
})

test("the README's configuration table names every variable that is read, and no other", () => {
  const [, table = ''] = /\n## Configuration\n[^]*?\n(\|[^]*?)\n\n/.exec(read(ROOT, 'README.md')) ?? []
  const [, , ...rows] = table.split('\n')
  const named = rows.flatMap((row) => row.split('|')[1]?.match(/(?<=`)[A-Z_]+(?=`)/g) ?? [])
  expect(named.toSorted()).toEqual(Object.keys(Environment.properties).toSorted())
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

test("the README's start on a database of one's own runs as pasted, once the database is filled in", async () => {
  const [, shown = ''] = /^```sh\n(export DATABASE_URL=[^]*?)^```$/m.exec(read(ROOT, 'README.md')) ?? []
  const database = await createDatabase()
  const script = shown
    .replace(/(?<=DATABASE_URL=)'.*'/, `'${database.url}'`)
    .replace('npx countersign serve', 'exec npx countersign serve')
    .replaceAll('npx countersign', `'${process.execPath}' '${join(ROOT, 'src', 'cli.ts')}'`)
  const home = aFolder()
  const shell = spawn('sh', ['-e', '-c', script], {
    env: { PATH: process.env['PATH'], HOME: home, PORT: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const closed = once(shell, 'close')
  onTestFinished(() => void shell.kill('SIGKILL'))
  let output = ''
  shell.stdout.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const [, url] = await until(
    () => /"url":"([^"]*)"/.exec(output) ?? undefined,
    'the service to listen',
    50_000,
  )
  const [key] = /^csk_.*/m.exec(output) ?? []
  const answer = await fetch(`${url}/callers/me`, { headers: { Authorization: `Bearer ${key}` } })
  expect([answer.status, await answer.json()]).toEqual([
    200,
    expect.objectContaining({ callerId: 'billing-bot', allowedCapabilities: ['sandbox:echo'] }),
  ])
  shell.kill('SIGTERM')
  expect(await closed).toEqual([0, null])
  await database.drop()
}, 90_000)
