// Runs the `countersign` command as an operator does.
import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundledEnvironment } from './run/environment.ts'

export const CLI = join(import.meta.dirname, '..', 'src', 'cli', 'index.ts')

export interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/**
 * @param env on top of the environment of a test's programs, which has no database
 * @param onStart given the process, which a test may end
 */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  onStart: (child: ChildProcess) => void = () => undefined,
  { detached = false }: Pick<SpawnOptions, 'detached'> = {},
): Promise<Ran> {
  const child = spawn(process.execPath, [CLI, ...args], { env: { ...bundledEnvironment, ...env }, detached })
  onStart(child)
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (stdout += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (stderr += chunk))
  const [status] = (await once(child, 'close')) as [number | null]
  return { status, stdout, stderr }
}
