// The embedded database from first start to last stop, in real processes that are really killed (decisions §1 "Embedded start").
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { databaseUser } from '../../src/server/embedded/user.ts'
import {
  aCluster,
  aFolder,
  argumentsOf,
  drive,
  end,
  environmentOf,
  eventually,
  kill,
  processesOf,
  query,
  spawnDriver,
  start,
} from './drive.ts'

const refusal = (dataDir: string) =>
  `DATA_DIR ${dataDir} is in use by another Countersign: stop that one, or set another folder.`

const socketDirOf = (url: string) => new URL(url.replace('@/', '@host/')).searchParams.get('host') ?? ''

describe('start and stop', () => {
  test('a stop leaves no process, and the next start finds the data', async () => {
    const dataDir = aFolder()
    const first = await start(dataDir)
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
    expect(await end(first, 'SIGTERM')).toBe(0)
    expect(processesOf(dataDir)).toEqual([])

    const second = await start(dataDir)
    expect(second.url).toBe(first.url)
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([42])
  })

  test('the cluster is durable, checksummed, UTF-8 in locale C, and closed to the network', async () => {
    const { url } = await start(aCluster())
    const names = [
      'fsync',
      'synchronous_commit',
      'full_page_writes',
      'data_checksums',
      'listen_addresses',
      'server_encoding',
    ]
    const values = await query(
      url,
      names.map((name) => `SELECT current_setting('${name}')`).join(' UNION ALL '),
    )
    expect(values).toEqual(['on', 'on', 'on', 'on', '', 'UTF8'])
    expect(await query(url, 'SELECT datcollate FROM pg_database WHERE datname = current_database()')).toEqual(
      ['C'],
    )
    await expect(query(url.replace(/:[^:@]*@/, ':wrong@'), 'SELECT 1')).rejects.toThrow(
      'password authentication failed',
    )
  })

  test('neither the password nor our environment is visible outside', async () => {
    const dataDir = aFolder()
    const child = spawnDriver(dataDir)
    child.stdout?.once('data', () => child.kill('SIGTERM'))
    const seen = new Set<string>()
    while (child.exitCode === null) {
      // A process between fork and exec still looks like the driver.
      for (const pid of processesOf(dataDir).filter((each) => !argumentsOf(each).includes('driver.ts'))) {
        seen.add(argumentsOf(pid)).add(environmentOf(pid))
      }
      await sleep(2)
    }
    const everything = [...seen, readFileSync(join(dataDir, 'postgres/postgres.log'), 'utf8')].join('\n')
    expect(everything).toContain('--pwfile')
    expect(everything).toContain('listen_addresses')
    expect(everything).not.toContain(readFileSync(join(dataDir, 'postgres/password'), 'utf8'))
    expect(everything).not.toContain('DRIVER_SECRET')
  })

  test('a data folder with a long path, a space and a comma works, and its socket elsewhere is removed', async () => {
    const dataDir = aCluster('a long, long path '.repeat(6))
    const first = await start(dataDir)
    const socketDir = socketDirOf(first.url)
    expect(socketDir).not.toContain(dataDir)
    expect(await query(first.url, 'SELECT 1')).toEqual([1])
    await end(first, 'SIGKILL')
    const second = await start(dataDir)
    expect(await query(second.url, 'SELECT 1')).toEqual([1])
    expect(existsSync(socketDir)).toBe(false)
    expect(await end(second, 'SIGTERM')).toBe(0)
    expect(existsSync(socketDirOf(second.url))).toBe(false)
  })

  test('a large log starts afresh', async () => {
    const dataDir = aCluster()
    const log = join(dataDir, 'postgres/postgres.log')
    writeFileSync(log, 'x'.repeat(10_000_001))
    await start(dataDir)
    expect(readFileSync(`${log}.1`)).toHaveLength(10_000_001)
    expect(readFileSync(log, 'utf8')).not.toContain('xx')
  })

  test('a lost password is a sentence, and nothing is made in its place', async () => {
    const dataDir = aCluster()
    const file = join(dataDir, 'postgres/password')
    rmSync(file)
    const { said } = await drive(dataDir)
    expect(said).toEqual({
      refusal: `${file} is missing, and the database in the same folder cannot be opened without it: restore it.`,
    })
    expect(existsSync(file)).toBe(false)
  })
})

describe('crashes', () => {
  // proves fault: kill -9 of a service
  test('after kill -9 of the service its database shuts down by itself, and the next start finds the data', async () => {
    const dataDir = aCluster()
    const first = await start(dataDir)
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
    await end(first, 'SIGKILL')
    await eventually(() => expect(processesOf(dataDir)).toEqual([]))
    const second = await start(dataDir)
    expect(second.logged()).not.toContain('still runs')
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([42])
    expect(readFileSync(join(dataDir, 'postgres', 'postgres.log'), 'utf8')).not.toContain(
      'automatic recovery',
    )
  })

  // proves fault: kill -9 of a service
  test('after kill -9 of the service and of the process that ends its database, the next one stops the database and starts it again', async () => {
    const dataDir = aCluster()
    const first = await start(dataDir)
    await query(first.url, 'CREATE TABLE kept AS SELECT 42 AS answer')
    const watchers = processesOf(dataDir).filter((pid) => argumentsOf(pid).includes('ends PostgreSQL of'))
    expect(watchers).toHaveLength(1)
    for (const pid of watchers) kill(pid, 'SIGKILL')
    await end(first, 'SIGKILL')
    expect(processesOf(dataDir)).toContain(first.pid)
    const second = await start(dataDir)
    expect(second.pid).not.toBe(first.pid)
    expect(processesOf(dataDir)).not.toContain(first.pid)
    expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([42])

    kill(second.pid, 'SIGKILL')
    await eventually(async () => expect(await query(second.url, 'SELECT answer FROM kept')).toEqual([42]))
    expect(await end(second, 'SIGTERM')).toBe(0)
    expect(processesOf(dataDir)).toEqual([])
  })

  // proves fault: kill -9 of the postmaster
  test('after kill -9 of the database it is restarted, once the last orphaned backend is gone', async () => {
    const driver = await start(aCluster())
    const { url, pid } = driver
    await query(url, 'CREATE TABLE kept AS SELECT 42 AS answer')
    const orphan = query(url, 'SELECT count(*) FROM generate_series(1, 1000000000)').catch(() => {}) // never checks whether its client or its postmaster is gone
    const [backend] = await eventually(async () => {
      const backends = await query(
        url,
        "SELECT pid FROM pg_stat_activity WHERE query LIKE '%1000000000)' AND state = 'active'",
      )
      expect(backends).toHaveLength(1)
      return backends
    })
    kill(pid, 'SIGKILL')
    await eventually(() => expect(driver.logged()).toContain('pre-existing shared memory block'))
    kill(Number(backend), 'SIGKILL')
    await orphan
    await eventually(async () => expect(await query(url, 'SELECT answer FROM kept')).toEqual([42]))
  })

  test('a stop wins over a restart that is under way', async () => {
    const dataDir = aCluster()
    const driver = await start(dataDir)
    writeFileSync(join(dataDir, 'postgres/data/postgresql.conf'), 'no setting')
    kill(driver.pid, 'SIGKILL')
    await eventually(() => expect(driver.logged().match(/next attempt/g)?.length).toBeGreaterThan(2))
    expect(driver.logged()).toContain('unrecognized configuration parameter')
    expect(await end(driver, 'SIGTERM')).toBe(0)
    await eventually(() => expect(processesOf(dataDir)).toEqual([]))
  })

  // proves fault: kill -9 in the middle
  test('an interrupted initdb is cleaned away and done again', async () => {
    const dataDir = aFolder()
    const leftovers = () =>
      readdirSync(join(dataDir, 'postgres')).filter((name) => name.startsWith('data.new'))
    const child = spawnDriver(dataDir)
    await eventually(() => expect(leftovers()).toHaveLength(1))
    child.kill('SIGKILL')
    const second = await start(dataDir)
    expect(await query(second.url, 'SELECT 1')).toEqual([1])
    // The orphaned initdb may go on writing for a moment after its folder was removed; what it leaves then goes at the next start.
    await end(second, 'SIGTERM')
    await eventually(() => expect(processesOf(dataDir)).toEqual([]))
    await start(dataDir)
    expect(leftovers()).toEqual([])
  })

  // proves fault: kill -9 in the middle
  test('a crash between initdb and CREATE DATABASE is made good', async () => {
    const dataDir = aCluster()
    const first = await start(dataDir)
    await query(first.url.replace('/countersign?', '/postgres?'), 'DROP DATABASE countersign')
    await end(first, 'SIGKILL')
    expect(await query((await start(dataDir)).url, 'SELECT current_database()')).toEqual(['countersign'])
  })

  test('a lock file whose pid is now another program stops nothing', async () => {
    const dataDir = aCluster()
    const first = await start(dataDir)
    const file = join(dataDir, 'postgres/data/postmaster.pid')
    const left = readFileSync(file, 'utf8')
    await end(first, 'SIGTERM')
    const { uid, gid } = databaseUser(join(dataDir, 'postgres/data')) ?? {}
    const stranger = spawn('sleep', ['60'], uid === undefined || gid === undefined ? {} : { uid, gid })
    writeFileSync(file, left.replace(/^\d+/, String(stranger.pid)))
    const second = await start(dataDir)
    expect(await query(second.url, 'SELECT 1')).toEqual([1])
    expect(stranger.exitCode).toBe(null)
    stranger.kill()
  })
})

describe('one owner', () => {
  test('a second start refuses, and the first still answers', async () => {
    const dataDir = aCluster()
    const first = await start(dataDir)
    const second = await drive(dataDir)
    expect(second.said).toEqual({ refusal: refusal(dataDir) })
    expect(await query(first.url, 'SELECT 1')).toEqual([1])
    expect(first.logged()).not.toContain('restarted')
  })

  test('of two first starts at once, one owns the folder', async () => {
    const dataDir = join(aFolder(), 'new')
    const both = await Promise.all([drive(dataDir), drive(dataDir)])
    const [owner, loser] = both.toSorted((a, b) => Number('refusal' in a.said) - Number('refusal' in b.said))
    expect(loser?.said).toEqual({ refusal: refusal(dataDir) })
    expect(owner?.said).toHaveProperty('url')
    expect(readdirSync(join(dataDir, 'postgres')).filter((name) => name.startsWith('data'))).toEqual(['data'])
  })
})
