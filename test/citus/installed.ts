// Citus for Debian's PostgreSQL 15 (`.ci/citus install`). Where it is missing the tests that need it skip, but not in CI.
import { existsSync } from 'node:fs'
import { describe } from 'vitest'

const LIBRARY = '/usr/lib/postgresql/15/lib/citus.so'

const skipped = !existsSync(LIBRARY) && process.env['CI'] !== 'true'
if (skipped) console.warn(`${LIBRARY} is missing: the tests on a Citus cluster are skipped.`)

/** `describe`, for tests that need it. */
export const describeWithCitus = describe.skipIf(skipped)
