// src/core/errors/errors.ts and the HTTP tests are the same list: a describe's title names the row whose failure its tests see over HTTP, as in
// `describe('POST /execute 409 duplicateTransaction', …)`. Interface §7's last row, 503 NOT_READY, is an answer and not a failure.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { failures, type Failure } from '../src/core/errors/errors.ts'
import { routes } from '../src/server/routes/index.ts'

const HTTP_TESTS = join(import.meta.dirname, 'http')

/** Titles that name a status: "[METHOD path ]status[ row]". */
const titles = readdirSync(HTTP_TESTS)
  .filter((file) => file.endsWith('.test.ts'))
  .flatMap(
    (file) =>
      readFileSync(join(HTTP_TESTS, file), 'utf8').match(/(?<=')([A-Z]+ \/\S* )?[2-5]\d\d( \w+)?(?=')/g) ??
      [],
  )
const seen = titles
  .map((title) => title.replace(/^[A-Z]+ \/\S* /, ''))
  .filter((title) => !/^[23]/.test(title) && title !== '503 NOT_READY')

/** "status row" of every failure, whatever it says. */
const rows = Object.entries(failures).map(([row, failure]) => {
  const make = failure as (detail: object) => Failure
  return `${make({}).status} ${row}`
})

describe('over HTTP', () => {
  // proves §4.2 POST /execute: Errors are in section
  test.each(rows)('%s is seen', (row) => expect(seen).toContain(row))

  // proves §4.2 POST /execute: Errors are in section
  test.each([...new Set(seen)])('%s is a row of src/core/errors/errors.ts', (title) =>
    expect(rows).toContain(title),
  )

  test.each(routes.map(({ method, path }) => `${method} ${path}`))('%s is seen to succeed', (route) => {
    expect(titles).toEqual(
      expect.arrayContaining([expect.stringMatching(`^${RegExp.escape(route)} 20[01]$`)]),
    )
  })
})

// proves §7 A `code` string is added
test('the body is the envelope of interface §7: a string, and a code only where there is one', () => {
  expect(JSON.parse(failures.transactionNotFound().body())).toEqual({
    error: 'Business Transaction not found.',
  })
  expect(JSON.parse(failures.overloaded('places').body())).toEqual({
    error: 'Service overloaded. Try again later.',
    code: 'OVERLOADED',
  })
})

test('a cause is for the log: it is in no body', () => {
  for (const failure of [failures.internal, failures.outcomeUnknown, failures.databaseUnavailable])
    expect(failure(new Error('hunter2')).body()).not.toContain('hunter2')
  expect(failures.malformedJson('hunter2').body()).not.toContain('hunter2')
})
