import { defineConfig } from 'vitest/config'

// Where to write the counts, for a script that sums several runs.
const resultsFile = process.env['VITEST_RESULTS']

const SEEN = 'test/openapi/seen.test.ts'

export default defineConfig({
  test: {
    pool: 'forks',
    // A file starts a service and works against it: it mostly waits, so more files than cores keep both busy.
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    // The second project runs when the first is done: it looks at all the replies that were seen.
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['test/**/*.test.ts'],
          exclude: [SEEN],
          globalSetup: ['test/run/index.ts', 'test/postgres.ts'],
          sequence: { groupOrder: 0 },
        },
      },
      { extends: true, test: { name: 'seen', include: [SEEN], sequence: { groupOrder: 1 } } },
    ],
    ...(resultsFile === undefined
      ? {}
      : { reporters: ['default', 'json'], outputFile: { json: resultsFile } }),
  },
})
