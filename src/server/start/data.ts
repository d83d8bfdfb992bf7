// The first step of the start: the database at the schema of this release, with the data that the main thread reads from it.
import { existsSync } from 'node:fs'
import type { Caller } from '../../formats/people/caller.ts'
import type { Config } from '../../core/config/config.ts'
import { migrate } from '../../store/postgres/migrate.ts'
import { requirePreparedStatements } from '../../store/postgres/pooler.ts'
import { readWitnesses } from '../../core/config/witnesses.ts'
import { startEmbeddedPostgres } from '../embedded/postgres.ts'
import { provision } from '../embedded/provision.ts'
import { openDatabaseProbe } from '../metrics/database.ts'
import { readNotifications } from '../notifications/configuration.ts'
import { openEvidenceLog } from './evidence-log.ts'
import { firstKeyText, type FirstKey } from '../first-steps.ts'
import { keyWarnings } from './key-warnings.ts'
import { endPools, openPools } from './pools.ts'
import type { Starting } from './starting.ts'
import { syncDocuments } from './sync-documents.ts'
import { openWitness } from './witness.ts'

export type Data = Awaited<ReturnType<typeof openData>>

/** The database at the schema of this release, with the policies and webhook rules of their folders and a log. */
export async function openData(starting: Starting) {
  const { config, logger, stops, signal } = starting
  requireNamedPaths(config)
  const notificationWays =
    config.notificationsFile === undefined ? [] : readNotifications(config.notificationsFile, config)
  const opened = await openDatabase(starting)
  signal.throwIfAborted()
  await migrate(opened.database, { signal, warn: (sentence) => logger.warn(sentence) })
  if (config.databaseUrl !== undefined) await requirePreparedStatements(config.databaseUrl)
  const pools = openPools(opened.database, config.databaseReadUrl)
  stops.push(() => endPools(pools))
  const { advice, warnings, differences, shipped } = await syncDocuments(pools.read, config)
  for (const sentence of advice) logger.debug(sentence)
  for (const warning of warnings) logger.warn(warning)
  for (const { message, file } of differences) logger.error({ file }, message)
  const evidenceLog = await openEvidenceLog(config, pools.read)
  const witnesses = readWitnesses(config)
  const witness = openWitness(config)
  for (const warning of keyWarnings(config.signingKeyDir)) logger.warn(warning)
  if (witness !== undefined) logger.info(witness, 'witness of other logs')
  return {
    ...opened,
    pools,
    probe: openDatabaseProbe(pools.read),
    evidenceLog,
    witnesses,
    witness,
    notificationWays,
    documentDifferences: differences,
    shipped,
  }
}

/** @throws Error with the variable's name: the code that reads the paths does not know it */
function requireNamedPaths({ policyDir, webhookDir, webhookDirGiven, notificationsFile }: Config): void {
  const named = {
    POLICY_DIR: policyDir,
    WEBHOOK_DIR: webhookDirGiven ? webhookDir : undefined,
    NOTIFICATIONS: notificationsFile,
  }
  for (const [variable, path] of Object.entries(named))
    if (path !== undefined && !existsSync(path))
      throw new Error(`${variable} must be a path that exists: there is no ${path}.`)
}

export interface OpenedDatabase {
  readonly database: string
  readonly callers: readonly Caller[]
  /** A key that this very start made. */
  readonly firstKey: FirstKey | undefined
  /** The file of the local caller of this or an earlier start. */
  readonly callersFile: string | undefined
}

/** Opens the configured database as it is; without one, the embedded database, ready for use with a caller and keys (decisions §1). */
async function openDatabase({ config, logger, stops }: Starting): Promise<OpenedDatabase> {
  if (config.databaseUrl !== undefined) {
    const { databaseUrl: database, callers = [] } = config
    return { database, callers, firstKey: undefined, callersFile: undefined }
  }
  const postgres = await startEmbeddedPostgres({
    dataDir: config.dataDir,
    log: ({ level, msg }) => logger[level](msg),
  })
  stops.push(() => postgres.stop())
  const { callers, callersFile, printed } = provision(config)
  if (printed !== undefined) process.stdout.write(firstKeyText(printed))
  return { database: postgres.url, callers, callersFile, firstKey: printed }
}
