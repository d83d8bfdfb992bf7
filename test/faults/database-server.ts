// A PostgreSQL 15 of Debian's that belongs to one test: started, stopped, restarted and promoted as an operator does it, by pg_ctl.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chownSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { databaseUser, launchAs } from '../../src/server/embedded/user.ts'
import { BIN } from '../debian-postgres.ts'
import { cleanUpAfterEachFile } from '../run/cleanup.ts'

export interface Server {
  /** Where its socket is, and its `data`. */
  readonly folder: string
  /** The address for a superuser, in the database `postgres`. */
  readonly url: string
  start(): Promise<void>
  /** `immediate` ends it without a checkpoint: its next start recovers from the log. */
  stop(mode: 'fast' | 'immediate'): Promise<void>
  promote(): Promise<void>
  /** Runs one statement in a session of its own. */
  run(statement: string): Promise<Record<string, unknown>[]>
}

/** A test that fails leaves no server behind. */
const made: Server[] = []
cleanUpAfterEachFile(async () => {
  for (const server of made.splice(0)) {
    await server.stop('immediate').catch(() => undefined) // it may be down
    rmSync(server.folder, { recursive: true })
  }
})

/**
 * Starts a server that stops after the tests of the file.
 * @param settings lines of postgresql.conf
 * @param options.env variables of this server's process besides those of every server
 */
export async function startServer(
  settings: Readonly<Record<string, string>> = {},
  { env = {}, initdb = [] }: { env?: Readonly<Record<string, string>>; initdb?: readonly string[] } = {},
): Promise<Server> {
  return makeServer(
    settings,
    (data) => [
      'initdb',
      [
        `--pgdata=${data}`,
        '--username=countersign',
        '--auth=trust',
        '--encoding=UTF8',
        '--no-locale',
        ...initdb,
      ],
    ],
    env,
  )
}

/** A standby of `primary`, by the name that synchronous_standby_names knows it by. */
export async function startStandby(primary: Server, name: string): Promise<Server> {
  const reach = `host=${primary.folder} user=countersign application_name=${name}`
  return makeServer({ primary_conninfo: reach }, (data) => [
    'pg_basebackup',
    [`--pgdata=${data}`, `--dbname=${reach}`, '--checkpoint=fast', '--write-recovery-conf'],
  ])
}

async function makeServer(
  settings: Readonly<Record<string, string>>,
  make: (data: string) => [program: string, args: string[]],
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-pg-'))
  const data = join(folder, 'data')
  const log = join(folder, 'log')
  const user = databaseUser(data)
  if (user !== undefined) chownSync(folder, user.uid, user.gid)
  const launch = launchAs(user, join(BIN, 'initdb'), [folder])

  async function run(program: string, args: readonly string[]): Promise<void> {
    const [command, all, options] = launch(join(BIN, program), args)
    const child = spawn(command, all, { ...options, env: { ...options.env, ...env }, stdio: 'ignore' })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code === 0) return
    const said = existsSync(log) ? readFileSync(log, 'utf8').slice(-2_000) : ''
    throw new Error(`${program} ${args.join(' ')} ended with ${code}\n${said}`)
  }
  const control = (...args: string[]) => run('pg_ctl', [`--pgdata=${data}`, '--wait', ...args])

  await run(...make(data))
  const lines = { listen_addresses: '', unix_socket_directories: folder, ...settings }
  for (const [name, value] of Object.entries(lines))
    appendFileSync(join(data, 'postgresql.conf'), `${name} = '${value}'\n`)

  const server: Server = {
    folder,
    url: urlAt(folder),
    start: () => control(`--log=${log}`, 'start'),
    stop: (mode) => control(`--mode=${mode}`, 'stop'),
    promote: () => control('promote'),
    run: (statement) => runAt(urlAt(folder), statement),
  }
  made.push(server)
  await server.start()
  return server
}

function urlAt(folder: string): string {
  return `postgres://countersign@/postgres?host=${encodeURIComponent(folder)}&sslmode=disable`
}

/** Runs one statement in a session of its own. */
export async function runAt(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(statement)).rows
  } finally {
    await client.end()
  }
}
