// The body of a failure. That each row of src/core/errors/errors.ts is seen over HTTP is test/openapi/seen.test.ts's.
import { expect, test } from 'vitest'
import { failures } from '../src/core/errors/errors.ts'

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
