// The chapter "Citus" of docs/handbook/scaling.md, followed by its own commands, and what it says of nodes that are away.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, Pool } from 'pg'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { referenceChecks } from '../../src/cli/fsck/references.ts'
import { partsOf } from '../../src/store/tables/stored-parts.ts'
import { CHECKS } from '../../src/cli/fsck/run.ts'
import { executeKinds, expectKinds, startFor, unfinalized } from '../drills/kinds.ts'
import { run } from '../drills/server.ts'
import { readStored } from '../evidence.ts'
import { forHere } from '../handbook.ts'
import { forEach, startLoad, type Load } from '../load.ts'
import { until, type TestService } from '../service.ts'
import { describeWithCitus } from './installed.ts'
import { distributed, known } from './distributed.ts'
import { aNode, shown, type Node } from './nodes.ts'
import { makeKeys } from '../signing-keys.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

/** A try to kill a node within 0.1 s takes ten seconds, and a busy machine misses most of them. */
const AIMED_MS_MAX = 400_000

const DATABASE = 'countersign'

const psql = (on: Node, statement: string) => on.run(`psql --quiet -d postgres -c "${statement}" > log`)

describeWithCitus('on a Citus cluster', () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-citus-'))
  const signingKeyDir = join(folder, 'keys')
  const nodes: Node[] = []
  const node = (i: number) => nodes[i] as Node
  let service: TestService
  let pool: Pool
  /** Ids of executions that were answered 200. */
  const acknowledged = new Set<string>()
  let hanging: ReadonlySet<string> = new Set()

  const url = () => node(0).url(DATABASE).replace('postgres@', 'countersign@')
  const operator = () => ({ cwd: folder, env: { DATABASE_URL: url(), SIGNING_KEY_DIR: signingKeyDir } })

  async function addNode(): Promise<void> {
    const added = await aNode()
    nodes.push(added)
    await added.run(shown('CREATE EXTENSION citus', nodes))
  }

  beforeAll(async () => {
    for (let i = 0; i < 3; i++) await addNode()
    await node(0).run(shown('citus_set_coordinator_host', nodes))
    const create = forHere(shown('migrations/citus.sql', nodes), '').replace(
      'migrations/',
      `${join(import.meta.dirname, '..', '..', 'migrations')}/`,
    )
    await run(create, operator())
    makeKeys(signingKeyDir)
    service = await startFor({ databaseUrl: url(), signingKeyDir })
    pool = new Pool({ connectionString: url(), max: 2 })
    pool.on('error', () => undefined)
  })

  afterAll(async () => {
    await pool.end()
    await service.stop()
    for (const each of nodes) await each.destroy()
    rmSync(folder, { recursive: true })
  })

  /** Ids of executions that were answered 503: of a commit that nobody heard of, the intent may be in doubt. */
  const unavailable = new Set<string>()

  /** Ends the load and remembers how it was answered. */
  async function stopped(load: Load): Promise<void> {
    for (const { transaction, reply } of await load.stop()) {
      if (reply?.status === 200) acknowledged.add(transaction.businessTransactionId)
      if (reply?.status === 503) unavailable.add(transaction.businessTransactionId)
    }
  }

  /** After any fault: acknowledged executions are stored whole, executions in doubt are listed, and fsck finds nothing. */
  async function expectNothingLost(): Promise<void> {
    await until(async () => (await service.get('/ready')).status === 200, 'the service to be ready')
    // A killed worker's prepared transactions are committed on the coordinator but invisible until Citus recovers them. Before, they fit no state.
    await until(
      async () =>
        (await readStored(pool).catch(() => undefined))?.inDoubt.difference(hanging).isSubsetOf(unavailable),
      'the evidence of every effect to be stored',
    )
    const { recorded } = await readStored(pool)
    expect(acknowledged.difference(recorded)).toEqual(new Set())
    await run(forHere('bin/countersign fsck', ''), operator())
  }

  /** Expects that a request that was answered 503 can be sent again: it is executed, or the claim that nobody heard of is in doubt and is refused. */
  async function expectRepeatable(load: Load): Promise<void> {
    const { inDoubt } = await readStored(pool)
    const failed = load.outcomes.filter(({ reply }) => reply?.status === 503).slice(0, 50)
    await forEach(failed, async ({ transaction }) => {
      const { businessTransactionId: id } = transaction
      expect((await service.post('/execute', transaction)).status).toBe(inDoubt.has(id) ? 409 : 200)
      if (!inDoubt.has(id)) acknowledged.add(id)
    })
  }

  test('every kind of execution ends as it should', async () => {
    for (const { transaction } of await executeKinds(service))
      acknowledged.add(transaction.businessTransactionId)
    await expectKinds(service)
    hanging = await unfinalized(service)
    expect(hanging.size).toBe(1)
    await expectNothingLost()
  })

  test("the settings of the service's role reach every worker", async () => {
    for (const worker of nodes.slice(1)) {
      const client = new Client({
        connectionString: worker.url(DATABASE).replace('postgres@', 'countersign@'),
      })
      await client.connect()
      const { rows } = await client.query('SHOW enable_seqscan')
      expect(rows).toEqual([{ enable_seqscan: 'off' }])
      await client.end()
    }
  })

  test('a commit of one transaction and its entry in the log is two-phase: the worker has both or none', async () => {
    const client = new Client({ connectionString: url() })
    await client.connect()
    const said: string[] = []
    client.on('notice', ({ message }) => said.push(message ?? ''))
    await client.query('SET citus.log_remote_commands = on')
    await client.query('BEGIN')
    await client.query(
      `DELETE FROM business_transactions WHERE business_transaction_id = '00000000-0000-4000-8000-000000000000'`,
    )
    await client.query(`INSERT INTO log_queue (batch, entries) VALUES (gen_random_uuid(), '[]')`)
    await client.query('COMMIT')
    await client.query(`DELETE FROM log_queue WHERE entries = '[]'`)
    await client.end()
    expect(said.filter((one) => one.startsWith('issuing PREPARE TRANSACTION'))).toHaveLength(1)
  })

  test('no statement of fsck joins what it would have to copy to the coordinator', async () => {
    for (const { table, text } of [...CHECKS, ...referenceChecks({ hasJobs: true })]) {
      const { rows } = await pool.query<{ 'QUERY PLAN': string }>(
        `EXPLAIN (COSTS off) ${text.replace('$table', () => table)}`,
      )
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan).not.toContain('Distributed Subplan')
      const isKnown = partsOf(table).some((part) => distributed.has(part.table) || known.has(part.table))
      expect(plan.includes('Citus'), table).toBe(isKnown)
    }
  })

  // proves fault: A worker of a Citus cluster
  test('a worker that is killed stops the executions of its shards, and no others', async () => {
    const load = startLoad(service, 4)
    await until(() => load.count(200) > 20, 'the load')
    node(2).kill()
    await until(() => load.count(503) > 0, 'an execution of its shards')
    const [before, failed] = [load.count(200), load.count(503)]
    await until(() => load.count(200) > before + 20 && load.count(503) > failed + 20, 'both kinds')
    expect((await service.get('/ready')).status).toBe(200)
    await node(2).start()
    const sent = load.outcomes.length
    await until(
      () => load.outcomes.slice(sent).filter(({ reply }) => reply?.status === 200).length > 40,
      'more',
    )
    await stopped(load)
    expect(load.outcomes.filter(({ reply }) => ![200, 502, 503].includes(reply?.status ?? 0))).toEqual([])
    await expectNothingLost()
    await expectRepeatable(load)
  })

  // proves fault: The coordinator of a Citus cluster
  test('a coordinator that is killed stops every execution until it is back', async () => {
    const load = startLoad(service, 4)
    await until(() => load.count(200) > 20, 'the load')
    node(0).kill()
    await until(() => load.count(503) > 20, 'executions to fail')
    expect((await service.get('/ready')).status).toBe(503)
    await node(0).start()
    const before = load.count(200)
    await until(() => load.count(200) > before + 20, 'executions to succeed')
    await stopped(load)
    await expectNothingLost()
    await expectRepeatable(load)
  })

  /** Whether a transaction is prepared on the first worker. */
  async function isPrepared(): Promise<boolean> {
    const client = new Client({ connectionString: node(1).url(DATABASE) })
    await client.connect()
    const { rows } = await client.query('SELECT 1 FROM pg_prepared_xacts')
    await client.end()
    return rows.length > 0
  }

  /** Kills a node and starts it again. Returns whether it was between PREPARE and COMMIT PREPARED of a transaction. */
  async function killedBetween(killed: Node): Promise<boolean> {
    await until(isPrepared, 'a prepared transaction')
    killed.kill()
    const isCoordinator = killed === node(0)
    const wasBetween = isCoordinator && (await isPrepared())
    await killed.start()
    return isCoordinator ? wasBetween : isPrepared()
  }

  // proves fault: A node of a Citus cluster
  test.each([
    ['a worker', 1],
    ['the coordinator', 0],
  ])(
    '%s that is killed between PREPARE and COMMIT PREPARED loses nothing',
    { timeout: AIMED_MS_MAX * 2 },
    async (_, killed) => {
      // The coordinator waits 0.1 s before its own commit, which comes between the two of each worker. Citus finishes none of them until
      // it has been seen that one is left.
      const settings = ['commit_delay = 100000', 'commit_siblings = 0', 'citus.recover_2pc_interval = -1']
      for (const setting of settings) await psql(node(0), `ALTER SYSTEM SET ${setting}`)
      await psql(node(0), 'SELECT pg_reload_conf()')
      const load = startLoad(service, 8)
      await until(() => load.count(200) > 20, 'the load')
      await until(
        () => killedBetween(node(killed)),
        'a node to be killed in the moment of a commit',
        AIMED_MS_MAX,
      )
      for (const setting of settings) await psql(node(0), `ALTER SYSTEM RESET ${setting.split(' ')[0]}`)
      await psql(node(0), 'SELECT pg_reload_conf()')
      await until(async () => !(await isPrepared()), 'Citus to finish what was prepared')
      const before = load.count(200)
      await until(() => load.count(200) > before + 20, 'executions to succeed')
      await stopped(load)
      await expectNothingLost()
      await expectRepeatable(load)
    },
  )

  test('a worker that is added takes shards while executions go on', async () => {
    await addNode()
    const load = startLoad(service, 4)
    await until(() => load.count(200) > 20, 'the load')
    await node(0).run(shown('rebalance_table_shards', nodes))
    const { rows } = await pool.query<{ shards: number }>(
      `SELECT count(*)::integer AS shards FROM citus_shards
       WHERE table_name = 'execution_evidence'::regclass AND nodeport = $1`,
      [node(3).port],
    )
    expect(rows[0]?.shards).toBeGreaterThan(0)
    const before = load.count(200)
    await until(() => load.count(200) > before + 20, 'executions after the move')
    await stopped(load)
    expect(load.count(200)).toBe(load.outcomes.length)
    await expectNothingLost()
  })
})
