// The log as a service writes it: what was acknowledged is under a checkpoint soon, kills lose nothing, and a frozen log stops no execution.
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { openCheckpoint } from '../../src/formats/log/checkpoint.ts'
import { parseEntry } from '../../src/formats/log/entry.ts'
import { leafHash, rootOfInclusion } from '../../src/formats/merkle/tree.ts'
import { logVerifierKey, noteCrypto, readLogKeys } from '../../src/core/signing/log-keys.ts'
import { sha256 } from '../../src/store/sha256.ts'
import { latestCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import { freezeLog, readLogStatus } from '../../src/store/tables/log-state.ts'
import { openLogProofs, type ArtifactName } from '../../src/server/evidence/log-proofs.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { forEach, startLoad } from '../load.ts'
import { startService, until, type TestService } from '../service.ts'
import { makeKeys } from '../signing-keys.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { runCommand } from '../command.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createDatabase()
})
afterEach(() => database.drop())

/** Waits until everything that is committed is under a checkpoint. @returns it, and what opens checkpoints by the service's keys */
async function published({ signingKeyDir }: Pick<TestService, 'signingKeyDir'>) {
  const { pool } = database
  await until(async () => {
    const status = await readLogStatus(pool)
    return status !== undefined && status.size > 0 && !status.queued && status.size === status.publishedSize
  }, 'everything to be under a checkpoint')
  const { note } = (await latestCheckpoint(pool))!
  const origin = note.slice(0, note.indexOf('\n'))
  const logs = readLogKeys(signingKeyDir).publicKeys.map((key) => logVerifierKey(origin, key))
  const open = (signed: string) => openCheckpoint(signed, { logs, witnesses: [] }, noteCrypto)
  return { ...open(note), open }
}

async function prove({ kind, id, owner }: ArtifactName & { readonly owner: string | null }) {
  const { pool } = database
  const proofs = openLogProofs(pool, {
    stopping: () => false,
    required: undefined,
  })
  return (await proofs.prove([{ kind, id }], { owner, waitMs: 0, sql: pool }))[0]
}

/** Expects a proof, by what is stored, that the artifact is under the checkpoint. */
async function expectIncluded(
  id: string,
  kind: 'receipt' | 'refusal' | 'authorization',
  { hash, open }: { hash?: string; open: Awaited<ReturnType<typeof published>>['open'] },
) {
  const proven = await prove({ kind, id, owner: 'tester' })
  if (proven?.state !== 'proven') throw new Error(`${kind} ${id}: ${JSON.stringify(proven)}`)
  const { index, entry, path, checkpoint } = proven.proof
  // Not always the one that was waited for: a sweep that finds what a kill has left makes the log grow.
  const { size, root } = open(checkpoint)
  expect(parseEntry(Buffer.from(entry).toString('latin1'))).toMatchObject({
    kind,
    ...(hash === undefined ? {} : { hash }),
  })
  const ofLeaf = rootOfInclusion({ leafHash: leafHash(entry, sha256), index, size, path }, sha256)
  expect(Buffer.compare(ofLeaf, root)).toBe(0)
}

test('what two instances acknowledge is in the log of both, and each caller finds what is its own', async () => {
  const first = await startService({ databaseUrl: database.url })
  const { signingKeyDir, key } = first
  const second = await startService({ databaseUrl: database.url, signingKeyDir, key })
  const sent = await Promise.all(
    Array.from({ length: 40 }, async (_, i) => {
      const transaction = i % 4 === 0 ? aRejectedTransaction() : aTransaction()
      const { body } = await (i % 2 === 0 ? first : second).post('/execute', transaction)
      return { id: transaction.businessTransactionId, body: body as { receipts?: [{ receiptHash: string }] } }
    }),
  )
  const checkpoint = await published(first)
  const { open } = checkpoint
  for (const { id, body } of sent) {
    const hash = body.receipts?.[0].receiptHash
    if (hash === undefined) await expectIncluded(id, 'refusal', { open })
    else {
      await expectIncluded(id, 'authorization', { open })
      await expectIncluded(id, 'receipt', { hash, open })
    }
  }
  const { id } = sent[1]!
  expect(await prove({ kind: 'receipt', id, owner: 'somebody else' })).toBeUndefined()
  expect(await prove({ kind: 'receipt', id, owner: null })).toMatchObject({ state: 'proven' })
  const { body } = await first.get('/ready', { key: null })
  expect(body).not.toHaveProperty('warnings')
  expect([await second.stop(), await first.stop()]).toEqual([0, 0])
})

test('after each of three kills at a random moment every acknowledged receipt has a proof, and the log is one', async () => {
  const first = await startService({ databaseUrl: database.url })
  const identity = { databaseUrl: database.url, signingKeyDir: first.signingKeyDir, key: makeRawKey() }
  const acknowledged: { id: string; hash: string }[] = []
  for (let kill = 0; kill < 3; kill++) {
    // The first one goes on, so that each of the two finds what the other has left.
    const killed = await startService(identity)
    const load = startLoad(killed, 16)
    const enough = Math.round(50 + Math.random() * 300)
    await until(() => load.count(200) >= enough, `${enough} executions`)
    killed.process.kill('SIGKILL')
    await once(killed.process, 'exit')
    for (const { transaction, reply } of await load.stop()) {
      if (reply?.status !== 200) continue
      const { receipts } = JSON.parse(reply.text) as { receipts: [{ receiptHash: string }] }
      acknowledged.push({ id: transaction.businessTransactionId, hash: receipts[0].receiptHash })
    }
    await killed.stop()
  }
  const { open } = await published(first)
  expect(acknowledged.length).toBeGreaterThan(100)
  await forEach(acknowledged, async ({ id, hash }) => expectIncluded(id, 'receipt', { hash, open }))
  const { rows } = await database.pool.query(
    `SELECT FROM business_transactions AS i LEFT JOIN log_batches AS b ON b.batch = i.log_batch
     WHERE i.execution_authorization IS NOT NULL AND (b.batch IS NULL OR i.log_ordinal >= b.count)`,
  )
  expect(rows).toEqual([])
  const { rows: counted } = await database.pool.query<{ entries: string; distinct: string }>(
    'SELECT sum(count) AS entries, count(DISTINCT start) = count(*) AS distinct FROM log_batches',
  )
  expect(counted[0]?.distinct).toBe(true)
  // Looked at afterwards: what the killed ones left in doubt is audited, and logged, after that checkpoint.
  expect(Number(counted[0]?.entries)).toBeLessThan((await readLogStatus(database.pool))!.size)
  expect(await first.stop()).toBe(0)
})

const differs = /^The first \d+ entries of the log, as they are stored, do not have the root/

// proves fault: A byte of a stored tile
test('a log that is damaged is frozen: /ready and a log line say so, and executions go on', async () => {
  const service = await startService({ databaseUrl: database.url })
  expect((await service.post('/execute', aTransaction())).status).toBe(200)
  const before = await published(service)
  await database.pool.query('UPDATE log_tail SET entries = set_byte(entries, 20, 0)')
  expect((await service.post('/execute', aTransaction())).status).toBe(200)
  const warnings = await until(async () => {
    const { status, body } = await service.get('/ready', { key: null })
    expect(status).toBe(200)
    return (body as { warnings?: string[] }).warnings
  }, 'a warning')
  expect(warnings).toEqual([
    expect.stringMatching(
      /^The evidence log is frozen, and signs nothing: The first \d+ .* To go on in a new log, once the reason is known: countersign log reopen /,
    ),
  ])
  const line = await until(
    () => service.lines().find(({ msg }) => msg === 'evidence log frozen'),
    'the log line',
  )
  expect(line['reason']).toMatch(differs)
  expect((await service.post('/execute', aTransaction())).status).toBe(200)
  expect((await latestCheckpoint(database.pool))?.size).toBe(before.size)
  expect((await readLogStatus(database.pool))?.queued).toBe(true)
  expect(await service.stop()).toBe(0)
})

test('a start is refused with keys that the log does not know, and with a DATA_DIR that cannot be written', async () => {
  const service = await startService({ databaseUrl: database.url })
  const { signingKeyDir } = service
  await execute(service)
  await published(service)
  const others = mkdtempSync(join(tmpdir(), 'countersign-keys-'))
  makeKeys(others)
  await expect(startService({ databaseUrl: database.url, signingKeyDir: others })).rejects.toThrow(
    /None of the keys in \S+\/log has signed the newest checkpoint of the log of this database, \S+\/log\/1\. Set SIGNING_KEY_DIR /,
  )
  await expect(
    startService({ databaseUrl: database.url, signingKeyDir, env: { DATA_DIR: '/dev/null/data' } }),
  ).rejects.toThrow(/DATA_DIR cannot be written: ENOTDIR/)
  rmSync(others, { recursive: true })
  expect(await service.stop()).toBe(0)
})

interface Executed {
  readonly receipts: [{ receiptHash: string; transparency: { log: string } }]
}

async function execute(service: TestService) {
  const transaction = aTransaction()
  const { status, body } = await service.post('/execute', transaction)
  expect(status).toBe(200)
  const [receipt] = (body as Executed).receipts
  return { id: transaction.businessTransactionId, hash: receipt.receiptHash, log: receipt.transparency.log }
}

async function warnsOfFreeze(service: TestService): Promise<boolean> {
  return (await service.get('/ready', { key: null })).text.includes('is frozen')
}

// proves fault: A frozen log is reopened
test('a log that was reopened is written by all instances without a restart, and their receipts promise it', async () => {
  const first = await startService({ databaseUrl: database.url, env: { WORKER_THREADS: '2' } })
  const { signingKeyDir, key } = first
  const second = await startService({ databaseUrl: database.url, signingKeyDir, key })
  const { log: old } = await execute(first)
  await published(first)
  await freezeLog(database.pool, { log: 1, why: 'For a test.' })
  const waiting = [await execute(first), await execute(second)]
  expect(new Set(waiting.map(({ log }) => log))).toEqual(new Set([old]))
  await until(() => warnsOfFreeze(first), 'the warning')

  const env = { DATABASE_URL: database.url, SIGNING_KEY_DIR: signingKeyDir, DATA_DIR: first.dataDir }
  expect((await runCommand(['log', 'reopen'], env)).status).toBe(0)
  const next = old.replace(/1$/, '2')
  for (const service of [first, second]) {
    const promises = async () => (await execute(service)).log === next
    await until(promises, 'a receipt that promises the new log')
    await until(async () => !(await warnsOfFreeze(service)), 'no warning')
  }
  // Every thread: the other one of the first service may have executed nothing yet.
  const burst = await Promise.all(Array.from({ length: 40 }, (_, i) => execute(i % 2 === 0 ? first : second)))
  expect(new Set(burst.map(({ log }) => log))).toEqual(new Set([next]))
  const checkpoint = await published(first)
  const { open } = checkpoint
  expect(checkpoint.origin).toBe(next)
  const { body } = await first.get('/.well-known/countersign-log', { key: null })
  const { logs } = body as { logs: { origin: string; validUntil?: string; previous?: string }[] }
  expect(logs.map(({ origin }) => origin)).toEqual([old, next])
  expect(logs.map(({ validUntil }) => typeof validUntil)).toEqual(['string', 'undefined'])
  expect(logs[0]).not.toHaveProperty('previous')
  expect(JSON.parse(logs[1]?.previous ?? '')).toMatchObject({ origin: next, previous: { origin: old } })
  for (const { id, hash } of [...waiting, ...burst]) await expectIncluded(id, 'receipt', { hash, open })
  expect([await second.stop(), await first.stop()]).toEqual([0, 0])
})
