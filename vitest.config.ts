import { defineConfig } from 'vitest/config'

// Where to write the counts, for a script that sums several runs.
const resultsFile = process.env['VITEST_RESULTS']

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: 'test/postgres.ts',
    pool: 'forks',
    // A file starts a service and works against it: it mostly waits, so more files than cores keep both busy.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    ...(resultsFile === undefined
      ? {}
      : { reporters: ['default', 'json'], outputFile: { json: resultsFile } }),
  },
})
