// Debian's postgresql-15: its programs, which the embedded PostgreSQL lacks. Where it is missing the tests that need it skip, but not
// in CI.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'

export const BIN = '/usr/lib/postgresql/15/bin'

const skipped = !existsSync(join(BIN, 'pg_basebackup')) && process.env['CI'] !== 'true'
if (skipped) console.warn(`No PostgreSQL in ${BIN}: the tests that run a server of their own are skipped.`)

/** `describe`, for tests that need it. */
export const describeWithPostgres = describe.skipIf(skipped)

/** `test`, likewise. */
export const testWithPostgres = test.skipIf(skipped)
