// countersign verify as a process of its own: what it exits with and what it prints.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { evidenceOf, folder as VECTORS } from '../vectors/published.ts'
import { saved, type Saved } from './saved.ts'
import { bundledEnvironment } from '../run/environment.ts'

const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli', 'index.ts')

let folder: string
let source: Saved
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-verify-'))
  source = await saved(['ed25519', 'ml-dsa-65'])
  file('jwks.json', source.keySet)
  file('record.json', source.record)
  file('html.json', '<html>')
  file('changed.json', { ...source.record, createdAt: 'x' })
})
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, content: unknown): void {
  writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
}

function verify(args: string[], input = '') {
  const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'verify', ...args], {
    cwd: folder,
    env: bundledEnvironment,
    input,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

/** A folder with the valid record, and an empty one below. */
function sent(name: string): string {
  const path = join(folder, name)
  mkdirSync(join(path, 'below'), { recursive: true })
  writeFileSync(join(path, 'record.json'), JSON.stringify(source.record))
  return path
}

const WITH_KEYS = ['--jwks', 'jwks.json']

test('a valid record exits 0, with a line for each check and what a pass does not prove', () => {
  const { status, stdout, stderr } = verify(['record.json', ...WITH_KEYS])
  const lines = stdout.split('\n')
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(lines[0]).toBe(`trust-record ${source.record.trustRecordId}`)
  expect(lines.filter((line) => line.startsWith('  ok      '))).toHaveLength(9)
  expect(lines).toContain('valid')
  expect(lines.indexOf('A pass does not prove:')).toBeGreaterThan(lines.indexOf('valid'))
  for (const { public: key } of source.keys.receipt) expect(stdout).toContain(`key     ${key.keyId} SHA-256`)
})

// proves abuse: A folder of evidence in which a name leads to a pipe
describe('a folder that somebody sent', () => {
  test.each<[string, (path: string) => unknown, string]>([
    ['a pipe', (path) => spawnSync('mkfifo', [join(path, 'pipe.json')]), 'pipe.json is not a plain file'],
    [
      'a pipe below',
      (path) => spawnSync('mkfifo', [join(path, 'below', 'p.JSONL')]),
      'p.JSONL is not a plain file',
    ],
    [
      'a device',
      (path) => symlinkSync('/dev/zero', join(path, 'zero.json')),
      'zero.json is not a plain file',
    ],
    ['a link to itself', (path) => symlinkSync('.', join(path, 'a')), 'a is a link to a folder'],
    [
      'a link to another folder',
      (path) => symlinkSync('..', join(path, 'x.json')),
      'x.json is a link to a folder',
    ],
    ['a link to nothing', (path) => symlinkSync('gone', join(path, 'x.json')), 'x.json cannot be read'],
  ])('%s in it is named, and the command ends', (title, add, why) => {
    const path = sent(`sent with ${title}`)
    add(path)
    const { status, stdout, stderr } = verify([path, ...WITH_KEYS])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain(why)
  })

  test('a link to a plain file is read, and a pipe that is no evidence is not', () => {
    const path = sent('sent with links')
    symlinkSync('../record.json', join(path, 'link.json'))
    spawnSync('mkfifo', [join(path, 'pipe')])
    expect(verify([path, '--quiet', ...WITH_KEYS])).toMatchObject({ status: 0, stderr: '' })
  })
})

// proves abuse: A name in a folder of evidence that leads to a file
test('a report is written to no link and no folder, and what a link leads to stays', () => {
  file('target.html', 'kept')
  symlinkSync('target.html', join(folder, 'link.html'))
  symlinkSync('gone.html', join(folder, 'leads-nowhere.html'))
  linkSync(join(folder, 'target.html'), join(folder, 'hard.html'))
  spawnSync('mkfifo', [join(folder, 'pipe.html')])
  for (const to of ['link.html', 'leads-nowhere.html', 'hard.html', 'pipe.html', '.']) {
    const { status, stderr } = verify(['record.json', ...WITH_KEYS, '--report', to])
    expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining('plain file') })
  }
  expect(readFileSync(join(folder, 'target.html'), 'utf8')).toBe('kept')
  expect(existsSync(join(folder, 'gone.html'))).toBe(false)
})

test('a file in UTF-16 is called that', () => {
  writeFileSync(join(folder, 'utf-16.json'), Buffer.from('\ufeff{}', 'utf16le'))
  const { status, stderr } = verify(['utf-16.json', ...WITH_KEYS])
  expect({ status, stderr }).toMatchObject({ status: 2, stderr: expect.stringContaining('it is UTF-16') })
})

test('a changed record exits 1 and names what failed', () => {
  const { status, stdout } = verify(['changed.json', ...WITH_KEYS])
  expect(status).toBe(1)
  expect(stdout).toContain(
    '  FAILED  canonical hash: The trust record hash does not match the canonical record\n',
  )
  expect(stdout.split('\n')).toContain('INVALID')
})

describe('a bundle', () => {
  const WITH = ['bundle.json', '--jwks', join(VECTORS, 'keys.json')]
  const log = join(VECTORS, 'log.json')
  beforeAll(() => {
    for (const [name, id] of [
      ['bundle.json', 'bundle/valid-governed'],
      ['changed.bundle.json', 'bundle/order-policy'],
    ] as const) {
      file(name, evidenceOf('bundles', id))
    }
  })

  test('exits 0 with the description of the log', () => {
    const { status, stdout } = verify([...WITH, '--log', log])
    expect(status, stdout).toBe(0)
    expect(stdout).toContain('  ok      log order\n')
    expect(stdout).toContain('  key     countersign.example.com/log/1+')
  })

  test('exits 2 without it, and says where it is', () => {
    const { status, stdout } = verify(WITH)
    expect(status).toBe(2)
    expect(stdout).toContain(
      '  NO KEY  log order: It cannot be checked: no description of the log "countersign.example.com/log/1" is given.\n',
    )
    expect(stdout).toContain('The keys of a log are at GET /.well-known/countersign-log of the service')
  })

  test('exits 1 where the log has its parts in another order', () => {
    const { status, stdout } = verify(['changed.bundle.json', ...WITH.slice(1), '--log', log])
    expect(status).toBe(1)
    expect(stdout).toMatch(
      / {2}FAILED {2}log order: .* \(the authorization does not stand behind the governance change /,
    )
  })
})

test("'-' reads the evidence from standard input", () => {
  expect(verify(['-', ...WITH_KEYS], JSON.stringify(source.receipt)).status).toBe(0)
  expect(verify(['-', ...WITH_KEYS], JSON.stringify({ ...source.receipt, issuedAt: '' })).status).toBe(1)
})

const verifyBy = (...names: string[]) => verify(['record.json', ...names.flatMap((name) => ['--jwks', name])])

test('--jwks may be given several times, and contradictions between the files are found', () => {
  const [service, ...others] = source.keySet.keys
  file('ed25519.json', { keys: [service] })
  file('other.json', others)
  file('false.json', { ...others[0], keyId: service?.keyId, jwk: undefined })
  expect(verifyBy('ed25519.json').status).toBe(2)
  expect(verifyBy('ed25519.json', 'other.json').status).toBe(0)
  const { status, stderr } = verifyBy('ed25519.json', 'other.json', 'false.json')
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining('two different keys') })
})

test('--json prints the report of one piece of evidence; of several each report, and the summary', () => {
  const one = verify(['changed.json', ...WITH_KEYS, '--json'])
  expect(one.status).toBe(1)
  expect(JSON.parse(one.stdout)).toMatchObject({ artifact: 'trust-record', valid: false })
  expect(JSON.parse(one.stdout)).toHaveProperty('notProven.0')
  const several = verify(['-', ...WITH_KEYS, '--json'], JSON.stringify([source.record, source.other]))
  expect(several.status).toBe(0)
  expect(JSON.parse(several.stdout)).toMatchObject({
    reports: [{ file: '-', valid: true }, { valid: true }],
    summary: { pieces: 2, valid: 2 },
  })
})

test('of several, one invalid is enough to exit 1, and the summary counts', () => {
  const page = [source.record, { ...source.other, createdAt: 'x' }, source.other]
  const { status, stdout } = verify(['-', ...WITH_KEYS], JSON.stringify(page))
  expect(status).toBe(1)
  expect(stdout).toContain('3 pieces of evidence in 1 file: 2 valid, 1 INVALID, 0 cannot be checked\n')
  expect(verify(['-', ...WITH_KEYS], JSON.stringify({ events: [source.event] })).status).toBe(0)
})

const end = (count: number) => ({ exportEnd: { kind: 'trust-record', count, since: null, until: null } })
const ndjson = (...values: readonly object[]) => values.map((value) => `${JSON.stringify(value)}\n`).join('')

describe('many files', () => {
  beforeAll(() => {
    mkdirSync(join(folder, 'all', 'below'), { recursive: true })
    file('all/record.json', source.record)
    file('all/readme.txt', 'no evidence')
    file('all/below/export.ndjson', ndjson(source.record, source.other, end(2)))
  })

  test('a folder, an export and a page: a line for each piece with its place, and the summary', () => {
    file('page.json', { events: [source.event] })
    const { status, stdout } = verify(['all', 'page.json', ...WITH_KEYS])
    expect(status, stdout).toBe(0)
    expect(stdout.split('\n').slice(0, 5)).toEqual([
      `valid              trust-record ${source.record.trustRecordId}  all/below/export.ndjson:1`,
      `valid              trust-record ${source.other.trustRecordId}  all/below/export.ndjson:2`,
      `valid              trust-record ${source.record.trustRecordId}  all/record.json`,
      expect.stringMatching(/^valid {14}audit-event .* {2}page\.json$/),
      '4 pieces of evidence in 3 files: 4 valid, 0 INVALID, 0 cannot be checked',
    ])
  })

  // proves abuse: A line of garbage, of another
  test('of an export of thousands, on threads, the one that is changed is named with its line', () => {
    const many = Array.from({ length: 300 }, () => source.record)
    file('many.ndjson', ndjson(...many, { ...source.record, createdAt: 'x' }, ...many, end(601)))
    const { status, stdout, stderr } = verify(['many.ndjson', ...WITH_KEYS, '--quiet'])
    expect({ status, stderr }).toEqual({ status: 1, stderr: '' })
    expect(stdout.split('\n').slice(0, 4)).toEqual([
      `INVALID            trust-record ${source.record.trustRecordId}  many.ndjson:301`,
      '  FAILED  canonical hash: The trust record hash does not match the canonical record',
      '  FAILED  record signature: The trust record signature is not valid',
      '601 pieces of evidence in 1 file: 600 valid, 1 INVALID, 0 cannot be checked',
    ])
  })

  test('--report writes a page without script in which hostile text stands harmlessly', () => {
    const hostile = '<script>alert(1)</script>\u001b[2J\u202e"\'&'
    const changed = structuredClone(source.record) as unknown as {
      transaction: { intent: { target: string } }
    }
    changed.transaction.intent.target = hostile
    file('hostile.json', changed)
    const { status } = verify(['hostile.json', 'record.json', ...WITH_KEYS, '--report', 'report.html'])
    expect(status).toBe(1)
    const page = readFileSync(join(folder, 'report.html'), 'utf8')
    expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;\ufffd[2J\ufffd&quot;&#39;&amp;')
    expect(page).not.toContain('<script')
    // oxlint-disable-next-line no-control-regex -- none of them may be there
    expect(page).not.toMatch(/[\0-\x09\x0b-\x1f\u202e]/)
    for (const part of [
      'Some evidence is not what the service signed',
      'Done, as the connector reported',
      'amount 42',
      'What this report does not prove',
    ])
      expect(page).toContain(part)
  })
})

// proves abuse: Control characters in a record's
test('evidence cannot write to the terminal', () => {
  const receiptId = 'x\n  ok      all\u001b[2J\u202e'
  const { status, stdout } = verify(['-', ...WITH_KEYS], JSON.stringify({ ...source.receipt, receiptId }))
  expect(status).toBe(1)
  expect(stdout).toContain('receipt x\ufffd  ok      all\ufffd[2J\ufffd\n')
})

describe('a key that is not given', () => {
  const service = 'ed25519.json'

  test('exits 2 and names the check and the key, and says neither valid nor INVALID', () => {
    file(service, { keys: [source.keySet.keys[0]] })
    const { status, stdout } = verifyBy(service)
    const lines = stdout.split('\n')
    const missing = source.keySet.keys[1]?.keyId
    expect(status).toBe(2)
    expect(lines).toContain(
      `  NO KEY  record signature: It cannot be checked: key "${missing}" is not given.`,
    )
    expect(lines).toContain('cannot be checked')
    expect(lines).not.toContain('valid')
    expect(lines).not.toContain('INVALID')
    expect(stdout).toContain('GET /keys/{keyId}')
  })

  // proves abuse: A signature under the name
  test('hides no check that fails, in this evidence or another', () => {
    file(service, { keys: [source.keySet.keys[0]] })
    const given = ['--jwks', service]
    const changed = { ...source.record, createdAt: 'x' }
    expect(verify(['-', ...given], JSON.stringify(changed)).status).toBe(1)
    const { status, stdout } = verify(['-', ...given], JSON.stringify([source.record, changed, {}]))
    expect(status).toBe(1)
    expect(stdout).toContain('3 pieces of evidence in 1 file: 0 valid, 1 INVALID, 2 cannot be checked\n')
  })

  test('--json has the verdict and the keys', () => {
    file(service, { keys: [source.keySet.keys[0]] })
    const { status, stdout } = verify(['record.json', '--jwks', service, '--json'])
    expect(status).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'unchecked', valid: false })
    expect(stdout).toContain('"missingKeys"')
  })
})

test('--json escapes what evidence could write to the terminal, and has the same value', () => {
  const receiptId = 'x\u001b[2J\u009b\u202e\u{e0041}'
  const { stdout } = verify(['-', ...WITH_KEYS, '--json'], JSON.stringify({ ...source.receipt, receiptId }))
  expect(JSON.parse(stdout)).toMatchObject({ subject: receiptId })
  expect(stdout).toMatch(/^[\x20-\x7e\n]*$/)
})

describe('exits 2 with one sentence and nothing else for', () => {
  test.each<[string, string[], string, string]>([
    ['a file that is not there', ['none.json', ...WITH_KEYS], '', 'none.json cannot be read (ENOENT).'],
    ['no key set', ['record.json'], '', "required option '--jwks <file>' not specified"],
    ['a key set that is not there', ['record.json', '--jwks', 'none'], '', 'none cannot be read (ENOENT).'],
    ['evidence as a key set', ['record.json', '--jwks', 'record.json'], '', 'has no list `keys`'],
    ['both from standard input', ['-', '--jwks', '-'], '{}', 'Standard input can be read only once'],
    [
      'two key sets from standard input',
      ['record.json', '--jwks', '-', '--jwks', '-'],
      '{}',
      'can be read only once',
    ],
    [
      'a log that is not there',
      ['record.json', ...WITH_KEYS, '--log', 'none'],
      '',
      'none cannot be read (ENOENT).',
    ],
    ['a record as a log', ['record.json', ...WITH_KEYS, '--log', 'record.json'], '', 'has no list `logs`'],
    [
      'no JSON',
      ['-', ...WITH_KEYS],
      '<html>',
      'Standard input: The evidence is not JSON with exactly one reading',
    ],
    ['a file without JSON', ['html.json', ...WITH_KEYS], '', 'html.json: The evidence is not JSON with'],
    ['the same with --json', ['html.json', ...WITH_KEYS, '--json'], '', 'html.json: The evidence is not'],
    [
      'a key set without JSON beside another',
      ['record.json', ...WITH_KEYS, '--jwks', 'html.json'],
      '',
      'countersign: html.json is not JSON with exactly one reading',
    ],
    [
      'a proof of the log',
      ['-', ...WITH_KEYS],
      'c2sp.org/tlog-proof@v1\nindex 0\n\n',
      'is a proof of the log alone. Verify the bundle',
    ],
    ['a BOM', ['-', ...WITH_KEYS], '\ufeff{}', 'not JSON with exactly one reading'],
    ['no evidence', ['-', ...WITH_KEYS], '{"status":"UP"}', 'no evidence of a known kind'],
    [
      'an error of a service',
      ['-', ...WITH_KEYS],
      '{"error":"Trust Record\u202e not found"}',
      'no evidence but an error that a service answered: "Trust Record\ufffd not found".',
    ],
    ['an empty page', ['-', ...WITH_KEYS], '[]', 'no evidence to verify'],
    ['no file', WITH_KEYS, '', "missing required argument 'file'"],
    ['an option that there is not', ['record.json', ...WITH_KEYS, '--fast'], '', "unknown option '--fast'"],
  ])('%s', (_, args, input, sentence) => {
    const { status, stdout, stderr } = verify(args, input)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain(sentence)
    expect(stderr.trimEnd().split('\n')).toHaveLength(1)
  })
})
