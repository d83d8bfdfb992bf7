// countersign log audit on a database that a service has written: it holds, and whatever somebody changes is found.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { audit } from '../../src/cli/log/audit.ts'
import { Coverage } from '../../src/cli/log/coverage.ts'
import { trusting } from '../../src/cli/log/trust.ts'
import { readSaved, type SavedCheckpoint } from '../../src/cli/log/saved.ts'
import { readCheckpoint } from '../../src/formats/log/checkpoint.ts'
import { logVkeys, publishedLogKeys, readLogKeys, signCheckpoint } from '../../src/core/signing/log-keys.ts'
import { formatVkey } from '../../src/formats/log/note.ts'
import type { QueuedEntry } from '../../src/store/tables/log-queue.ts'
import { latestCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import { readLogStatus } from '../../src/store/tables/log-state.ts'
import { openLogWork } from '../../workers/log/index.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { connectDamaged, published, startMixed, type Mix } from '../fsck/mix.ts'
import { bundledEnvironment } from '../run/environment.ts'
import { startService, until } from '../service.ts'
import { anEntry, queue } from './log.ts'
import { aSigner } from './signers.ts'
import { makeKeys } from '../signing-keys.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'

const CLI = join(import.meta.dirname, '..', '..', 'src', 'cli', 'index.ts')
const signingKeyDir = mkdtempSync(join(tmpdir(), 'countersign-test-keys-'))
let database: TestDatabase
let mix: Mix
let origin: string

/** Has the ids of all entries stated, as if they were an hour old. */
async function stateIds(): Promise<void> {
  const { pool } = database
  await pool.query("UPDATE log_id_tail SET appended_at = appended_at - interval '1 hour'")
  const keys = readLogKeys(signingKeyDir)
  let nowMs = Date.now()
  const work = openLogWork({ pool, keys, dataDir: join(signingKeyDir, 'data'), nowMs: () => nowMs })
  await until(async () => {
    nowMs += 1_000
    expect(await work.tick()).toMatchObject({ frozen: null, problem: null })
    const { rows } = await pool.query('SELECT FROM log_runs WHERE entry_index IS NOT NULL')
    const status = await readLogStatus(pool)
    return rows.length > 0 && status?.size === status?.publishedSize
  }, 'a run of ids')
}

beforeAll(async () => {
  database = await createDatabase()
  makeKeys(signingKeyDir)
  const { service, remove, ...mixed } = await startMixed(database, { signingKeyDir })
  mix = mixed.mix
  await published(database)
  await service.stop()
  remove()
  await stateIds()
  origin = (await readLogStatus(database.pool))!.origin
})
afterAll(async () => {
  rmSync(signingKeyDir, { recursive: true })
  await database.drop()
})

const open = (origins: readonly string[]) =>
  trusting({
    logs: origins.map((one) => ({
      origin: one,
      vkeys: logVkeys(one, { publicKeys: publishedLogKeys(signingKeyDir)() }),
    })),
  })

/** @param damage as of `connectDamaged` */
async function audited(
  opener = open,
  { saved, damage }: { saved?: readonly SavedCheckpoint[]; damage?: (sql: Client) => Promise<void> } = {},
) {
  const lines: string[] = []
  const sql = await connectDamaged(database, damage)
  const onFinding = ({ table, key, problem }: Record<'table' | 'key' | 'problem', string>) =>
    lines.push(`${table} ${key}: ${problem}`)
  try {
    return { summary: await audit({ sql, open: opener, onFinding, ...(saved && { saved }) }), lines }
  } finally {
    await sql.end()
  }
}

test('everything that a service stores holds, but for the receipts that were removed to put executions in doubt', async () => {
  const { summary, lines } = await audited()
  expect(lines).toEqual(
    Array.from({ length: 3 }, () =>
      expect.stringMatching(
        /^log \S+ \d+: is of kind receipt, and no such artifact is stored: its SHA-256 is [0-9a-f]{64}$/,
      ),
    ),
  )
  expect(summary).toMatchObject({ problems: 3, unreadable: 0, logs: [{ checkpoint: { origin } }] })
})

describe('one cause is named once', () => {
  test('where witnesses have not cosigned: only the newest checkpoint needs those of a policy', async () => {
    const { rows } = await database.pool.query('SELECT FROM log_checkpoints')
    expect(rows.length).toBeGreaterThan(1)
    const vkeys = logVkeys(origin, { publicKeys: publishedLogKeys(signingKeyDir)() })
    const witness = formatVkey(aSigner('witness.example', 'ml-dsa-44-cosignature').key)
    const policy = `log ${vkeys[0]}\nwitness w ${witness}\nquorum w\n`
    const { lines, summary } = await audited(() => trusting(policy))
    expect(lines).toEqual([expect.stringMatching(/^log \S+: checkpoint: the quorum 'w' is not met/)])
    expect(summary).toMatchObject({ problems: 1, unreadable: 0, logs: [] })
  })

  test('where the key of a log is not given: that cannot be checked', async () => {
    const vkeys = logVkeys('others/log/1', { publicKeys: publishedLogKeys(signingKeyDir)() })
    const { lines, summary } = await audited(() => trusting({ logs: [{ origin: 'others/log/1', vkeys }] }))
    expect(lines).toEqual([
      expect.stringMatching(
        /^log \S+: checkpoint: no key of the log "\S+" that signed its checkpoint is given$/,
      ),
    ])
    expect(summary).toMatchObject({ problems: 1, unreadable: 1, logs: [] })
  })

  test('where an older checkpoint is not what was signed: it is named by its size', async () => {
    const { lines } = await tampered([
      'SELECT min(size) AS size FROM log_checkpoints',
      `UPDATE log_checkpoints SET note = regexp_replace(note, '\\n[A-Za-z0-9+/]{43}=', E'\\n' || repeat('A', 43) || '=') WHERE size = :size`,
    ])
    expect(lines).toEqual([
      expect.stringMatching(
        /^log \S+: checkpoint: that of \d+ entries: the signature of \S+ \(key id \S+\) does not hold$/,
      ),
    ])
  })
})

/** Audits after statements, which name values of the mix and of what the statements before them returned. */
function tampered(statements: readonly string[]) {
  return audited(open, {
    async damage(sql) {
      const values: Record<string, unknown> = { ...mix }
      for (const statement of statements) {
        const text = statement.replaceAll(/:(\w+)/g, (whole, name: string) =>
          name in values ? `'${String(values[name])}'` : whole,
        )
        const { rows, rowCount } = await sql.query<Record<string, unknown>>(text)
        expect(rowCount).toBeGreaterThan(0)
        Object.assign(values, rows[0])
      }
    },
  })
}

describe('what somebody changed is found', () => {
  test.each<[string, string | string[], RegExp[]]>([
    [
      'an audit event',
      `UPDATE audit_events SET body = replace(body, 'approval.delivered', 'approval.undone') WHERE type = 'approval.delivered'`,
      [/^audit_events \S+: is not what entry \d+ of \S+ says: that is of another kind, or of other bytes$/],
    ],
    [
      'a receipt that is gone',
      'UPDATE execution_evidence SET receipt = NULL WHERE business_transaction_id = :approved',
      [/^log \S+ \d+: is of kind receipt, and no such artifact is stored: its SHA-256 is [0-9a-f]{64}$/],
    ],
    [
      'the time of a receipt',
      `UPDATE execution_evidence SET receipt = replace(receipt, '"issuedAt":"20', '"issuedAt":"19') WHERE business_transaction_id = :approved`,
      [/^receipts \S+ 1: states a receiptHash that is not that of its content$/],
    ],
    [
      'a receipt that is there twice',
      `INSERT INTO appended_receipts (business_transaction_id, ordinal, body, log_batch, log_ordinal)
       SELECT business_transaction_id, 7, body, log_batch, log_ordinal FROM receipts WHERE business_transaction_id = :approved`,
      [/^receipts \S+ [17]: is a second row of entry \d+ of \S+$/],
    ],
    [
      'how many entries a stream has',
      'UPDATE log_streams SET n = n + 1 WHERE n = (SELECT max(n) FROM log_streams)',
      [
        /^log \S+: the streams, as they are stored, are not those of its entries: the next ones would contradict them$/,
      ],
    ],
    [
      'a row of the queue that is no JSON',
      `INSERT INTO log_queue (batch, entries) VALUES (gen_random_uuid(), 'nonsense')`,
      [/^log_queue \d+: cannot be read, and the log stops before it$/],
    ],
    [
      'a log that an instance froze',
      `UPDATE log_state SET frozen = 'The database is older than that checkpoint.'`,
      [/^log \S+: is frozen, and signs nothing: The database is older than that checkpoint\.$/],
    ],
    [
      'a proposal',
      `UPDATE pending_changes SET body = replace(body, '"newer', '"older') WHERE change_id = :policyChange`,
      [
        /^log \S+ \d+: is of kind governance-change, and no such artifact is stored: its SHA-256 is [0-9a-f]{64}$/,
      ],
    ],
    [
      'the place of an authorization',
      [
        'SELECT log_batch AS batch, log_ordinal AS ordinal FROM business_transactions WHERE business_transaction_id = :other',
        'UPDATE business_transactions SET log_batch = :batch, log_ordinal = :ordinal WHERE business_transaction_id = :approved',
      ],
      [
        /^business_transactions \S+: is not what entry/,
        /^receipts \S+ 1: is entry \d+ of \S+, before its authorization \(entry \d+ of \S+\)$/,
        /^log \S+ \d+: is of kind authorization, and no such artifact is stored: its SHA-256 is [0-9a-f]{64}$/,
      ],
    ],
    [
      'whose execution it is',
      `UPDATE business_transactions SET caller_id = 'somebody' WHERE business_transaction_id = :approved`,
      [
        /^business_transactions \S+: is counted for another caller by entry \d+/,
        /^receipts \S+ 1: is counted for another caller by entry \d+/,
      ],
    ],
    [
      'an approval that is said to be of an earlier execution',
      'UPDATE approvals SET consumed_by = :approved WHERE approval_id = :usedApproval',
      [/^approvals \S+: is entry \d+ of \S+, after the authorization that used it \(entry \d+ of \S+\)$/],
    ],
    [
      'a policy that is said to have been approved later',
      `UPDATE authority SET began_by_change = :policyChange WHERE key LIKE 'by-one/%'`,
      [
        /^business_transactions \S+: is entry \d+ of \S+, before the change that approved its policy \(entry \d+/,
      ],
    ],
    [
      'a key that is said to have been revoked before its approval was used',
      `UPDATE authority AS k SET ended_by_change = k.began_by_change, ended_at = now() FROM approvals AS a
       WHERE a.approval_id = :usedApproval AND k.key = a.approver_id || ':' || a.key_id`,
      [
        /^approvals \S+: belongs to the authorization that is entry \d+ of \S+, after the change that revoked its approver's key \(entry \d+/,
      ],
    ],
    [
      'webhook rules whose change was taken out of the log',
      `UPDATE pending_changes SET log_batch = NULL, log_ordinal = NULL WHERE change_id = :rulesChange`,
      [
        /^authority webhook-rules \S+: came into effect by a change that is not in the log$/,
        /^log \S+ \d+: is of kind governance-change, and no such artifact is stored: its SHA-256 is [0-9a-f]{64}$/,
      ],
    ],
    [
      'a change that is gone',
      `DELETE FROM pending_changes WHERE change_id = :endpoint`,
      [/^authority event-endpoint \S+: came into effect by a change that is not in the log$/],
    ],
    [
      'a confirmation by rules that are said to have been approved later',
      `WITH rules AS (UPDATE authority SET began_by_change = :policyChange, began_by = 'checker' WHERE target = 'bank')
       UPDATE pending_changes AS c SET log_batch = d.log_batch, log_ordinal = d.log_ordinal FROM webhook_events AS d
       WHERE c.change_id = :policyChange AND d.event_id = 'evt_done'`,
      [
        /^provider_confirmations \S+: is entry \d+ of \S+, before the change that approved its rules \(entry \d+/,
      ],
    ],
    [
      'an execution that is said to be by a connector that was registered later',
      [
        `SELECT max(key) AS newest FROM authority WHERE kind = 'external-connector'`,
        `UPDATE execution_evidence SET body = regexp_replace(body, '"connectorVersion":"[^"]*"', '"connectorVersion":"' || :newest || '"')
         WHERE business_transaction_id = :approved`,
      ],
      [
        /^receipts \S+ 1: belongs to the authorization that is entry \d+ of \S+, before the change that registered its connector \(entry \d+/,
      ],
    ],
    [
      'a promise that is over, of a receipt in the queue',
      [
        'SELECT log_batch AS batch FROM receipts WHERE business_transaction_id = :byApproval',
        'DELETE FROM log_batches WHERE batch = :batch',
        `INSERT INTO log_queue (batch, entries) VALUES (:batch, '{"entries":[1,2,3,4,5,6]}')`,
        `UPDATE execution_evidence SET receipt = regexp_replace(receipt, '"by":"[^"]*"', '"by":"2026-01-01T00:00:00.000Z"')
         WHERE business_transaction_id = :byApproval`,
      ],
      [
        /^receipts \S+ 1: promises to be under a checkpoint of \S+ by 2026-01-01T00:00:00\.000Z, and waits in the queue$/,
      ],
    ],
    [
      'a promise of another log',
      `UPDATE execution_evidence SET receipt = regexp_replace(receipt, '"log":"[^"]*"', '"log":"other/log/1"')
       WHERE business_transaction_id = :byApproval`,
      [/^receipts \S+ 1: promises to be under a checkpoint of other\/log\/1 by \S+, and is in \S+\/log\/1$/],
    ],
    [
      'ids in a run',
      `UPDATE log_run_tiles SET leaves = overlay(leaves PLACING decode(repeat('00', 1200), 'hex') FROM 1) WHERE height = 0`,
      [
        /^log \S+: The run of the ids of the entries from 0 to \d+, level 0: /,
        /^\w+ \S+( 1)?: has an id that the log denies: it is not in the run of ids that covers entry \d+ of \S+$/,
      ],
    ],
    [
      'a byte of an entry',
      'UPDATE log_tail SET entries = set_byte(entries, 40, get_byte(entries, 40) # 1) WHERE start = (SELECT min(start) FROM log_tail)',
      [/^log \S+: tile\/entries\/\S+: entry \d+|^log \S+: tile\/0\/|^log \S+: checkpoint: its root/],
    ],
    [
      'a checkpoint',
      `UPDATE log_checkpoints SET note = regexp_replace(note, '\\n[A-Za-z0-9+/]{43}=', E'\\n' || repeat('A', 43) || '=')
       WHERE size = (SELECT max(size) FROM log_checkpoints)`,
      [/^log \S+: checkpoint: the signature of \S+ \(key id \S+\) does not hold$/],
    ],
    [
      'a checkpoint of another log',
      `UPDATE log_state SET origin = 'other.example/log/1'`,
      [
        /^log other\.example\/log\/1: checkpoint: no key of the log "\S+" that signed its checkpoint is given$/,
      ],
    ],
  ])('%s', async (_what, sql, expected) => {
    const { lines, summary } = await tampered([sql].flat())
    for (const pattern of expected) expect(lines).toContainEqual(expect.stringMatching(pattern))
    expect(summary.problems).toBe(lines.length)
  })
})

describe('a promise', () => {
  test.each([
    ['is kept where the first checkpoint after it covers the entry', 100, 60_000, false],
    ['is not shown to be broken where checkpoints are missing', 100, 90_000, false],
    ['is broken where a checkpoint after it does not cover the entry', 150, 90_000, true],
    ['is kept where no checkpoint came before the entry', 10, 1, false],
  ])('%s', (_what, index, byMs, late) => {
    const coverage = new Coverage({ size: 300, artifacts: 300 })
    coverage.addCheckpoint({ size: 50, signedBy: [{ timeSeconds: 30 }] })
    coverage.addCheckpoint({ size: 120, signedBy: [{ timeSeconds: 100 }] })
    coverage.addCheckpoint({ size: 300, signedBy: [{ timeSeconds: 200 }] })
    expect(coverage.isLate(index, byMs)).toBe(late)
  })
})

/** As a service with these keys would sign it. */
const aCheckpoint = (of: string, size: number) =>
  signCheckpoint(readLogKeys(signingKeyDir), {
    origin: of,
    size,
    root: new Uint8Array(32).fill(7),
    timeSeconds: Math.floor(Date.now() / 1000),
  })

describe('a checkpoint that was saved elsewhere', () => {
  const file = join(signingKeyDir, 'saved-checkpoint')
  const env = { DATA_DIR: join(signingKeyDir, 'nothing') }
  async function auditedWith(note: string, as: Record<string, string> = env, files = [file]) {
    writeFileSync(file, note)
    const receipts = await audited()
    const { lines } = await audited(open, { saved: readSaved(as, files) })
    return lines.filter((line) => !receipts.lines.includes(line))
  }

  test('is one that the log begins with: nothing is wrong', async () => {
    const { rows } = await database.pool.query<{ note: string }>(
      'SELECT note FROM log_checkpoints ORDER BY size LIMIT 1',
    )
    expect(await auditedWith(rows[0]!.note)).toEqual([])
  })

  test('has more entries, other ones, or is of a later log: the database went back', async () => {
    const { size } = readCheckpoint((await latestCheckpoint(database.pool))!.note)
    expect(await auditedWith(await aCheckpoint(origin, size + 10))).toEqual([
      `log ${origin}: has ${size} entries in the database, and ${file} is a signed checkpoint of ${size + 10}: the database is older`,
    ])
    expect(await auditedWith(await aCheckpoint(origin, size - 1))).toEqual([
      `log ${origin}: contradicts the signed checkpoint ${file} at size ${size - 1}: entries were changed or replaced`,
    ])
    const later = origin.replace(/1$/, '2')
    expect(await auditedWith(await aCheckpoint(later, 1))).toEqual([
      `log ${later}: is not in the database, and ${file} is a signed checkpoint of it: the database is older`,
    ])
  })

  test('of a log whose key is not given cannot be checked', async () => {
    writeFileSync(file, await aCheckpoint(origin, 1))
    const vkeys = logVkeys('others/log/1', { publicKeys: publishedLogKeys(signingKeyDir)() })
    const others = trusting({ logs: [{ origin: 'others/log/1', vkeys }] })
    const { lines, summary } = await audited(() => others, { saved: readSaved(env, [file]) })
    expect(lines[0]).toBe(`log ${origin}: no key of the log "${origin}" that signed its checkpoint is given`)
    expect(summary.unreadable).toBe(2)
  })

  test('that is none, is not signed or is of another service is refused by its name', async () => {
    expect(() => readSaved(env, [join(file, 'x')])).toThrow(`${join(file, 'x')} is no checkpoint of a log: `)
    await expect(auditedWith('no checkpoint')).rejects.toThrow(`${file} is no checkpoint of a log: `)
    const note = await aCheckpoint(origin, 1)
    await expect(auditedWith(note.replace('\n1\n', '\n2\n'))).rejects.toThrow(
      `${file} is no signed checkpoint: `,
    )
    const other = await aCheckpoint('others/log/1', 1)
    await expect(auditedWith(other)).rejects.toThrow(
      `${file} is a checkpoint of others/log/1, and the database has no log of that name.`,
    )
  })

  test('in DATA_DIR is looked at where it is of this log', async () => {
    const [dataDir, kept] = [join(signingKeyDir, 'kept'), join(signingKeyDir, 'kept', 'log-checkpoint')]
    mkdirSync(dataDir)
    writeFileSync(kept, await aCheckpoint(origin, 1))
    expect(await auditedWith('', { DATA_DIR: dataDir }, [])).toEqual([
      `log ${origin}: contradicts the signed checkpoint ${kept} at size 1: entries were changed or replaced`,
    ])
    writeFileSync(kept, await aCheckpoint('others/log/1', 1))
    expect(await auditedWith('', { DATA_DIR: dataDir }, [])).toEqual([])
  })
})

const run = (env: Record<string, string>, ...args: string[]) => runLog(env, 'audit', ...args)
const runLog = (env: Record<string, string>, ...args: string[]) =>
  spawnSync(process.execPath, [CLI, 'log', ...args], {
    env: { ...bundledEnvironment, DATA_DIR: signingKeyDir, ...env },
    encoding: 'utf8',
  })

describe('the command', () => {
  let small: TestDatabase
  let given: { DATABASE_URL: string; SIGNING_KEY_DIR: string }
  let rejected: string
  beforeAll(async () => {
    small = await createDatabase()
    const service = await startService({ databaseUrl: small.url, signingKeyDir })
    expect((await service.post('/execute', aTransaction())).status).toBe(200)
    const refused = aRejectedTransaction()
    rejected = refused.businessTransactionId
    expect((await service.post('/execute', refused)).status).toBe(500)
    await published(small)
    await service.stop()
    given = { DATABASE_URL: small.url, SIGNING_KEY_DIR: signingKeyDir }
  })
  afterAll(() => small.drop())

  test('exits 0 where nothing is wrong, with the keys of the service or a saved description', async () => {
    const byKeys = run(given)
    expect(byKeys).toMatchObject({ status: 0, stderr: '' })
    expect(byKeys.stdout).toMatch(/^\S+: \d+ entries in \d+ streams under [\s\S]*\nNo problems\.\n$/)
    const file = join(signingKeyDir, 'log.json')
    const one = (await readLogStatus(small.pool))!.origin
    const vkeys = logVkeys(one, { publicKeys: publishedLogKeys(signingKeyDir)() })
    writeFileSync(file, JSON.stringify({ logs: [{ origin: one, vkeys }] }))
    const env = { ...given, SIGNING_KEY_DIR: join(signingKeyDir, 'nothing') }
    expect(run(env, '--log', file)).toMatchObject({ status: 0, stderr: '' })
    expect(run(env)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/No keys in .*\/nothing\/log: without the log's public keys/),
    })
  })

  test('holds a log that was reopened against what it says of the one before', async () => {
    await small.pool.query(`UPDATE log_state SET frozen = 'A test froze it.'`)
    const frozen = await startService({ databaseUrl: small.url, signingKeyDir })
    // Its receipt promises the log that is frozen.
    expect((await frozen.post('/execute', aTransaction())).status).toBe(200)
    await frozen.stop()
    expect(runLog(given, 'reopen')).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /There is no checkpoint of \S+ in \S+log-checkpoint, and none is given by --checkpoint: /,
      ),
    })
    const checkpoint = join(signingKeyDir, 'newest-checkpoint')
    const { size } = (await latestCheckpoint(small.pool))!
    writeFileSync(checkpoint, await aCheckpoint(origin, size + 7))
    expect(runLog(given, 'reopen', '--checkpoint', checkpoint)).toMatchObject({ status: 0 })
    const service = await startService({ databaseUrl: small.url, signingKeyDir })
    expect((await service.post('/execute', aTransaction())).status).toBe(200)
    await published(small)
    await service.stop()
    const both = run(given)
    expect(both).toMatchObject({ status: 0, stderr: '' })
    expect(both.stdout).toMatch(
      /^\S+\/log\/1: [\s\S]*\n\S+\/log\/2: [\s\S]*\nNo problems except those disclosed above\.\n$/,
    )
    expect(both.stdout).toMatch(
      /\n\S+\/log\/1 is frozen: A test froze it\.\n[\s\S]*\nAt least 7 signed entries are lost\.\n/,
    )
    // The disclosures of the log that was opened after it are no news.
    expect(run(given, '--checkpoint', checkpoint)).toMatchObject({ status: 0, stderr: '' })
    writeFileSync(checkpoint, await aCheckpoint(origin, size + 8))
    expect(run(given, '--checkpoint', checkpoint)).toMatchObject({ status: 1, stderr: '' })
    await small.pool.query(
      `UPDATE log_state SET previous = replace(previous, 'A test', 'Nobody') WHERE log = 2`,
    )
    expect(run(given)).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(
        /\/log\/2: entry 0: it is not the statement about the log before that is stored\n/,
      ),
    })
    await small.pool.query(
      `UPDATE log_state SET previous = replace(previous, 'Nobody', 'A test') WHERE log = 2`,
    )
  })

  test('exits 1 with each problem as JSON', async () => {
    await small.pool.query('DELETE FROM refusal_records WHERE business_transaction_id = $1', [rejected])
    const { status, stdout } = run(given, '--json')
    expect(status).toBe(1)
    const [finding, { summary }] = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)) as [object, { summary: object }]
    expect(finding).toMatchObject({ table: 'log', problem: expect.stringMatching(/^is of kind refusal/) })
    expect(summary).toMatchObject({ problems: 1, unreadable: 0, logs: expect.any(Array) })
  })

  test('finds an entry that claims to state the ids of some entries, and does not', async () => {
    const keys = readLogKeys(signingKeyDir)
    const work = openLogWork({ pool: small.pool, keys, dataDir: signingKeyDir, nowMs: Date.now })
    const claim = { ...anEntry({}), kind: 'ids' } as unknown as QueuedEntry
    await queue(small.pool, [claim])
    await until(async () => {
      expect(await work.tick()).toMatchObject({ frozen: null, problem: null })
      const status = await readLogStatus(small.pool)
      return !status?.queued && status?.size === status?.publishedSize
    }, 'a checkpoint')
    expect(run(given)).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(
        /^log \S+\/log\/2 \d+: is of kind ids, and states no run that is stored$/m,
      ),
    })
  })
})
