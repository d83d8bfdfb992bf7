import { join } from 'node:path'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'
import { LongestFirst } from './test/run/longest-first.ts'
import { packagesArguments } from './test/run/packages.ts'

// Where to write the counts, for a script that sums several runs.
const resultsFile = process.env['VITEST_RESULTS']

// What one process has compiled the next ones find: the test runner's, and those that tests start with its environment.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '.cache', 'compile')

const SEEN = 'test/openapi/seen.test.ts'

/**
 * A third of the whole run: services, agents and databases that are killed or cut off, the handbook's drills, installed images, 5,000 random
 * changes of evidence for two verifiers, measurements. They run under CI=true, and where somebody names files.
 */
const REHEARSALS = [
  'test/{citus,crash,deploy,drills,faults}/**',
  'test/abuse/{neighbours,open-routes}.test.ts',
  'test/clients/resume.test.ts',
  'test/log/{backfill,backlog,crash,service}.test.ts',
  'test/run/interrupted.test.ts',
  'test/signals.test.ts',
  'test/verifier/differential.test.ts',
]
/** Like those, but they aim at no moment. */
const MEASUREMENTS = ['test/bench.test.ts', 'test/bench/**']
const namesFiles = process.argv.slice(2).some((argument) => !/^(-|(run|watch|list)$)/.test(argument))
const isCi = process.env['CI'] === 'true'
const leftOut = isCi || namesFiles ? [] : [...REHEARSALS, ...MEASUREMENTS]
/** Then rehearsals are a group of their own, which runs first. */
const isWhole = isCi && !namesFiles
const rehearsals = isWhole ? REHEARSALS : []

const globalSetup = ['test/run/index.ts', 'test/postgres.ts']
/** Rehearsals aim at moments: they need a calmer machine. */
const rehearsing: TestProjectInlineConfiguration = {
  extends: true,
  test: {
    name: 'rehearsals',
    include: REHEARSALS.map((pattern) => (pattern.endsWith('**') ? `${pattern}/*.test.ts` : pattern)),
    maxWorkers: 3,
    globalSetup,
    sequence: { groupOrder: 0 },
  },
}
if (leftOut.length > 0)
  console.warn(
    'Rehearsals (crashes, faults, drills, images, random changes of evidence, measurements) are left out: CI=true npm test runs them too.',
  )

/** Files that change the modules they import, by mocks or `vi.resetModules`: each has a process of its own. */
const ALONE = ['test/canonical.test.ts', 'test/conformance/authenticate.test.ts']

export default defineConfig({
  test: {
    pool: 'forks',
    execArgv: packagesArguments,
    // A process runs one file after the other and imports the modules that they share once: 1 to 2 s of CPU for each file.
    isolate: false,
    setupFiles: ['test/run/hooks.ts'],
    // A file keeps two thirds of a core busy while it runs alone: two cores are busy to 85 % with three files, to 94 % with four.
    maxWorkers: 4,
    // A busy machine misses moments that a test can only aim at, such as the one in which a process is killed. The report names each test that
    // was run again: one that is named often is to be mended.
    retry: isCi ? 1 : 0,
    sequence: { sequencer: LongestFirst },
    // Reached by what hangs, not by what is slow: a test that takes 1 s takes 30 on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    provide: { filesNamed: namesFiles },
    // A group runs when the one before is done.
    projects: [
      ...(isWhole ? [rehearsing] : []),
      {
        extends: true,
        test: {
          name: 'all',
          include: ['test/**/*.test.ts'],
          exclude: [SEEN, ...ALONE, ...leftOut, ...rehearsals],
          globalSetup,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: { name: 'alone', include: ALONE, isolate: true, sequence: { groupOrder: 1 } },
      },
      // It looks at all the replies that were seen.
      { extends: true, test: { name: 'seen', include: [SEEN], sequence: { groupOrder: 2 } } },
    ],
    ...(resultsFile === undefined
      ? {}
      : { reporters: ['default', 'json'], outputFile: { json: resultsFile } }),
  },
})
