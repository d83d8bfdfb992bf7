// The drill of docs/handbook/keeping.md: a server under load is backed up, lost and restored, by the commands that the chapter shows.
// Nothing that was acknowledged before is missing, nothing is executed again, and what was lost can be kept from being.
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Pool } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readPublicKeys } from '../../src/core/signing/keys.ts'
import { expectEvidence, readStored, type Members } from '../evidence.ts'
import { describeWithPostgres } from '../debian-postgres.ts'
import { blocks, chapters, forHere } from '../handbook.ts'
import { forEach, startLoad, type Outcome } from '../load.ts'
import { until, type TestService } from '../service.ts'
import { aDelivery, deliver } from '../webhooks.ts'
import { aServer, aServerFolder, makeServer, run, runAsPostgres, type Server } from './server.ts'
import {
  acknowledged,
  approved,
  byHuman,
  checker,
  delivery,
  executeKinds,
  expectKinds,
  hanging,
  startFor,
  unfinalized,
  type Acknowledged,
} from './kinds.ts'
import { makeKeys } from '../signing-keys.ts'

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 })

const CHAPTER = 'keeping.md'
const DATABASE = 'countersign'

const start = (server: Server, signingKeyDir: string) =>
  startFor({ databaseUrl: server.url(DATABASE), signingKeyDir })

describeWithPostgres('a restored service', () => {
  /** The operator's terminal, and what `/backup` stands for. */
  const folder = mkdtempSync(join(tmpdir(), 'countersign-drill-'))
  const backup = aServerFolder()
  const signingKeyDir = join(folder, 'keys')
  /** The servers that are left to destroy. */
  const servers: Server[] = []
  let moment = ''
  let beforeDump: Acknowledged[]
  let beforeMoment: Acknowledged[]
  let afterDump: Acknowledged[]
  let afterMoment: Acknowledged[]

  /** A command of the chapter by how it begins. `where` is its environment besides the service's. */
  function shown(beginning: string, url = ''): string {
    const found = blocks(CHAPTER, 'sh').filter((block) => block.includes(beginning))
    expect(found, `one block of ${CHAPTER} with ${beginning}`).toHaveLength(1)
    return forHere(found.join(''), url).replaceAll('/backup', backup)
  }

  const terminal = (server: Server, keys: string) => ({
    cwd: folder,
    env: { DATABASE_URL: server.url(DATABASE), SIGNING_KEY_DIR: keys },
  })

  beforeAll(async () => {
    const server = aServer()
    servers.push(server)
    await runAsPostgres('mkdir wal', { cwd: backup, env: {} })
    await makeServer(server, blocks(CHAPTER, 'ini').join('').replaceAll('/backup', backup))
    await run(`createdb --maintenance-db "$URL" ${DATABASE}`, {
      cwd: folder,
      env: { URL: server.url('postgres') },
    })
    makeKeys(signingKeyDir)
    const service = await start(server, signingKeyDir)

    const first = await executeKinds(service)

    const load = startLoad(service, 2, { pauseMs: 40 })
    const acknowledgedSoFar = () => [...first, ...load.outcomes.filter(isAcknowledged)]
    await until(() => load.count(200) > 40, 'the load')
    const operator = terminal(server, signingKeyDir)
    await runAsPostgres(shown('pg_basebackup'), { ...operator, cwd: backup })
    beforeDump = acknowledgedSoFar()
    await run(shown('pg_dump'), operator)
    afterDump = await Promise.all([acknowledged(service), acknowledged(service)])
    await run(shown('cp -pR "$SIGNING_KEY_DIR"/.', service.url), operator)
    writeFileSync(join(folder, 'dana.json'), (await service.get('/keys/dana:k1')).text)

    const client = new Client({ connectionString: server.url(DATABASE) })
    await client.connect()
    beforeMoment = [...acknowledgedSoFar(), ...afterDump]
    const { rows } = await client.query<{ now: string }>('SELECT clock_timestamp()::text AS now')
    moment = rows[0]?.now ?? ''
    afterMoment = await Promise.all(Array.from({ length: 3 }, () => acknowledged(service)))
    // The archive's last segment: what PostgreSQL does by itself after archive_timeout.
    const { rows: ends } = await client.query<{ wal: string }>(
      'SELECT pg_walfile_name(pg_switch_wal()) AS wal',
    )
    await until(async () => {
      const archiver = await client.query<{ wal: string }>(
        'SELECT last_archived_wal AS wal FROM pg_stat_archiver',
      )
      return String(archiver.rows[0]?.wal) >= String(ends[0]?.wal)
    }, 'the WAL to be archived')
    await client.end()

    service.process.kill('SIGKILL')
    await once(service.process, 'exit')
    await load.stop()
    await service.stop()
    await server.destroy()
    servers.pop()
    rmSync(signingKeyDir, { recursive: true })
  })

  afterAll(async () => {
    for (const server of servers) await server.destroy()
    for (const each of [folder, backup]) rmSync(each, { recursive: true })
  })

  test('from a dump made under load has every execution acknowledged before, and runs none again', async () => {
    const server = aServer()
    servers.push(server)
    await makeServer(server)
    await run(`createdb --maintenance-db "$URL" ${DATABASE}`, {
      cwd: folder,
      env: { URL: server.url('postgres') },
    })
    const keys = keysFromBackup('dump')
    await run(shown('pg_restore'), terminal(server, keys))
    await expectRestored(server, { keys, before: beforeDump, lost: [...afterDump, ...afterMoment] })
  })

  test('from all the WAL that was archived has lost nothing that was acknowledged before its end', async () => {
    const server = aServer()
    servers.push(server)
    const keys = keysFromBackup('end')
    await runAsPostgres(shown('recovery.signal'), { cwd: server.folder, env: server.env })
    await run(shown('pg_is_in_recovery'), terminal(server, keys))
    await expectRestored(server, { keys, before: [...beforeMoment, ...afterMoment], lost: [] })
  })

  // After the other: a restored server archives too, on a timeline that a later restore follows.
  test('from a base backup and archived WAL has every execution acknowledged before the moment, and runs none again', async () => {
    const server = aServer()
    servers.push(server)
    const keys = keysFromBackup('wal')
    const [copying = '', starting = ''] = shown('recovery.signal').split(/(?=^pg_ctl )/m)
    const asPostgres = { cwd: server.folder, env: server.env }
    await runAsPostgres(copying, asPostgres)
    appendFileSync(join(server.data, 'postgresql.auto.conf'), `recovery_target_time = '${moment}'\n`)
    await runAsPostgres(starting, asPostgres)
    await run(shown('pg_is_in_recovery'), terminal(server, keys))
    await expectRestored(server, { keys, before: beforeMoment, lost: afterMoment })
  })

  function keysFromBackup(name: string): string {
    const keys = join(folder, `keys-${name}`)
    mkdirSync(keys)
    expect(chapters.get(CHAPTER)).toContain('`cp -pR /backup/keys/. "$SIGNING_KEY_DIR"/`')
    return keys
  }

  async function expectRestored(
    server: Server,
    { keys, before, lost }: { keys: string; before: readonly Acknowledged[]; lost: readonly Acknowledged[] },
  ): Promise<void> {
    const operator = terminal(server, keys)
    await run(`cp -pR ${backup}/keys/. "$SIGNING_KEY_DIR"/`, operator)
    const pool = new Pool({ connectionString: server.url(DATABASE), max: 1 })
    pool.on('error', () => undefined) // where a test fails, its server goes before its connections
    const stored = await readStored(pool)
    expect(stored.inDoubt).toContain(hanging.businessTransactionId)
    const [unreported, ...reported] = lost
    await expectSafeguard(operator, reported)

    const service = await start(server, keys)
    const publicKeys = readPublicKeys(keys)
    await forEach(before, async ({ transaction, reply }) => {
      const read = await service.get(`/trust-records/${transaction.businessTransactionId}`)
      expect(read.text).toBe(reply.text)
      if (transaction !== byHuman) expectEvidence(read.body as Members, publicKeys)
      expect((await service.post('/execute', transaction)).status).toBe(409)
    })
    await expectOffline(operator, before)
    await expectKinds(service)

    // Released when the backup was made: in doubt, whatever its connector has done since.
    await until(async () => {
      const listed = await unfinalized(service)
      return [...stored.inDoubt].every((id) => listed.has(id))
    }, 'what was released to be listed in doubt')
    expect((await service.post('/execute', hanging)).status).toBe(409)

    // From before, and taken back: used, and nothing of theirs is run.
    for (const { transaction } of reported) {
      expect((await service.post('/execute', transaction)).status).toBe(409)
      const { text } = await service.get(`/transactions/${transaction.businessTransactionId}`, checker)
      expect(text).toContain(transaction.businessTransactionId)
    }

    // The danger that the chapter speaks of, where nobody told.
    if (unreported !== undefined) await acknowledged(service, unreported.transaction)

    for (let i = 0; i < 16; i++) await acknowledged(service)
    const again = aDelivery()
    expect((await deliver(service, again)).body).toEqual({ status: 'accepted' })
    await until(async () => {
      const { body } = await service.get('/audit/events?type=webhook.processed', checker)
      return JSON.stringify(body).includes(again.eventId)
    }, 'a new delivery to be processed')
    await expectEmptied(service, pool, operator)
    const now = await readStored(pool)
    for (const id of stored.inDoubt) expect(now.inDoubt).toContain(id)
    for (const { transaction } of reported)
      expect(now.recorded).not.toContain(transaction.businessTransactionId)
    const verified = await service.post('/verify', { businessTransactionId: approved.businessTransactionId })
    expect(verified.body).toMatchObject({ status: 'VERIFIED' })
    expect(await service.stop()).toBe(0)
    await pool.end()

    await run(shown('countersign fsck'), operator)
  }

  /** Ids executed after the backup are unknown to it; the chapter's script takes them back from the records that callers have. */
  async function expectSafeguard(
    operator: ReturnType<typeof terminal>,
    lost: readonly Acknowledged[],
  ): Promise<void> {
    const [one, ...others] = lost.map(({ reply }) => reply.text)
    if (one === undefined) return
    writeFileSync(join(folder, 'page-1.json'), one)
    writeFileSync(join(folder, 'page-2.json'), `[${others.join(',')}]`)
    const script = shown('for file in page-*.json')
    const printed = await run(script, operator)
    for (const { transaction } of lost) expect(printed).toContain(transaction.businessTransactionId)
    // Once is enough, and what was changed is not believed.
    writeFileSync(join(folder, 'page-2.json'), one.replace('"amount":42', '"amount":43'))
    const repeated = await run(`(\n${script}\n) || true`, operator)
    expect(repeated).toContain('(0 rows)')
    expect(repeated).toContain('\nINVALID\n')
  }

  /** The body of an old delivery may go: the same is still not taken twice. */
  async function expectEmptied(
    service: TestService,
    pool: Pool,
    operator: ReturnType<typeof terminal>,
  ): Promise<void> {
    await pool.query(
      `UPDATE webhook_events SET processed_at = now() - interval '91 days' WHERE event_id = $1`,
      [delivery.eventId],
    )
    expect(await run(shown("SET body = ''"), operator)).toBe('UPDATE 1\n')
    const other = aDelivery({ body: delivery.body })
    for (const repeated of [delivery, other])
      expect((await deliver(service, repeated)).body).toEqual({ status: 'acknowledged' })
  }

  /** With the key set that was saved, and no service. */
  async function expectOffline(
    operator: ReturnType<typeof terminal>,
    before: readonly Acknowledged[],
  ): Promise<void> {
    const receipts = before.flatMap(({ reply }) => reply.body.receipts as object[])
    writeFileSync(join(folder, 'records.json'), `[${before.map(({ reply }) => reply.text).join(',')}]`)
    writeFileSync(join(folder, 'receipts.json'), JSON.stringify(receipts))
    for (const [file, { length }] of [
      ['records.json', before],
      ['receipts.json', receipts],
    ] as const) {
      const verify = `bin/countersign verify ${file} --jwks ${backup}/keys.json --jwks dana.json`
      expect(await run(forHere(verify, ''), operator)).toContain(
        `: ${length} valid, 0 INVALID, 0 cannot be checked\n`,
      )
    }
  }
})

test('a copy of the embedded DATA_DIR is everything, and an older one freezes the log by the newest checkpoint', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-drill-'))
  chmodSync(folder, 0o755)
  const dataDir = join(folder, 'data')
  makeKeys(join(dataDir, 'keys'))
  const first = await startFor({ dataDir, signingKeyDir: join(dataDir, 'keys') })
  const executed = await acknowledged(first)
  expect(await first.stop()).toBe(0)

  const [copying = ''] = blocks(CHAPTER, 'sh').filter((block) => block.includes('cp -a "$DATA_DIR"'))
  const backup = join(folder, 'backup')
  mkdirSync(backup)
  await run(copying.replace('/backup', backup), { cwd: folder, env: { DATA_DIR: dataDir } })
  rmSync(dataDir, { recursive: true })

  const copy = join(backup, 'data')
  const older = join(folder, 'older')
  await run(`cp -a ${copy} ${older}`, { cwd: folder, env: {} })
  const second = await startFor({ dataDir: copy, signingKeyDir: join(copy, 'keys') })
  const { businessTransactionId } = executed.transaction
  expect((await second.get(`/trust-records/${businessTransactionId}`)).text).toBe(executed.reply.text)
  expect((await second.post('/execute', executed.transaction)).status).toBe(409)
  await acknowledged(second)
  expect(await second.stop()).toBe(0)

  // The copy goes on as the service; the backup before it comes back with the newest checkpoint, in the chapter's order.
  const restored = join(folder, 'restored')
  const shown = Array.from(
    chapters.get(CHAPTER)!.matchAll(/`(cp -\S+ \S+ "\$DATA_DIR\S*")/g),
    ([, command = '']) => command.replace('/backup/data', older).replace('/backup', copy),
  )
  expect(shown).toHaveLength(2)
  for (const command of shown) await run(command, { cwd: folder, env: { DATA_DIR: restored } })
  const third = await startFor({ dataDir: restored, signingKeyDir: join(restored, 'keys') })
  await until(async () => (await third.get('/ready')).text.includes('frozen'), 'the log to be frozen')
  expect(await third.stop()).toBe(0)
  rmSync(folder, { recursive: true })
})

function isAcknowledged(outcome: Outcome): outcome is Outcome & Acknowledged {
  return outcome.reply?.status === 200
}
