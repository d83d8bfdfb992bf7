// The service as an operator starts it, with what it says and how it ends.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestDatabase } from './database.ts'
import { aFolder } from './embedded/drive.ts'
import { baseEnvironment } from './run/environment.ts'
import { programsArguments } from './run/programs.ts'

const MAIN = join(import.meta.dirname, '..', 'src', 'server', 'main.ts')

/** A start on the test's database needs these; there are no keys in its folder. */
export const aStartOn = ({ url }: TestDatabase): Record<string, string> => ({
  DATABASE_URL: url,
  SIGNING_KEY_DIR: aFolder(),
  SERVICE_API_KEYS: JSON.stringify([{ callerId: 'a', keyHash: 'a'.repeat(64) }]),
})

/** The exit code of a start, and what it wrote to standard error. */
type Ended = Promise<{ exitCode: unknown; said: string }>

export const failedStart = (env: Record<string, string>): Ended => startMain(env).ended

export function startMain(env: Record<string, string>): { child: ChildProcess; ended: Ended } {
  const child = spawn(process.execPath, [...programsArguments, MAIN], {
    env: { ...baseEnvironment, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy() // as by `| head`: the sentence on standard error is enough
  const said = outputOf(child)
  return { child, ended: once(child, 'close').then(([exitCode]: unknown[]) => ({ exitCode, said: said() })) }
}

export function outputOf(child: ChildProcess): () => string {
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  return () => output
}
