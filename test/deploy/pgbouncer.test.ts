// PgBouncer between the service and PostgreSQL, with the settings that docs/handbook/scaling.md shows.
import { existsSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseUser } from '../../src/server/embedded/user.ts'
import { describeWithPostgres } from '../debian-postgres.ts'
import { aServer, makeServer } from '../drills/server.ts'
import { blocks } from '../handbook.ts'
import { startService, until } from '../service.ts'
import { aTransaction } from '../transactions.ts'

const PGBOUNCER = '/usr/sbin/pgbouncer'
const skipped = !existsSync(PGBOUNCER) && process.env['CI'] !== 'true'
if (skipped) console.warn(`${PGBOUNCER} is missing: its tests are skipped.`)

const shown = blocks('scaling.md', 'ini').find((block) => block.startsWith('[pgbouncer]')) ?? ''

const describeWithPgBouncer = skipped ? describe.skip : describeWithPostgres

describeWithPgBouncer('behind PgBouncer', () => {
  const server = aServer()
  const stops: (() => Promise<unknown>)[] = []

  beforeAll(() => makeServer(server))
  afterAll(async () => {
    for (const stop of stops) await stop()
    await server.destroy()
  })

  /** Starts one, with a socket in the server's folder. out  the address of the database behind it */
  async function startPgBouncer(settings: string, port: number): Promise<string> {
    const { username, password } = new URL(server.url('postgres').replace('@/', '@localhost/'))
    const at = (name: string) => join(server.folder, name)
    writeFileSync(at('users.txt'), `"${username}" "${password}"\n`)
    writeFileSync(
      at('pgbouncer.ini'),
      `[databases]
* = host=${server.folder} user=${username} password=${password}
${settings}
unix_socket_dir = ${server.folder}
listen_port = ${port}
auth_type = trust
auth_file = ${at('users.txt')}
`,
    )
    // It refuses root, as PostgreSQL does.
    const { uid, gid } = databaseUser('') ?? {}
    const child = spawn(PGBOUNCER, [at('pgbouncer.ini')], {
      stdio: ['ignore', 'ignore', 'pipe'],
      ...(uid === undefined || gid === undefined ? {} : { uid, gid }),
    })
    const output = text(child.stderr)
    const ended = once(child, 'exit')
    stops.push(() => {
      child.kill('SIGTERM')
      return ended
    })
    const isListening = async () => {
      const connection = connect(at(`.s.PGSQL.${port}`))
      const connected = once(connection, 'connect').then(
        () => true,
        () => false,
      )
      if (child.exitCode !== null) throw new Error(await output)
      return connected.finally(() => connection.destroy())
    }
    await until(isListening, 'PgBouncer to listen')
    return `postgres://${username}@/postgres?host=${server.folder}&port=${port}&sslmode=disable`
  }

  test('in session mode everything works', async () => {
    const service = await startService({ databaseUrl: await startPgBouncer(shown, 6432) })
    const replies = await Promise.all(
      Array.from({ length: 100 }, () => service.post('/execute', aTransaction())),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
    expect((await service.get('/ready')).status).toBe(200)
    expect(await service.stop()).toBe(0)
  })

  test('in transaction mode without prepared statements a start is refused by a sentence', async () => {
    const databaseUrl = await startPgBouncer(shown.replace('session', 'transaction'), 6433)
    await expect(startService({ databaseUrl })).rejects.toThrow(
      'The pooler of DATABASE_URL does not keep prepared statements: use its session mode, or PgBouncer 1.21 or newer',
    )
  })
})
