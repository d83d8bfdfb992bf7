// PostgreSQL servers of Debian's postgresql-15, and what an operator of one types: unlike test/faults/database-server.ts, everything here
// is a script, with the environment that the handbook's commands expect.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'vitest'
import { databaseUser } from '../../src/server/embedded/user.ts'
import { BIN } from '../debian-postgres.ts'
import { bundledEnvironment } from '../run/environment.ts'

/** PostgreSQL refuses root: there its files belong to another user, and whatever touches them runs as that one. */
const postgresUser = databaseUser('')

/** A folder below the system's own for temporary files, of the database's user. */
export function aServerFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-drill-'))
  chmodSync(folder, 0o755)
  if (postgresUser !== undefined) chownSync(folder, postgresUser.uid, postgresUser.gid)
  return folder
}

export interface Terminal {
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

/**
 * Runs a script as the user of the test.
 * @returns what it printed
 * @throws where any of its commands fails, with everything that was printed
 */
export function run(script: string, { cwd, env }: Terminal): Promise<string> {
  return shell('sh', ['-euc', script], script, { cwd, env })
}

/** The same as the database's user. */
export function runAsPostgres(script: string, { cwd, env }: Terminal): Promise<string> {
  if (postgresUser === undefined) return run(script, { cwd, env })
  const { name } = postgresUser
  return shell('runuser', ['-u', name, '--', 'sh', '-euc', script], script, { cwd, env })
}

async function shell(
  command: string,
  args: string[],
  script: string,
  { cwd, env }: Terminal,
): Promise<string> {
  const child = spawn(command, args, {
    cwd,
    env: { ...bundledEnvironment, PATH: `${BIN}:${process.env['PATH'] ?? ''}`, LC_ALL: 'C', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close') as Promise<[number | null]>,
  ])
  expect(status, `${script}\n${stdout}${stderr}`).toBe(0)
  return stdout
}

export interface Server {
  readonly folder: string
  readonly data: string
  /** The address of a database on it. */
  url(database: string): string
  /** Its clients and its own commands find these in their environment. */
  readonly env: Readonly<Record<string, string>>
  /** As a machine that goes up in flames: killed, and nothing of its data is left. */
  destroy(): Promise<void>
}

const PASSWORD = 'drill-password'

/** Where a server will be: in a folder of its own, reached by a socket there. */
export function aServer(): Server {
  const folder = aServerFolder()
  const data = join(folder, 'data')
  const url = (database: string) =>
    `postgres://countersign:${PASSWORD}@/${database}?host=${folder}&sslmode=disable`
  return {
    folder,
    data,
    url,
    env: { PGDATA: data },
    async destroy() {
      await runAsPostgres('[ ! -f "$PGDATA/postmaster.pid" ] || pg_ctl stop --mode immediate --silent', {
        cwd: folder,
        env: { PGDATA: data },
      })
      rmSync(folder, { recursive: true })
    },
  }
}

/**
 * Makes an empty cluster there and starts it.
 * @param settings lines of postgresql.conf
 */
export async function makeServer(server: Server, settings = ''): Promise<void> {
  const { folder, data, env } = server
  const terminal = { cwd: folder, env }
  writeFileSync(join(folder, 'password'), PASSWORD)
  await runAsPostgres(
    `initdb --username countersign --pwfile ${folder}/password --auth scram-sha-256 --encoding UTF8 --no-locale --no-sync > log`,
    terminal,
  )
  // Relative to the data, so that a copy of it listens in a folder of its own.
  appendFileSync(
    join(data, 'postgresql.conf'),
    `listen_addresses = ''\nunix_socket_directories = '..'\n${settings}\n`,
  )
  await runAsPostgres('pg_ctl start --silent --log log', terminal)
}
