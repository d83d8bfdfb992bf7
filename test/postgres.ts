// Before all test files: one real PostgreSQL, and in it a migrated template that every test file clones.
// The embedded server in a folder of its own, or the one that TEST_DATABASE_URL names (a superuser's URL).
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../src/server/embedded/postgres.ts'
import { migrate } from '../src/core/tables/migrate.ts'
import { databaseUrl } from './database.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Of the server's maintenance database. */
    serverUrl: string
    templateName: string
    /** Folder where test/openapi/conforms.ts notes the replies it has seen, a file for each test file. */
    seenReplies: string
    /** Not all tests of a file were asked for. */
    testsFiltered: boolean
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await openServer(process.env['TEST_DATABASE_URL'])
  const templateName = `template_${process.pid}`
  const client = new Client({ connectionString: server.url })
  await client.connect()
  await client.query(`CREATE DATABASE ${templateName}`)
  await client.end()
  await migrate(databaseUrl(server.url, templateName))
  project.provide('serverUrl', server.url)
  project.provide('templateName', templateName)
  const seenReplies = mkdtempSync(join(tmpdir(), 'countersign-seen-'))
  project.vitest.provide('seenReplies', seenReplies)
  project.vitest.provide('testsFiltered', project.vitest.config.testNamePattern !== undefined)
  return async () => {
    rmSync(seenReplies, { recursive: true })
    await server.stop()
  }
}

async function openServer(given: string | undefined): Promise<{ url: string; stop: () => Promise<void> }> {
  if (given !== undefined) return { url: given, stop: () => Promise.resolve() }
  const dataDir = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => undefined })
  await forgetDurability(postgres.url)
  return {
    url: postgres.url,
    async stop() {
      await postgres.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Tests kill processes, never the machine: what the kernel has been given is not lost. Tests of durability have their own servers. */
async function forgetDurability(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('ALTER SYSTEM SET fsync = off')
  await client.query("ALTER SYSTEM SET checkpoint_timeout = '1h'")
  await client.query('SELECT pg_reload_conf()')
  await client.end()
}
