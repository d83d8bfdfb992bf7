// The handbook's section on audits, run as an auditor runs it: against a service, its database and the commands of this checkout.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '../database.ts'
import { blocks, forHere } from '../handbook.ts'
import { bundledEnvironment } from '../run/environment.ts'
import { aCaller, startService, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'

const auditor = aCaller('auditor', { readAll: true, allowedCapabilities: [] })
const folder = mkdtempSync(join(tmpdir(), 'countersign-log-commands-'))
/** Where the commands save what they download. */
const mine = join(folder, 'mine')
const shell = promisify(execFile)

let database: TestDatabase
let service: TestService
let executed: { id: string; hash: string }
beforeAll(async () => {
  mkdirSync(mine)
  database = await createDatabase()
  service = await startService({ databaseUrl: database.url, callers: [auditor.entry] })
  for (let i = 0; i < 5; i++) {
    const { body } = await service.post('/execute', aTransaction())
    executed = { id: body.businessTransactionId, hash: body.receipts[0].receiptHash }
  }
  // The proof waits until it is under a checkpoint, as do the four before it.
  expect(
    (await service.get(`/log/proofs/receipt/${executed.id}`, { headers: { prefer: 'wait=10' } })).status,
  ).toBe(200)
})
afterAll(async () => {
  expect(await service.stop()).toBe(0)
  await database.drop()
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

test('a copy is exported from a service and holds', async () => {
  const { status, stdout, stderr } = await run(shown('log fsck'))
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/^\S+\/log\/1: \d+ entries, 2 files downloaded, 0 were there already\.\n/)
  expect(stdout).toMatch(/\nNo problems\.\n$/)
  const again = await run(shown('log fsck'))
  expect(again.status).toBe(0)
})

test('the database holds by the saved description', async () => {
  const { status, stdout, stderr } = await run(shown('log audit'))
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  expect(stdout).toMatch(/\nNo problems\.\n$/)
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
