// A role or a database with any settings: the same bytes as without, from every route, command and check.
import { randomBytes } from 'node:crypto'
import { afterEach, describe, expect, inject, test } from 'vitest'
import { createDatabase, onServer, type TestDatabase } from '../database.ts'
import { runCommand } from '../command.ts'
import { aCaller, startService, until, type TestService } from '../service.ts'
import { aRejectedTransaction, aTransaction } from '../transactions.ts'
import { hostileSettings, TIME_LIMITS, type Setting } from './hostile.ts'

/** The newest servers have one more limit, which older ones do not know. */
const TRANSACTION_TIMEOUT: Setting = { name: 'transaction_timeout', value: "'1s'" }

let undo: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const step of undo.toReversed()) await step()
  undo = []
})

interface Hostile {
  readonly database: TestDatabase
  /** The database by the hostile role, which owns it. */
  readonly url: string
}

/** An empty database and its owner, one of which has the settings. */
async function aHostile(who: 'role' | 'database', more: readonly Setting[] = []): Promise<Hostile> {
  const serverUrl = inject('serverUrl')
  const database = await createDatabase('template0')
  undo.push(() => database.drop())
  const [role, password] = [`hostile_${randomBytes(6).toString('hex')}`, randomBytes(12).toString('hex')]
  await onServer(serverUrl, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`)
  undo.unshift(() => onServer(serverUrl, `DROP ROLE ${role}`))
  const { name } = (await database.pool.query<{ name: string }>('SELECT current_database() AS name')).rows[0]!
  await onServer(serverUrl, `ALTER DATABASE ${name} OWNER TO ${role}`)
  const { rows: known } = await database.pool.query<{ name: string }>('SELECT name FROM pg_settings')
  for (const setting of [...hostileSettings(), ...TIME_LIMITS, TRANSACTION_TIMEOUT, ...more]) {
    if (!known.some((row) => row.name === setting.name || setting.name.includes('.'))) continue
    const target = who === 'role' ? `ROLE ${role}` : `DATABASE ${name}`
    await onServer(serverUrl, `ALTER ${target} SET ${setting.name} = ${setting.value}`)
  }
  const url = database.url.replace(/^(postgres(?:ql)?:\/\/)[^@]*@/, `$1${role}:${password}@`)
  return { database, url }
}

const auditor = aCaller('auditor', { readAll: true, allowedCapabilities: [] })

/** Reads everything that was stored, as a reader gets it. */
async function everything(service: TestService, ids: readonly string[]): Promise<Record<string, string>> {
  const paths = [
    '/transactions',
    '/trust-records',
    '/trust-records?since=2020-01-01T00:00:00.000Z&until=2099-01-01T00:00:00.000Z',
    '/audit/events',
    '/policies',
    '/log/checkpoint',
    '/log/entries?start=0',
    ...ids.flatMap((id) => [
      `/trust-records/${id}`,
      `/verifications/${id}`,
      `/receipt/${id}`,
      `/refusal/${id}`,
      `/execution-intents/${id}`,
      `/trust-records/${id}/bundle`,
      `/log/proofs/receipt/${id}`,
    ]),
  ]
  const replies = await Promise.all(
    paths.map(async (path) => {
      const { status, text } = await service.get(path, { key: auditor.key })
      return [path, `${status} ${text}`] as const
    }),
  )
  return Object.fromEntries(replies)
}

describe.each(['role', 'database'] as const)('a %s with hostile settings', (who) => {
  // proves abuse: A role or database with any settings
  test('executes, is logged, checks sound, and serves and exports the bytes that another role reads', async () => {
    const { database, url } = await aHostile(who)
    const service = await startService({ databaseUrl: url, callers: [auditor.entry] })
    const [executed, refused] = [aTransaction(), aRejectedTransaction()]
    expect((await service.post('/execute', executed)).status).toBe(200)
    expect((await service.post('/execute', refused)).status).toBe(500)
    expect((await service.post('/execute', executed)).status).toBe(409)
    const ids = [executed, refused].map(({ businessTransactionId }) => businessTransactionId)
    await until(
      async () => (await service.get(`/log/proofs/receipt/${ids[0]}`)).status === 200,
      'the log to hold the receipt',
    )
    expect(service.output()).not.toContain('the evidence log is not written')

    const { signingKeyDir } = service
    const commands = { DATABASE_URL: url, SIGNING_KEY_DIR: signingKeyDir }
    expect(await runCommand(['fsck'], commands)).toMatchObject({ status: 0, stderr: '' })
    const audited = await runCommand(['log', 'audit'], { ...commands, DATA_DIR: service.dataDir })
    expect(audited).toMatchObject({ status: 0 })
    const hostile = await everything(service, ids)
    expect(await service.stop()).toBe(0)

    // The same database by a role of its own, without the settings.
    if (who === 'database') await resetDatabase(database)
    const neutral = await startService({ databaseUrl: database.url, callers: [auditor.entry], signingKeyDir })
    const { '/log/checkpoint': _signedAgain, ...same } = await everything(neutral, ids)
    expect(hostile).toMatchObject(same)
    expect(Object.values(same).filter((reply) => reply.startsWith('200 ')).length).toBeGreaterThan(8)
    expect(await neutral.stop()).toBe(0)
  })
})

async function resetDatabase({ pool }: TestDatabase): Promise<void> {
  const { name } = (await pool.query<{ name: string }>('SELECT current_database() AS name')).rows[0]!
  await onServer(inject('serverUrl'), `ALTER DATABASE ${name} RESET ALL`)
}
