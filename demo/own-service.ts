// A service started for the demo alone: a free port, its own embedded PostgreSQL unless it is given a database, a folder that goes with it.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CannotRun } from './client.ts'

const ROOT = join(import.meta.dirname, '..')

export interface OwnService {
  readonly url: string
  /** The raw key that its first start prints (decisions §1 "Embedded start"); empty where the environment has SERVICE_API_KEYS. */
  readonly key: string
  readonly dataDir: string
  /** It takes messages where `nodeArguments` were given. */
  readonly process: ChildProcess
  /** SIGTERM, then nothing is left of it. */
  stop(): Promise<void>
}

/** @returns a folder that every user of the machine may pass through: started by root, PostgreSQL runs as another user */
export function demoFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-demo-'))
  chmodSync(folder, 0o711)
  return folder
}

/**
 * @param signal stops a start in progress
 * @param env more variables of the service
 * @param nodeArguments of its Node, which then has a channel for messages
 * @throws CannotRun with what the service wrote, where it does not start
 */
export async function startOwnService(
  signal: AbortSignal,
  env: Readonly<Record<string, string>> = {},
  nodeArguments?: readonly string[],
): Promise<OwnService> {
  const folder = demoFolder()
  const dataDir = join(folder, 'data')
  // Only PATH: a DATABASE_URL that happens to be set would make this a demo on somebody's real database.
  const child = spawn(process.execPath, [...(nodeArguments ?? []), join('src', 'server', 'main.ts')], {
    cwd: ROOT,
    env: { PATH: process.env['PATH'], DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error', ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(nodeArguments === undefined ? [] : (['ipc'] as const))],
  })
  const exited = once(child, 'close')
  const stop = async () => {
    child.kill('SIGTERM')
    await exited
    rmSync(folder, { recursive: true, force: true })
  }
  // A kill -9 of the demo leaves it running: nobody is left to stop it, and its data must not depend on who started it. It harms no
  // other demo, which has a port and a folder of its own.
  signal.addEventListener('abort', () => child.kill('SIGTERM'))

  let output = ''
  const started = new Promise<{ url: string; key: string }>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk
        const url = /ready at (http:\S+:\d+)[.\s]/.exec(output)?.[1]
        const key = 'SERVICE_API_KEYS' in env ? '' : /\bcsk_[\w-]{43}/.exec(output)?.[0]
        if (url !== undefined && key !== undefined) resolve({ url, key })
      })
  })
  const first = await Promise.race([started, exited.then(() => undefined)])
  if (first !== undefined) return { ...first, dataDir, process: child, stop }
  await stop()
  throw new CannotRun(`The service does not start:\n${output.trim()}`)
}
