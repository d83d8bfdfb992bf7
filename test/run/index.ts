// Before all test files: a folder of this run for temporary files, and a process that outlives the run and ends what it left.
import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { arePagesBuilt } from '../../src/server/pages/built.ts'
import { writePages } from '../../tools/pages.ts'
import { bundlePackages } from './packages.ts'
import { bundleCommand, bundlePrograms } from './programs.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** Folder of temporary files. */
    runFolder: string
  }
}

const MEMORY = '/dev/shm'
/** A run has at most a quarter of it in its folder at any time. */
const MEMORY_BYTES_MIN = 4 * 2 ** 30

/**
 * Several hundred databases of 500 files each are made and dropped. An ext4 that has just deleted files looks at each of their inodes
 * again whenever it makes one: 0.3 s of CPU for a database, in place of 0.03 in memory.
 * @returns a folder in memory; undefined where there is none, little is free, or what is in it may not be executed
 */
function memory(): string | undefined {
  if (process.platform !== 'linux' || !existsSync(MEMORY)) return undefined
  const { bavail, bsize } = statfsSync(MEMORY)
  if (bavail * bsize < MEMORY_BYTES_MIN) return undefined
  const mounted = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .find((line) => line.split(' ')[1] === MEMORY)
  return mounted?.includes('noexec') === false ? MEMORY : undefined
}

/**
 * Everything that the tests start has this folder in its arguments, its environment or as the place of its data, so that the watchdog
 * finds it. vitest ends by a signal without any teardown; the watchdog's standard input ends then too, whatever the signal was.
 */
export default async function setup({ vitest }: TestProject): Promise<void> {
  // The groups of a whole run share it.
  if (vitest.getRootProject().getProvidedContext().runFolder !== undefined) return
  const folder = mkdtempSync(join(process.env['TMPDIR'] ?? memory() ?? tmpdir(), 'countersign-'))
  // As /tmp itself: PostgreSQL, and services of other users, make their files here too.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  vitest.provide('runFolder', folder)
  // Detached: a Ctrl-C at the terminal does not reach it.
  const watchdog = spawn(process.execPath, [join(import.meta.dirname, 'watchdog.ts'), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  watchdog.unref()
  // A clone whose packages were copied has not run `prepare`.
  await Promise.all([bundlePackages(), bundlePrograms(), bundleCommand(), arePagesBuilt() || writePages()])
}
