// Before all test files: one real PostgreSQL, and in it a migrated template that every test file clones.
// The embedded server in a folder of its own, or the one that TEST_DATABASE_URL names (a superuser's URL). Where that database is the
// coordinator of a Citus cluster, the template is a distributed database of the cluster, and so is every test's own.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbeddedPostgres } from '../src/server/embedded/postgres.ts'
import { migrate } from '../src/store/postgres/migrate.ts'
import { distribute, nodesOf } from './citus/cluster.ts'
import { databaseUrl, onServer } from './database.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The address of the server's maintenance database. */
    serverUrl: string
    /** The nodes of its Citus cluster, the coordinator first; the server alone where it is no cluster. */
    nodeUrls: string[]
    templateName: string
    /** Data folder of an embedded PostgreSQL whose first start is over, for test/embedded/drive.ts to copy. */
    clusterTemplate: string
    /** Folder where test/openapi/conforms.ts notes the replies it has seen, a file for each test file. */
    seenReplies: string
    /** Not all files were asked for. */
    filesNamed: boolean
    /** Not all tests of a file were asked for. */
    testsFiltered: boolean
  }
}

export default async function setup({ vitest }: TestProject): Promise<() => Promise<void>> {
  // The groups of a whole run share what the first of them makes.
  if (vitest.getRootProject().getProvidedContext().serverUrl !== undefined) return () => Promise.resolve()
  const clusterTemplate = await makeCluster()
  const server = await openServer(process.env['TEST_DATABASE_URL'], clusterTemplate)
  const templateName = `template_${process.pid}`
  const nodeUrls = await nodesOf(server.url)
  for (const url of nodeUrls) await onServer(url, `CREATE DATABASE ${templateName}`)
  const templateUrls = nodeUrls.map((url) => databaseUrl(url, templateName))
  await migrate(databaseUrl(server.url, templateName))
  if (nodeUrls.length > 1) await distribute(templateUrls)
  vitest.provide('serverUrl', server.url)
  vitest.provide('nodeUrls', nodeUrls)
  vitest.provide('templateName', templateName)
  vitest.provide('clusterTemplate', clusterTemplate)
  const seenReplies = mkdtempSync(join(tmpdir(), 'countersign-seen-'))
  vitest.provide('seenReplies', seenReplies)
  vitest.provide('testsFiltered', vitest.config.testNamePattern !== undefined)
  return async () => {
    rmSync(seenReplies, { recursive: true })
    rmSync(clusterTemplate, { recursive: true })
    await server.stop()
  }
}

/** @returns the data folder of a server that was started once and stopped: initdb costs a second of CPU */
async function makeCluster(): Promise<string> {
  const dataDir = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-cluster-')))
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => undefined })
  await postgres.stop()
  return dataDir
}

async function openServer(
  given: string | undefined,
  cluster: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  if (given !== undefined) return { url: given, stop: () => Promise.resolve() }
  const dataDir = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  execFileSync('cp', ['-a', join(cluster, 'postgres'), dataDir])
  const postgres = await startEmbeddedPostgres({ dataDir, log: () => undefined })
  await makeCheap(postgres.url)
  return {
    url: postgres.url,
    async stop() {
      await postgres.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Tests kill processes, never the machine: what the kernel has been given is not lost. Tests of durability have their own servers.
 * And they connect some thousand times, each time by a password that nobody has to guess 4,096 times as slowly.
 */
async function makeCheap(url: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query('ALTER SYSTEM SET fsync = off')
  await client.query("ALTER SYSTEM SET checkpoint_timeout = '1h'")
  await client.query('SELECT pg_reload_conf()')
  await client.query('SET scram_iterations = 1')
  await client.query(`ALTER ROLE CURRENT_USER PASSWORD ${client.escapeLiteral(client.password ?? '')}`)
  await client.end()
}
