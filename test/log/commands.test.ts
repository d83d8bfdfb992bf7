// The handbook's section on audits, run as an auditor runs it: against a service, its database and the commands of this checkout.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { answer, openFlakyNetwork } from '../clients/flaky-network.ts'
import type { TestDatabase } from '../database.ts'
import { runCommand } from '../command.ts'
import { blocks, forHere } from '../handbook.ts'
import { bundledEnvironment } from '../run/environment.ts'
import { aCaller, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const auditor = aCaller('auditor', { readAll: true, allowedCapabilities: [] })
const folder = mkdtempSync(join(tmpdir(), 'countersign-log-commands-'))
/** Where the commands save what they download. */
const mine = join(folder, 'mine')
const shell = promisify(execFile)

let database: TestDatabase
let service: TestService
let executed: { id: string; hash: string }
withDatabase(async ({ database: made, start }) => {
  mkdirSync(mine)
  database = made
  service = await start({ callers: [auditor.entry] })
  for (let i = 0; i < 5; i++) {
    const { body } = await service.post('/execute', aTransaction())
    executed = { id: body.businessTransactionId, hash: body.receipts[0].receiptHash }
  }
  // The proof waits until it is under a checkpoint, as do the four before it.
  expect(
    (await service.get(`/log/proofs/receipt/${executed.id}`, { headers: { prefer: 'wait=10' } })).status,
  ).toBe(200)
})
afterAll(() => {
  rmSync(folder, { recursive: true })
})

/** A block of the section that holds `text`, as it is shown. */
function shown(text: string): string {
  const found = blocks('log.md', 'sh').filter((block) => block.includes(text))
  expect(found).toHaveLength(1)
  return forHere(found[0]!, service.url)
}

async function run(script: string, env: Record<string, string> = {}) {
  try {
    const { stdout, stderr } = await shell('sh', ['-eu', '-c', script], {
      cwd: folder,
      env: {
        ...bundledEnvironment,
        AUDITOR_KEY: auditor.key,
        CALLER_KEY: service.key,
        ID: executed.id,
        RECEIPT_HASH: executed.hash,
        DATABASE_URL: database.url,
        ...env,
      },
    })
    return { status: 0, stdout, stderr }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { status: code, stdout, stderr }
  }
}

const exporting = (url: string, ...more: string[]) =>
  runCommand(['log', 'export', '--url', url, '--to', join(mine, 'log-copy'), ...more], {})

const proving = (kind: string, ...more: string[]) =>
  runCommand(['log', 'proof', kind, executed.id, '--url', service.url, '--key', service.key, ...more], {})

test('a copy is exported from a service and holds', async () => {
  const { status, stdout, stderr } = await run(shown('log fsck'))
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^\S+\/log\/1: \d+ entries, 2 files downloaded, 0 were there already\.\n/)
  expect(stdout).toMatch(/\nNo problems\.\n$/)
  const again = await run(shown('log fsck'))
  expect(again.status).toBe(0)
})

describe('log export', () => {
  test('exits 1 where the service contradicts the copy', async () => {
    const file = join(mine, 'log-copy', 'checkpoint')
    const note = readFileSync(file, 'utf8')
    writeFileSync(file, note.replace(/\n[^\n]{44}\n/, `\n${Buffer.alloc(32).toString('base64')}\n`))
    const { status, stdout, stderr } = await exporting(service.url, '--key', auditor.key)
    writeFileSync(file, note)
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' })
    expect(stderr).toMatch(
      /^countersign: .* another history: .* Run `countersign log fsck` on the folder first/,
    )
  })

  test('exits 2 where nothing can be exported, and says what to give', async () => {
    const { host } = new URL(service.url)
    for (const [ended, message] of [
      [exporting('http://127.0.0.1:1', '--key', auditor.key), 'does not answer'],
      [
        exporting(host, '--key', auditor.key),
        `countersign: ${host} is not an address of a service: it must begin with http:// or https://.\n`,
      ],
      // The checkpoint is open, the tiles are not.
      [
        runCommand(['log', 'export', '--url', service.url, '--to', join(mine, 'other-copy')], {}),
        'the service answers 401: authentication required: give an API key with --key or in COUNTERSIGN_API_KEY\n',
      ],
      [
        runCommand(
          ['log', 'export', '--url', service.url, '--to', join(mine, 'other-copy'), '--key', 'csk_unknown'],
          {},
        ),
        'the service answers 401: authentication required: it does not know the API key that is given\n',
      ],
      [exporting(service.url, '--number', 'x'), 'It must be a number from 1.'],
      [
        runCommand(['log', 'export', '--url', service.url, '--to', join(mine, 'log.json')], {}),
        `countersign: ${join(mine, 'log.json')} is no folder that can be written (EEXIST).\n`,
      ],
    ] as const) {
      const { status, stdout, stderr } = await ended
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
      expect(stderr).toContain(message)
    }
  })
})

test('the database holds by the saved description, and against a saved checkpoint', async () => {
  const audits = blocks('log.md', 'sh').filter((block) => block.includes('log audit'))
  expect(audits).toHaveLength(2)
  for (const audit of audits) {
    const { status, stdout, stderr } = await run(forHere(audit, service.url))
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(/\nNo problems\.\n$/)
  }
})

describe('log proof', () => {
  test('keeps a proof that holds', async () => {
    const { status, stdout, stderr } = await run(shown('log proof'))
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(stdout).toMatch(
      new RegExp(
        `^receipt ${executed.hash} is entry \\d+ of \\S+/log/1, under its checkpoint of \\d+ entries\\.\\n$`,
      ),
    )
    expect(readFileSync(join(mine, 'receipt.tlog-proof'), 'utf8')).toMatch(/^c2sp\.org\/tlog-proof@v1\n/)
    rmSync(join(mine, 'receipt.tlog-proof'))
  })

  test('exits 1 where the proof is of something else, 2 where its keys are not given, and keeps nothing', async () => {
    const other = await run(shown('log proof'), { RECEIPT_HASH: 'ab'.repeat(32) })
    expect(other).toMatchObject({
      status: 1,
      stdout: `The proof does not hold: it is of the entry receipt ${executed.hash}, which is another one.\n`,
    })
    const file = join(mine, 'log.json')
    const description = readFileSync(file, 'utf8')
    writeFileSync(
      file,
      'log sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8\nquorum none\n',
    )
    const fsck = /^.* log fsck .*$/m.exec(shown('log fsck'))![0]
    const [untrusted, copy] = [await run(shown('log proof')), await run(fsck)]
    writeFileSync(file, description)
    for (const { status, stdout, stderr } of [untrusted, copy]) {
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
      expect(stderr).toMatch(/no key of the log "\S+" that signed its checkpoint is given\.\n$/)
    }
    expect(existsSync(join(mine, 'receipt.tlog-proof'))).toBe(false)
  })

  test('exits 2 where it is not under a checkpoint yet, and says when that is evidence', async () => {
    const network = await openFlakyNetwork(service.url)
    network.plan(`GET /log/proofs/receipt/${executed.id}`, answer(202, {}))
    const given = ['--url', network.url, '--log', join(mine, 'log.json')]
    expect(await runCommand(['log', 'proof', 'receipt', executed.id, ...given], {})).toEqual({
      status: 2,
      stdout: '',
      stderr:
        'countersign: It is stored, and after 10 seconds not under a checkpoint yet. A receipt says in transparency.by when it must be: one whose time has passed is evidence against the service, so keep it.\n',
    })
    await network.close()
  })

  test('exits 2 where the file cannot be written, which accuses nobody', async () => {
    const to = join(folder, 'nonexistent', 'x.tlog-proof')
    expect(await proving('receipt', '--log', join(mine, 'log.json'), '--to', to)).toEqual({
      status: 2,
      stdout: '',
      stderr: `countersign: The proof holds, but ${to} cannot be written (ENOENT).\n`,
    })
  })

  test('exits 2 for a kind and a hash that are none', async () => {
    for (const hash of ['ab'.repeat(33), 'AB'.repeat(32)]) {
      const { status, stderr } = await proving('receipt', '--log', 'x', '--hash', hash)
      expect([status, stderr]).toEqual([
        2,
        `error: option '--hash <sha256>' argument '${hash}' is invalid. It must be 64 digits of lowercase hex.\n`,
      ])
    }
    const { status, stderr } = await proving('foo', '--log', 'x')
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining(
        "value 'foo' is invalid for argument 'kind'. Allowed choices are authorization, ",
      ),
    ])
  })

  test('says of a record that --hash takes the receiptHash', async () => {
    const { body } = await service.get(`/trust-records/${executed.id}`)
    const log = ['--log', join(mine, 'log.json')]
    expect(await proving('record', ...log, '--hash', body.trustRecordHash)).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(
        /: a record is in the log by its receipt, so --hash takes the receiptHash\.\n$/,
      ),
    })
    expect((await proving('record', ...log, '--hash', executed.hash)).status).toBe(0)
  })

  test('exits 2 where there is none', async () => {
    const none = await run(shown('log proof'), { ID: '00000000-0000-4000-8000-000000000000' })
    expect(none).toMatchObject({
      status: 2,
      stdout: '',
      stderr: expect.stringMatching(
        /\/log\/proofs\/receipt\/\S+: the service answers 404: There is no such receipt\.\n$/,
      ),
    })
  })
})
