// Makes the fixture of the upgrade's test in a checkout of the release that the database is of: copy this folder there, mend the paths of its
// imports, and run it as a test. Everything stands in it but the private keys.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { aHuman } from '../../authority.ts'
import { bankEnv } from '../../bank.ts'
import { createDatabase } from '../../database.ts'
import { addPolicy, aPolicyFolder } from '../../policies.ts'
import { startService } from '../../service.ts'
import { configured, makeEveryChange } from './every-change.ts'

/** As a fixture is kept. */
export interface Stored {
  /** The last migration of the release. */
  readonly migration: string
  /** Public keys, by the name of the file. */
  readonly keys: Readonly<Record<string, string>>
  /** The rows of every table that has some. */
  readonly tables: Readonly<Record<string, readonly object[]>>
}

/** @param file where the fixture is written to */
export async function makeFixture(file: string): Promise<void> {
  const database = await createDatabase()
  const policyDir = aPolicyFolder()
  addPolicy(policyDir, {
    name: 'by-one',
    version: '1.0.0',
    capability: 'sandbox:echo',
    verify: { approved: { by: 'approval', quorum: 1 } },
  })
  addPolicy(policyDir, { name: 'limited', version: '1.0.0', capability: 'sandbox:echo' })
  const humans = { maker: aHuman('maker'), checker: aHuman('checker') }
  const start = (env: Record<string, string>) =>
    startService({
      databaseUrl: database.url,
      callers: [humans.maker.entry, humans.checker.entry, configured],
      env: { POLICY_DIR: policyDir, LOG: 'off', ...env },
    })
  const service = await start({ WEBHOOK_DIR: bankEnv.WEBHOOK_DIR })
  await makeEveryChange(service, humans)
  await service.stop()
  // The next start loads what nobody has approved: a new version, and the shipped rules.
  addPolicy(policyDir, { name: 'by-one', version: '1.1.0', capability: 'sandbox:echo' })
  await (await start({})).stop()

  const { rows } = await database.pool.query<{ name: string }>(
    `SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`,
  )
  const tables: Record<string, object[]> = {}
  for (const { name } of rows) {
    const { rows: stored } = await database.pool.query<{ row: object }>(
      `SELECT to_json(t) AS row FROM ${name} AS t`,
    )
    if (stored.length > 0) tables[name] = stored.map(({ row }) => row)
  }
  const migration = (tables['countersign_migrations'] as { name: string }[])
    .map(({ name }) => name)
    .toSorted()
    .at(-1)
  const keys = readdirSync(service.signingKeyDir)
    .filter((name) => name.includes('public') && statSync(join(service.signingKeyDir, name)).isFile())
    .map((name) => [name, readFileSync(join(service.signingKeyDir, name), 'utf8')])
  writeFileSync(
    file,
    gzipSync(JSON.stringify({ migration, keys: Object.fromEntries(keys) as object, tables }), { level: 9 }),
  )
  await database.drop()
}
