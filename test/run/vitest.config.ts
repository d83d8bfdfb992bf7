// For test/run/interrupted.test.ts: one file, set up like all others.
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { packagesArguments } from './packages.ts'

export default defineConfig({
  root: join(import.meta.dirname, '..', '..'),
  test: {
    pool: 'forks',
    execArgv: packagesArguments,
    include: ['test/run/started.ts'],
    globalSetup: ['test/run/index.ts', 'test/postgres.ts'],
    testTimeout: 600_000,
  },
})
