// Runs drivers (driver.ts) on data folders of their own, and leaves neither processes nor folders behind.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { expect, inject } from 'vitest'
import { kill, processesOf } from '../processes.ts'
import { cleanUpAfterEachTest } from '../run/cleanup.ts'

export { argumentsOf, environmentOf, kill, processesOf } from '../processes.ts'

export interface Driver {
  readonly process: ChildProcess
  /** The service printed this when it was ready, or why it did not start. */
  readonly said: { readonly url: string; readonly pid: number } | { readonly refusal: string }
  /** Reads everything that it has logged so far. */
  logged(): string
}

const drivers: ChildProcess[] = []
const folders: string[] = []

cleanUpAfterEachTest(async () => {
  for (const driver of drivers.splice(0)) driver.kill('SIGKILL')
  for (const folder of folders.splice(0)) {
    await eventually(() => {
      for (const pid of processesOf(folder)) kill(pid, 'SIGKILL')
      expect(processesOf(folder)).toEqual([])
    })
    rmSync(folder, { recursive: true })
  }
})

export function aFolder({ mode = 0o755 } = {}): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'embedded-')))
  chmodSync(folder, mode)
  folders.push(folder)
  return folder
}

/**
 * A data folder whose first start is over.
 *
 * @param name of the data folder, below a folder of its own
 */
export function aCluster(name = '.'): string {
  const dataDir = join(aFolder(), name)
  mkdirSync(dataDir, { recursive: true })
  execFileSync('cp', ['-a', join(inject('clusterTemplate'), 'postgres'), dataDir])
  return dataDir
}

/** How a driver is run: under another user, through another program, from another place. */
export interface How {
  readonly uid?: number
  readonly gid?: number
  readonly through?: readonly string[]
  readonly script?: string
}

/** Starts the service's part on a data folder, and waits until it is ready or has refused. */
export async function drive(dataDir: string, how: How = {}): Promise<Driver> {
  const child = spawnDriver(dataDir, how)
  let log = ''
  child.stderr?.on('data', (chunk: Buffer) => (log += chunk.toString()))
  let out = ''
  for await (const chunk of child.stdout ?? []) {
    out += String(chunk)
    if (out.endsWith('\n')) return { process: child, said: JSON.parse(out), logged: () => log }
  }
  throw new Error(`the driver ended without a word: ${log}`)
}

export function spawnDriver(dataDir: string, how: How = {}): ChildProcess {
  const { through = [], script = join(import.meta.dirname, 'driver.ts'), ...ids } = how
  const [program, ...args] = [...through, process.execPath, script, dataDir]
  const child = spawn(program, args, {
    ...ids,
    env: { ...process.env, DRIVER_SECRET: 'not for the database' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  drivers.push(child)
  return child
}

/** A driver that must be ready. */
export async function start(dataDir: string, how?: How): Promise<Driver & { url: string; pid: number }> {
  const driver = await drive(dataDir, how)
  if ('refusal' in driver.said) throw new Error(driver.said.refusal)
  return { ...driver, ...driver.said }
}

/** Ends a driver with the signal; out: its exit code. */
export async function end(driver: Driver, signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null> {
  const exited = once(driver.process, 'exit')
  driver.process.kill(signal)
  await exited
  return driver.process.exitCode
}

export async function query(url: string, statement: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    return (await client.query<Record<string, unknown>>(statement)).rows.flatMap((row) => Object.values(row))
  } finally {
    await client.end()
  }
}

/** Waits until the assertions hold; fails with theirs after two minutes. */
export async function eventually<T>(hold: () => T | Promise<T>): Promise<T> {
  for (const deadline = Date.now() + 120_000; ; await sleep(20)) {
    try {
      return await hold()
    } catch (error) {
      if (Date.now() > deadline) throw error
    }
  }
}
