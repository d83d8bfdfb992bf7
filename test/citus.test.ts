// migrations/citus.sql against what it speaks of: the schema as PostgreSQL has it, and the statements that a running service sends,
// read from PostgreSQL's own log.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'libpg-query'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startEmbeddedPostgres } from '../src/server/embedded/postgres.ts'
import { migrate } from '../src/core/tables/migrate.ts'
import { aHuman, anApprover, aSignedApproval, enrolled } from './authority.ts'
import { references, type Node, type Reference } from './citus/routing.ts'
import { addPolicy, aPolicyFolder } from './policies.ts'
import { startService, until, type TestService } from './service.ts'
import { aMismatchedTransaction, aRejectedTransaction, aTransaction } from './transactions.ts'

const KEY = 'business_transaction_id'
const CITUS = readFileSync(join(import.meta.dirname, '..', 'migrations', 'citus.sql'), 'utf8')
const distributed = new Set(
  Array.from(
    CITUS.matchAll(/^SELECT create_distributed_table\('(\w+)', '(\w+)'/gm),
    ([, table = '', column]) => {
      expect(column).toBe(KEY)
      return table
    },
  ),
)
const named = (word: 'local' | 'refused') =>
  Array.from(CITUS.matchAll(new RegExp(`^-- ${word} (\\w+)`, 'gm')), ([, name = '']) => name)

/** Statements that ask every shard: lists, exports, sweeps, metrics, and what counts a caller's executions under a velocity limit. */
const ASKS_EVERY_SHARD = [
  'business_transactions_list_all',
  'business_transactions_list_own',
  'execution_intents (SelectStmt)',
  'execution_intents_in_doubt',
  'execution_intents_usable',
  'history_entries_count',
  'history_entries_sum',
  'in_doubt_intents_count',
  'in_doubt_intents_forget',
  'past_decisions_list_all',
  'past_decisions_oldest_all',
  'trust_records_list_all',
  'trust_records_list_own',
]

const dataDir = mkdtempSync(join(tmpdir(), 'countersign-test-'))
const policyDir = aPolicyFolder()
const humans = { maker: aHuman('maker'), checker: aHuman('checker') }
const approver = anApprover('alice')
let postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>>
let pool: Pool
let service: TestService
/** By name: where each statement goes, and its text. */
const sent = new Map<string, { references: Reference[]; text: string }>()

const verifying = (name: string, verify: object, more: object = {}) =>
  addPolicy(policyDir, { name, version: '1.0.0', capability: 'sandbox:echo', verify, ...more })
const few = (verify: object) => ({
  signals: { before: 'number' },
  verify: { before: { by: 'history', window: '1h', ...verify } },
  rules: [{ id: 'few', when: 'signals.before < 9.0', outcome: 'approve', reason: 'Few enough.' }],
})

beforeAll(async () => {
  verifying('by-one', { approved: { by: 'approval', quorum: 1 } })
  verifying('counted', {}, few({}))
  verifying('summed', {}, few({ sum: 'intent.parameters.amount' }))
  postgres = await startEmbeddedPostgres({ dataDir, log: () => undefined })
  pool = new Pool({ connectionString: postgres.url, max: 2 })
  // Closed a moment after `end`, when the server may have ended them first.
  pool.on('error', () => undefined)
  await pool.query(String.raw`ALTER SYSTEM SET log_line_prefix = E'\x01%a\x02'`)
  await pool.query('SELECT pg_reload_conf()')
  await pool.query(
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET log_statement TO ''all''', current_database()); END $$`,
  )
  await migrate(postgres.url)
  service = await startService({
    databaseUrl: postgres.url,
    callers: [humans.maker.entry, humans.checker.entry],
    env: { POLICY_DIR: policyDir, METRICS_PORT: '0' },
  })
  await everyRoad()
  for (const { name, text } of readLog()) {
    const { stmts = [] } = (await parse(text)) as { stmts?: { stmt: Node }[] }
    const found = stmts.flatMap(({ stmt }) => references(stmt, distributed))
    if (found.length === 0) continue
    // Without a name, because it is planned each time: the look of the sweep.
    const [kind = ''] = Object.keys(stmts[0]?.stmt ?? {})
    const label = name === '<unnamed>' ? `${found[0]?.table} (${kind})` : name.replace(/_\d+$/, '')
    sent.set(label, { references: found, text })
  }
}, 240_000)

afterAll(async () => {
  expect(await service.stop()).toBe(0)
  await pool.end()
  await postgres.stop()
  rmSync(dataDir, { recursive: true, force: true })
  rmSync(policyDir, { recursive: true, force: true })
})

/** Every outcome of an execution, every read of it and every list, each at least once. */
async function everyRoad(): Promise<void> {
  const statusOf = async (body: object) => (await service.post('/execute', body)).status
  const first = aTransaction()
  const id = first.businessTransactionId
  expect([
    await statusOf(first),
    await statusOf(first),
    await statusOf(aRejectedTransaction()),
    await statusOf(aMismatchedTransaction()),
    await statusOf(aTransaction({ intent: { action: 'nobody:does' } })),
    await statusOf(aTransaction({ intent: { parameters: { amount: 42, fail: true } } })),
    await statusOf(aTransaction({ intent: { parameters: { amount: 42, delayMs: 30 } } })),
  ]).toEqual([200, 409, 500, 403, 500, 500, 200])
  const together = Array.from({ length: 40 }, () => statusOf(aTransaction()))
  expect(new Set(await Promise.all(together))).toEqual(new Set([200]))

  await enrolled(service, humans, approver)
  expect((await service.post('/approvals', aSignedApproval(approver))).status).toBe(201)
  expect(await statusOf(aTransaction({ policy: { name: 'by-one' } }))).toBe(200)
  for (const name of ['counted', 'summed'])
    expect(await statusOf(aTransaction({ policy: { name }, signals: { before: 0 } }))).toBe(200)

  for (const path of ['/verify', '/receipt', '/replay'])
    expect((await service.post(path, { businessTransactionId: id })).status, path).toBe(200)
  const single = [
    'transactions',
    'trust-records',
    'verification',
    'verifications',
    'receipt/latest',
    'receipts',
    'execution-intents',
  ]
  for (const path of [
    ...single.map((route) => `/${route}/${id}`),
    '/transactions',
    '/trust-records',
    '/ready',
  ])
    expect((await service.get(path)).status, path).toBe(200)
  expect((await service.get(`/refusal/${id}`)).status).toBe(404)
  for (const path of ['/transactions', '/trust-records', '/execution-intents/unfinalized'])
    expect((await service.get(path, humans.maker)).status, path).toBe(200)
  const metrics = service.lines().find(({ msg }) => msg === 'metrics')
  expect((await fetch(String(metrics?.['url']))).status).toBe(200)
  await inDoubt(id)
}

/** One that is found by the sweep, and closed by its record; and a simulation over what was decided. */
async function inDoubt(id: string): Promise<void> {
  await pool.query(
    `UPDATE execution_intents SET state = 'RELEASED', closed_at = NULL, deadline = now() - interval '1 s' WHERE ${KEY} = $1::uuid`,
    [id],
  )
  await until(async () => (await pool.query('SELECT FROM in_doubt_intents')).rows.length > 0, 'the sweep')
  const finalized = await service.post(`/execution-intents/${id}/finalize`, {}, humans.maker)
  expect(finalized.status, finalized.text).toBe(200)
  const document = {
    policyId: 'sandbox-echo',
    policyVersion: '9.0.0',
    schemaVersion: '1.0.0',
    description: 'Made by a test.',
    capabilities: ['sandbox:echo'],
    signals: { approved: 'boolean' },
    rules: [{ id: 'approved', when: 'signals.approved', outcome: 'approve', reason: 'Yes.' }],
  }
  const simulated = await service.post('/sandbox/policies/simulate', { policy: document }, humans.maker)
  expect(simulated.status, simulated.text).toBe(200)
}

/** The service's statements of data, each with the name it is prepared under. */
function readLog(): { name: string; text: string }[] {
  const log = readFileSync(join(dataDir, 'postgres', 'postgres.log'), 'utf8')
  return log.split('\x01').flatMap((line) => {
    const [, name = '', text = ''] = /^countersign\x02LOG: {2}execute ([^:]+): ([^]*)$/.exec(line) ?? []
    return name === '' ? [] : [{ name, text }]
  })
}

test('every table is distributed or said to be local, and never both', async () => {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`,
  )
  expect(distributed.size).toBeGreaterThan(0)
  expect([...distributed, ...named('local')].toSorted()).toEqual(rows.map(({ name }) => name).toSorted())
})

test('every unique key of a distributed table holds the column that it is distributed by', async () => {
  const { rows } = await pool.query<{ table: string; index: string; holds: boolean }>(
    `SELECT c.relname AS table, x.indexrelid::regclass::text AS index,
       EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = $2 AND a.attnum = ANY(x.indkey)) AS holds
     FROM pg_index AS x JOIN pg_class AS c ON c.oid = x.indrelid
     WHERE (x.indisunique OR x.indisexclusion) AND c.relname = ANY($1)`,
    [[...distributed], KEY],
  )
  expect(new Set(rows.map(({ table }) => table))).toEqual(distributed)
  expect(rows.filter(({ holds }) => !holds)).toEqual([])
})

test('nothing about a distributed table is of a kind that stays on one node: foreign keys, triggers, identities, sequences', async () => {
  const { rows } = await pool.query<{ what: string }>(
    `SELECT conname AS what FROM pg_constraint WHERE contype = 'f'
     UNION ALL SELECT tgname FROM pg_trigger WHERE NOT tgisinternal
     UNION ALL SELECT relname FROM pg_class WHERE relkind = 'S' AND relnamespace = 'public'::regnamespace
     UNION ALL SELECT attname FROM pg_attribute WHERE attidentity <> '' OR attgenerated <> ''
     UNION ALL SELECT relname FROM pg_class WHERE relpersistence <> 'p' AND relname = ANY($1)`,
    [[...distributed]],
  )
  expect(rows).toEqual([])
})

test('every statement of an execution names its transactions; those that ask every shard are known one by one', () => {
  const asking = [...sent].filter(([, { references: found }]) => found.some(({ route }) => route === 'none'))
  expect(asking.map(([name]) => name).toSorted()).toEqual(ASKS_EVERY_SHARD)
  // What the log must have shown, or nothing was proven: each table is written by the ids of its rows.
  const inserted = [...sent.values()].filter(({ text }) => /^\s*INSERT/.test(text))
  expect(new Set(inserted.flatMap(({ references: found }) => found.map(({ table }) => table)))).toEqual(
    distributed,
  )
  for (const name of [
    'business_transactions_claim',
    'execution_intents_release',
    'execution_intents_close_finalized',
    'execution_intents_close_errored',
  ])
    expect([...sent.keys()], 'a statement of the road').toContain(name)
})

test('the statements that Citus is known to refuse are those that citus.sql names', () => {
  const refused = [...sent].filter(([, { references: found }]) =>
    found.some(({ route, locked, limitedByOuter }) => route !== 'one' && (locked || limitedByOuter)),
  )
  expect(refused.map(([name]) => name).toSorted()).toEqual(named('refused').toSorted())
})

const routes = async (text: string) => {
  const { stmts = [] } = (await parse(text)) as { stmts?: { stmt: Node }[] }
  return stmts.flatMap(({ stmt }) => references(stmt, distributed)).map(({ route }) => route)
}

test.each([
  [`SELECT FROM receipts WHERE ${KEY} = $1::uuid AND ordinal > 1`, ['one']],
  [`SELECT FROM receipts WHERE ${KEY} = $1::uuid OR ordinal > 1`, ['none']],
  [`SELECT FROM receipts WHERE ${KEY} > $1::uuid`, ['none']],
  [`UPDATE receipts SET body = '' WHERE ${KEY} = ANY($1::uuid[])`, ['many']],
  [`DELETE FROM receipts WHERE ordinal = $1`, ['none']],
  [`INSERT INTO receipts (ordinal, body) VALUES ($1, $2)`, ['none']],
  [
    `SELECT FROM receipts AS r JOIN trust_records AS t ON t.caller_id = r.body WHERE r.${KEY} = $1`,
    ['one', 'none'],
  ],
  [`SELECT FROM receipts AS r JOIN trust_records AS t USING (${KEY}) WHERE r.${KEY} = $1`, ['one', 'one']],
  [
    `SELECT ARRAY(SELECT body FROM receipts WHERE ordinal = 1) FROM trust_records WHERE ${KEY} = $1`,
    ['one', 'none'],
  ],
  [
    `SELECT (SELECT max(n.ordinal) FROM (SELECT ordinal FROM receipts AS a WHERE a.${KEY} = r.${KEY} LIMIT 9) AS n)
     FROM trust_records AS r WHERE r.${KEY} = $1`,
    ['one', 'one'],
  ],
  [
    `WITH a AS (SELECT ${KEY} FROM receipts) SELECT FROM a JOIN trust_records USING (${KEY})`,
    ['none', 'none'],
  ],
])('%s goes to %j', async (text, expected) => {
  expect(await routes(text)).toEqual(expected)
})
