// Before all test files: a folder of this run for temporary files, and a process that outlives the run and ends what it left.
import { spawn } from 'node:child_process'
import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePackages } from './packages.ts'
import { bundlePrograms } from './programs.ts'

/**
 * Everything that the tests start has this folder in its arguments, its environment or as the place of its data, so that the watchdog
 * finds it. vitest ends by a signal without any teardown; the watchdog's standard input ends then too, whatever the signal was.
 */
export default async function setup(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-'))
  // As /tmp itself: PostgreSQL, and services of other users, make their files here too.
  chmodSync(folder, 0o1777)
  process.env['TMPDIR'] = folder
  // Detached: a Ctrl-C at the terminal does not reach it.
  const watchdog = spawn(process.execPath, [join(import.meta.dirname, 'watchdog.ts'), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  watchdog.unref()
  await Promise.all([bundlePackages(), bundlePrograms()])
}
