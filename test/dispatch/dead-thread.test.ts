// A thread that dies takes what it had deferred with it: those callers are told at once.
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { rowsOf, type TestDatabase } from '../database.ts'
import { CACHE } from '../run/bundle.ts'
import { bundlePrograms } from '../run/programs.ts'
import { reply, until, type TestService } from '../service.ts'
import { aTransaction } from '../transactions.ts'
import { withDatabase } from '../with-service.ts'

const programs = join(CACHE, 'programs-that-die')
/** Less than a caller would wait for a thread that is alive and never answers. */
const TOLD_MS_MAX = 50_000

let database: TestDatabase
let service: TestService

beforeAll(() =>
  bundlePrograms(programs, (file, source) =>
    file === 'workers/connectors/sandbox-echo.ts'
      ? source.replace('if (hang === true)', "if (parameters['die'] === true) process.exit(7)\n    $&")
      : source,
  ),
)
withDatabase(async ({ database: made, start }) => {
  database = made
  service = await start({ env: { TEST_PROGRAMS: programs } })
})

// proves fault: A worker thread dies
test('an execution that was deferred is answered 502 when its thread dies, and the next one by another thread', async () => {
  const unknown = {
    status: 502,
    body: {
      error: 'Execution outcome unknown; do not retry, read the execution intent.',
      code: 'EXECUTION_OUTCOME_UNKNOWN',
    },
  }
  const parameters = { amount: 42, delayMs: 3_600_000 }
  const deferred = Array.from({ length: 3 }, () =>
    service.post('/execute', aTransaction({ intent: { parameters } })),
  )
  await until(async () => (await rowsOf(database))['execution_intents'] === 3, 'the releases')
  // Their batches have come back: this one took its turn behind them.
  expect((await service.post('/execute', aTransaction())).status).toBe(200)
  const diedMs = performance.now()
  const fatal = service.post('/execute', aTransaction({ intent: { parameters: { amount: 42, die: true } } }))
  for (const answer of [...deferred, fatal]) expect(reply(await answer)).toEqual(unknown)
  expect(performance.now() - diedMs).toBeLessThan(TOLD_MS_MAX)
  expect((await service.post('/execute', aTransaction())).status).toBe(200)
})
