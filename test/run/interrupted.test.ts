// A run of the tests that is interrupted ends everything that it has started.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { executablePath } from '../browser/chromium.ts'
import { aFolder } from '../embedded/drive.ts'
import { argumentsOf, processesOf } from '../processes.ts'
import { until } from '../service.ts'
import { baseEnvironment } from './environment.ts'

const ROOT = join(import.meta.dirname, '..', '..')

test.each([
  ['SIGINT to all its processes, as a terminal sends it', 'SIGINT', true],
  ['SIGKILL to the test runner alone', 'SIGKILL', false],
] as const)(
  '%s: no process is left, nor its folder',
  async (_, signal, toGroup) => {
    // A socket of the browser is below it: a folder between them, and its path would be too long.
    const folder = aFolder({ mode: 0o777 })
    const told = join(folder, 'started')
    const runner = spawn(
      process.execPath,
      [
        join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'),
        'run',
        '--config',
        join(import.meta.dirname, 'vitest.config.ts'),
      ],
      {
        cwd: ROOT,
        env: { ...baseEnvironment, HOME: folder, TMPDIR: folder, STARTED: told },
        detached: true,
        stdio: 'ignore',
      },
    )
    const ended = once(runner, 'exit')
    await until(() => existsSync(told), 'the services and the browser', 280_000)
    const programs = processesOf(folder).map((pid) => argumentsOf(pid))
    // A connection's process has the server's arguments until it says what it serves.
    expect(new Set(programs.filter((program) => program.includes('/postgres\0-D'))).size).toBe(2)
    expect(programs.filter((program) => program.includes('src/server/main.ts'))).toHaveLength(2)
    expect(programs.some((program) => program.includes('--headless'))).toBe(executablePath !== undefined)

    process.kill(toGroup ? -(runner.pid as number) : (runner.pid as number), signal)
    await ended
    await until(() => processesOf(folder).length === 0, 'its processes to end')
    const itsFolders = () => readdirSync(folder).filter((name) => name.startsWith('countersign-'))
    await until(() => itsFolders().length === 0, 'its folder to go')
  },
  600_000,
)
