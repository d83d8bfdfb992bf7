// The log as a service writes it: what was acknowledged is under a checkpoint soon, kills lose nothing, and a frozen log stops no execution.
import { once } from 'node:events'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeRawKey } from '../../src/core/callers.ts'
import { openCheckpoint } from '../../src/core/log/checkpoint.ts'
import { parseEntry } from '../../src/core/log/entry.ts'
import { leafHash, rootOfInclusion } from '../../src/core/merkle/tree.ts'
import { logVerifierKey, noteCrypto, readLogKeys } from '../../src/core/signing/log-keys.ts'
import { sha256 } from '../../src/core/signing/sha256.ts'
import { readEntry } from '../../src/core/tables/log-bundles.ts'
import { latestCheckpoint } from '../../src/core/tables/log-checkpoints.ts'
import { readLogStatus } from '../../src/core/tables/log-state.ts'
import { findInLog, readInclusion } from '../../src/core/tables/log-tree.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { forEach, startLoad } from '../load.ts'
import { startService, until, type TestService } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'

let database: TestDatabase
beforeEach(async () => {
  database = await createDatabase()
})
afterEach(() => database.drop())

/** Waits until everything that is committed is under a checkpoint. @returns it, opened by the service's keys */
async function published({ signingKeyDir }: Pick<TestService, 'signingKeyDir'>) {
  const { pool } = database
  await until(async () => {
    const status = await readLogStatus(pool)
    return status !== undefined && status.size > 0 && !status.queued && status.size === status.publishedSize
  }, 'everything to be under a checkpoint')
  const { note } = (await latestCheckpoint(pool))!
  const origin = note.slice(0, note.indexOf('\n'))
  const logs = readLogKeys(signingKeyDir).publicKeys.map((key) => logVerifierKey(origin, key))
  return openCheckpoint(note, { logs, witnesses: [] }, noteCrypto)
}

/** Expects a proof, by what is stored, that the artifact is under the checkpoint. */
async function expectIncluded(
  id: string,
  kind: 'receipt' | 'refusal' | 'authorization',
  { hash, checkpoint: { size, root } }: { hash?: string; checkpoint: { size: number; root: Uint8Array } },
) {
  const { pool } = database
  const place = await findInLog(pool, { kind, id, owner: 'tester' })
  if (place?.state !== 'sequenced') throw new Error(`${kind} ${id}: ${JSON.stringify(place)}`)
  const { log, index } = place
  const entry = (await readEntry(pool, { log, index }))!
  expect(parseEntry(entry.toString('latin1'))).toMatchObject({
    kind,
    ...(hash === undefined ? {} : { hash }),
  })
  const path = await readInclusion(pool, { log, index, size })
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
  for (const { id, body } of sent) {
    const hash = body.receipts?.[0].receiptHash
    if (hash === undefined) await expectIncluded(id, 'refusal', { checkpoint })
    else {
      await expectIncluded(id, 'authorization', { checkpoint })
      await expectIncluded(id, 'receipt', { hash, checkpoint })
    }
  }
  const { id } = sent[1]!
  expect(await findInLog(database.pool, { kind: 'receipt', id, owner: 'somebody else' })).toBeUndefined()
  expect(await findInLog(database.pool, { kind: 'receipt', id, owner: null })).toMatchObject({
    state: 'sequenced',
  })
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
  const checkpoint = await published(first)
  expect(acknowledged.length).toBeGreaterThan(100)
  await forEach(acknowledged, async ({ id, hash }) => expectIncluded(id, 'receipt', { hash, checkpoint }))
  const { rows } = await database.pool.query(
    `SELECT FROM execution_intents AS i LEFT JOIN log_batches AS b ON b.batch = i.log_batch
     WHERE b.batch IS NULL OR i.log_ordinal >= b.count`,
  )
  expect(rows).toEqual([])
  const { rows: counted } = await database.pool.query<{ entries: string; distinct: string }>(
    'SELECT sum(count) AS entries, count(DISTINCT start) = count(*) AS distinct FROM log_batches',
  )
  expect(counted[0]?.distinct).toBe(true)
  expect(Number(counted[0]?.entries)).toBeLessThan(checkpoint.size)
  expect(await first.stop()).toBe(0)
})

const differs = /^The first \d+ entries of the log, as they are stored, do not have the root/

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
    expect.stringMatching(/^The evidence log is frozen, and signs nothing: The first \d+ /),
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
