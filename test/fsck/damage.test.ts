// countersign fsck on a database with a damaged page: it names what cannot be read, by table and by row, and checks everything else.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Finding } from '../../src/cli/fsck/check.ts'
import { fsck, type Summary } from '../../src/cli/fsck/run.ts'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { describeWithPostgres } from '../debian-postgres.ts'
import { flipBitOf } from '../faults/damage.ts'
import { startServer, type Server } from '../faults/database-server.ts'
import { startService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { makeKeys } from '../signing-keys.ts'

const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli', 'index.ts')
const EXECUTIONS = 60

const inPage = (page: number) => `ctid >= '(${page},0)'::tid AND ctid < '(${page + 1},0)'::tid`

describeWithPostgres('fsck of a database with a damaged page', () => {
  let server: Server
  let signingKeyDir: string
  let keys: ReturnType<typeof readPublicKeys>
  let healthy: Summary
  /** In page 3 of execution_evidence, in their order, with the one before and the one behind. */
  let before: string, damaged: string[], behind: string
  let tampered: string

  async function check(): Promise<{ summary: Summary; findings: Finding[] }> {
    const client = new Client({ connectionString: server.url })
    await client.connect()
    const findings: Finding[] = []
    const summary = await fsck({ sql: client, keys, onFinding: (finding) => findings.push(finding) })
    await client.end()
    return { summary, findings }
  }

  const idsOf = async (where: string) =>
    (
      await server.run(
        `SELECT business_transaction_id AS id FROM execution_evidence WHERE ${where} ORDER BY ctid`,
      )
    ).map(({ id }) => String(id))

  beforeAll(async () => {
    server = await startServer({}, { initdb: ['--data-checksums'] })
    signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-test-keys-'))
    makeKeys(signingKeyDir)
    keys = readPublicKeys(signingKeyDir)
    const service = await startService({ databaseUrl: server.url, signingKeyDir })
    const all = await Promise.all(
      Array.from({ length: EXECUTIONS }, () => service.post('/execute', aTransaction())),
    )
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await service.stop()).toBe(0)
    healthy = (await check()).summary
    expect(healthy).toMatchObject({ problems: 0, unreadable: 0, rows: { trust_records: EXECUTIONS } })
    damaged = await idsOf(inPage(3))
    expect(damaged.length).toBeGreaterThan(0)
    before = (await idsOf(inPage(2))).at(-1) ?? ''
    behind = (await idsOf(inPage(4)))[0] ?? ''
    tampered = (await idsOf(inPage(0)))[0] ?? ''
    await server.run(
      `UPDATE execution_evidence SET receipt = replace(receipt, '"ed25519"', '"ed25518"') WHERE business_transaction_id = '${tampered}'`,
    )
  })
  afterAll(() => rmSync(signingKeyDir, { recursive: true }))

  // proves fault: A bit of a table
  test('of a table: the page with the rows around it, each row that needs it, and every other problem', async () => {
    const repair = await flipBitOf(server, 'execution_evidence', 3)
    const { summary, findings } = await check()
    await repair()

    expect(findings).toContainEqual({
      table: 'execution_evidence',
      key: 'page 3',
      problem: `rows cannot be read; they were stored after ${before} and before ${behind}`,
    })
    const unchecked = findings.filter(({ table }) => table === 'business_transactions')
    expect(unchecked).toEqual(
      expect.arrayContaining(
        damaged.map((key) => ({
          table: 'business_transactions',
          key,
          problem: 'cannot be checked: page 3 of execution_evidence is damaged',
        })),
      ),
    )
    expect(unchecked).toHaveLength(damaged.length)
    expect(findings.filter(({ table, key }) => table === 'receipts' && key === `${tampered} 1`)).not.toEqual(
      [],
    )
    expect(summary.rows['business_transactions']).toBe(EXECUTIONS - damaged.length)
    expect(summary.rows['audit_events']).toBe(healthy.rows['audit_events'])
    // The page, and each row of another table that is read with a record in it.
    expect(summary.unreadable).toBe(1 + damaged.length)
  })

  // proves fault: A bit of an index
  test('of an index: the index, and every row is checked without it', async () => {
    const repair = await flipBitOf(server, 'execution_evidence_pkey', 1)
    const { summary, findings } = await check()
    const command = spawnSync(process.execPath, [CLI, 'fsck'], {
      env: { DATABASE_URL: server.url, SIGNING_KEY_DIR: signingKeyDir },
      encoding: 'utf8',
    })
    // On a slow machine it says how far it is.
    expect([command.status, command.stderr.replaceAll(/^\w+: \d+ rows\n/gm, '')]).toEqual([2, ''])
    expect(command.stdout).toMatch(/\nOf these 1 could not be read: not everything was checked\.\n$/)
    await repair()

    expect(findings).toContainEqual({
      table: 'execution_evidence',
      key: 'page 1 of index execution_evidence_pkey',
      problem: 'is damaged: REINDEX it',
    })
    expect(summary.unreadable).toBe(1)
    expect(summary.rows).toEqual(healthy.rows)
    expect(findings.filter(({ table, key }) => table === 'receipts' && key === `${tampered} 1`)).not.toEqual(
      [],
    )
    const { summary: repaired } = await check()
    expect(repaired.unreadable).toBe(0)
  })
})
