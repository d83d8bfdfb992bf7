// No secret in any log line, reply or table: raw keys, private keys, the password of the database.
import { createPrivateKey } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, type Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { routes } from '../../src/server/routes/index.ts'
import { createDatabase, type TestDatabase } from '../database.ts'
import { openDatabaseProxy } from '../proxy.ts'
import { startService, until, type Called } from '../service.ts'
import { aMismatchedTransaction, aRejectedTransaction, aTransaction } from '../transactions.ts'
import { aDelivery, deliver, env, SECRET } from '../webhooks.ts'

/** A caller's, but not one of ours: it must not be kept either. */
const FOREIGN_KEY = 'csk_of-another-service-0123456789-0123456789-01'

let database: TestDatabase
let secrets: [name: string, text: string][]
/** Everything that a run with every outcome left, from approved to a lost database. */
const left = { output: '', replies: '', tables: '' }

beforeAll(async () => {
  database = await createDatabase()
  const proxy = await openDatabaseProxy(database.url)
  const service = await startService({
    databaseUrl: proxy.url,
    env: { LOG_LEVEL: 'trace', QUEUE_REQUESTS_MAX: '2', ...env },
  })
  secrets = [
    ['raw key', service.key],
    ['raw key without its prefix', service.key.replace('csk_', '')],
    ['key of somebody else', FOREIGN_KEY],
    ['secret of a provider', SECRET],
    ['password of the database', new Client({ connectionString: database.url }).password ?? ''],
    ...privateKeys(service.signingKeyDir),
  ]
  const keep = ({ text, headers }: Called) => {
    left.replies += [text, ...headers.values()].join('\n')
  }
  const execute = async (body: unknown, options = {}) => keep(await service.post('/execute', body, options))

  await execute(aTransaction())
  await execute(aRejectedTransaction())
  await execute(aMismatchedTransaction())
  await execute(aTransaction({ intent: { parameters: { amount: 42, fail: true } } }))
  await execute(aTransaction({ policy: { name: 'unknown' } }))
  await execute({ ...aTransaction(), metadata: null })
  await execute('{"key":')
  await execute(aTransaction(), { key: FOREIGN_KEY })
  keep(await deliver(service, aDelivery()))
  keep(await deliver(service, aDelivery({ secret: 'whsec_of-somebody-else' })))
  await Promise.all(Array.from({ length: 5 }, () => execute(aTransaction())))
  for (const { method, path } of routes)
    for (const key of [service.key, FOREIGN_KEY]) keep(await service.get(path, { key, method }))
  const careless = { Cookie: service.key, 'X-Request-Id': service.key, 'User-Agent': service.key }
  keep(await service.get(`/transactions?key=${service.key}`, { headers: careless }))
  await proxy.cut()
  await execute(aTransaction())
  for (const path of ['/ready', '/transactions']) keep(await service.get(path))
  await proxy.mend()
  await until(async () => (await service.get('/ready')).status === 200, 'the database')
  expect(await service.stop()).toBe(0)
  await proxy.cut()

  left.output = service.output()
  left.tables = await everyRow(database.pool)
})

afterAll(() => database.drop())

test('the run left something to look through', () => {
  expect(left.output).toContain('"msg":"listening"')
  expect(left.replies).toContain('trustRecordId')
  expect(left.tables).toContain('trustRecordId')
  expect(secrets.length).toBeGreaterThan(8)
  for (const [name, text] of secrets) expect(text.length, name).toBeGreaterThanOrEqual(16)
})

// proves §5 Keys are issued by an operator
test.each(['output', 'replies', 'tables'] as const)('no secret stands in the %s', (place) => {
  const found = secrets.filter(([, text]) => left[place].includes(text)).map(([name]) => name)
  expect(found).toEqual([])
})

test.each([
  ['a wrong password', (url: string) => url.replace(/:[^:@/]+@/, ':hunter2-hunter2@')],
  ['no server', () => 'postgres://countersign:hunter2-hunter2@127.0.0.1:1/countersign'],
  ['a port that is none', () => 'postgres://countersign:hunter2-hunter2@127.0.0.1:port/countersign'],
  ['another kind of database', () => 'mysql://countersign:hunter2-hunter2@127.0.0.1/countersign'],
])('a start that fails by %s does not tell the password', async (_title, databaseUrl) => {
  const start = startService({ env: { DATABASE_URL: databaseUrl(database.url) } })
  await expect(start).rejects.toThrow('the service did not start')
  await expect(start).rejects.not.toThrow('hunter2')
})

/** The seed of each private key in the forms that it could be written in, and the lines of its PEM. */
function privateKeys(dir: string): [name: string, text: string][] {
  return readdirSync(dir)
    .filter((file) => file.endsWith('.private.pem'))
    .flatMap((file) => {
      const pem = readFileSync(join(dir, file), 'utf8')
      const seed = createPrivateKey(pem).export({ type: 'pkcs8', format: 'der' }).subarray(-32)
      return [
        ...(['hex', 'base64', 'base64url'] as const).map((form): [string, string] => [
          `${file} ${form}`,
          seed.toString(form),
        ]),
        ...pem
          .split('\n')
          .filter((line) => line.length >= 16 && !line.startsWith('-----'))
          .map((line): [string, string] => [`${file} PEM`, line]),
      ]
    })
}

async function everyRow(pool: Pool): Promise<string> {
  const tables = await pool.query<{ name: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
     WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`,
  )
  let text = ''
  for (const { name } of tables.rows) {
    const { rows } = await pool.query<{ row: string }>(`SELECT t::text AS row FROM ${name} AS t`)
    text += rows.map(({ row }) => row).join('\n')
  }
  return text
}
