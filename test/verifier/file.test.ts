// countersign-verify.mjs, the command in one file, alone in a folder: it says and ends with exactly what `countersign verify` does.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPage } from '../../tools/pages.ts'
import { machinePath, oldNode } from '../machine-node.ts'
import { saved } from './saved.ts'

const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli', 'index.ts')
const COMMAND = 'countersign-verify.mjs'

let folder: string
let evidence: string
beforeAll(async () => {
  const { keySet, record, other, event } = await saved(['ed25519', 'ml-dsa-65'])
  const base = mkdtempSync(join(tmpdir(), 'countersign-verify-file-'))
  folder = join(base, 'of-an-auditor')
  evidence = join(base, 'evidence')
  mkdirSync(folder)
  mkdirSync(evidence)
  writeFileSync(join(folder, COMMAND), readPage(COMMAND))
  const files = {
    'keys.json': keySet,
    'ed25519.json': { keys: keySet.keys.filter(({ algorithm }) => algorithm === 'ed25519') },
    'record.json': record,
    'changed.json': { ...record, createdAt: 'x' },
    'page.json': [record, { ...other, createdAt: 'x' }],
    'event.json': event,
    'nothing.json': {},
  }
  for (const [name, content] of Object.entries(files))
    writeFileSync(join(evidence, name), JSON.stringify(content))
  // More than one thread takes at once.
  const lines = Array.from({ length: 100 }, (__, i) => (i === 70 ? { ...record, createdAt: 'x' } : record))
  writeFileSync(join(evidence, 'many.ndjson'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
})
afterAll(() => rmSync(join(folder, '..'), { recursive: true }))

test('it imports nothing that reaches a network or starts a program', () => {
  const text = readPage(COMMAND)
  const imported = new Set(
    Array.from(text.matchAll(/(?:from |import ?\(|require\()\s*["']([a-z][\w:/-]*)["']/g), ([, name = '']) =>
      name.replace(/^node:/, ''),
    ),
  )
  expect([...imported].toSorted()).toEqual([
    'crypto',
    'events',
    'fs',
    'fs/promises',
    'module',
    'os',
    'path',
    'process',
    'worker_threads',
  ])
  expect([...imported].filter((name) => !builtinModules.includes(name))).toEqual([])
  expect(text).not.toMatch(/\bfetch\(|\bWebSocket\(|\beval\(|new Function\(/)
})

function ended(program: string, env: { PATH: string }, args: readonly string[], input: string) {
  const [command = '', ...before] = program.split(' ')
  const { status, stdout, stderr } = spawnSync(command, [...before, ...args], {
    cwd: program === `node ${COMMAND}` ? folder : evidence,
    env,
    input,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

const ofTheProduct = new Map<string, ReturnType<typeof ended>>()

/** Reads the verdict of `countersign verify`: run once for the same arguments, whichever Node the file is compared under. */
function byTheProduct(args: readonly string[], input: string): ReturnType<typeof ended> {
  const run = JSON.stringify([args, input])
  const known = ofTheProduct.get(run)
  if (known !== undefined) return known
  const made = ended(`${process.execPath} ${CLI} verify`, { PATH: process.env['PATH'] ?? '' }, args, input)
  ofTheProduct.set(run, made)
  return made
}

const runs: readonly { title: string; status: number; args: readonly string[]; input?: string }[] = [
  { title: 'a valid record', status: 0, args: ['record.json', '--jwks', 'keys.json'] },
  { title: 'a record, as JSON', status: 0, args: ['record.json', '--jwks', 'keys.json', '--json'] },
  { title: 'a changed record', status: 1, args: ['changed.json', '--jwks', 'keys.json'] },
  { title: 'a page', status: 1, args: ['page.json', '--jwks', 'keys.json'] },
  { title: 'an export on threads', status: 1, args: ['many.ndjson', 'page.json', '--jwks', 'keys.json'] },
  { title: 'an audit event', status: 0, args: ['event.json', '--jwks', 'keys.json'] },
  { title: 'evidence on standard input', status: 2, args: ['-', '--jwks', 'keys.json'], input: '<html>' },
  { title: 'no evidence', status: 2, args: ['nothing.json', '--jwks', 'keys.json'] },
  { title: 'a file that is not there', status: 2, args: ['none.json', '--jwks', 'keys.json'] },
  { title: 'no key set', status: 2, args: ['record.json'] },
  { title: 'an empty name of a key set', status: 2, args: ['record.json', '--jwks', ''] },
  { title: 'no arguments', status: 2, args: [] },
  { title: 'an option that there is not', status: 2, args: ['record.json', '--jwks', 'keys.json', '--fast'] },
]

/** Names of files where the evidence is: the file itself lies in another folder, alone. */
const there = (args: readonly string[]) =>
  args.map((arg) => (/\.(?:nd)?json$/.test(arg) ? join(evidence, arg) : arg))

describe.each([
  ['this Node', process.env['PATH'] ?? '', false],
  [`the machine's own Node (${oldNode ?? 'skipped: it is as new'})`, machinePath, oldNode === undefined],
])('by %s', (_, PATH, skipped) => {
  test.skipIf(skipped).each(runs)('$title ends with $status', ({ status, args, input = '' }) => {
    const command = ended(`node ${COMMAND}`, { PATH }, there(args), input)
    expect(command.status).toBe(status)
    expect(command).toEqual(byTheProduct(there(args), input))
  })

  test.skipIf(skipped)('a key that is missing is treated alike', () => {
    const args = there(['record.json', '--jwks', 'ed25519.json'])
    const command = ended(`node ${COMMAND}`, { PATH }, args, '')
    expect(command.status).not.toBe(0)
    expect(command).toEqual(byTheProduct(args, ''))
  })

  test.skipIf(skipped)('--help names it and its options', () => {
    const { status, stdout } = ended(`node ${COMMAND}`, { PATH }, ['--help'], '')
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining(`Usage: node ${COMMAND} [options] <file...>`),
    ])
    expect(stdout).toContain('--jwks <file>')
  })
})
