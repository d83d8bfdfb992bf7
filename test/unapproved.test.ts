// After an upgrade: what the release brought and nobody has approved is named at the start, in GET /ready and in the console, until somebody has.
import { rmSync } from 'node:fs'
import { expect, test } from 'vitest'
import { createDatabase } from './database.ts'
import { addPolicy, aPolicyFolder } from './policies.ts'
import { startService, until } from './service.ts'

test('a policy version that came with a release is named until it is approved, without a restart', async () => {
  const database = await createDatabase()
  const policyDir = aPolicyFolder()
  const start = () => startService({ databaseUrl: database.url, env: { POLICY_DIR: policyDir } })
  const first = await start()
  expect((await first.get('/ready')).body).not.toHaveProperty('warnings')
  expect(await first.stop()).toBe(0)

  addPolicy(policyDir, { name: 'later', version: '1.0.0', capability: 'test:later' })
  addPolicy(policyDir, { name: 'later', version: '1.1.0', capability: 'test:later' })
  const service = await start()
  const sentence =
    'These policies are not approved, and executions under them are rejected: later 1.0.0, later 1.1.0.'
  expect((await service.get('/ready')).body).toMatchObject({ status: 'READY', warnings: [sentence] })
  expect(service.lines().filter(({ msg, level }) => msg === sentence && level === 40)).toHaveLength(1)

  const approve = async (version: string) => {
    await database.pool.query(
      `UPDATE authority SET began_by = 'carol', began_at = now() WHERE key = $1::text`,
      [`later/${version}`],
    )
    await database.pool.query('UPDATE authority_epoch SET epoch = epoch + 1')
  }
  const warnings = async () => (await service.get('/ready')).body.warnings as string[] | undefined
  await approve('1.0.0')
  await until(async () => (await warnings())?.[0]?.endsWith('rejected: later 1.1.0.'), 'one to be left')
  await approve('1.1.0')
  await until(async () => (await warnings()) === undefined, 'none to be left')
  expect(await service.stop()).toBe(0)
  await database.drop()
  rmSync(policyDir, { recursive: true })
})
