// Deferred executions: those that become ready while a batch is finished share the next one, and each is delivered once, whatever happens.
import { expect, test } from 'vitest'
import { failures } from '../../src/core/errors/errors.ts'
import { openDeferred } from '../../workers/execute/deferred.ts'
import type { Performed } from '../../workers/execute/perform.ts'
import { Finished, type InFlight } from '../../workers/in-flight.ts'
import { until } from '../service.ts'
import { aRequest } from './thread.ts'

/** As far as the lane looks at it. */
const aPerformed = () => aRequest({}) as Performed
const answerTo = ({ request }: InFlight) => new Finished(request, { body: '{}' })

test('what has come by then is finished together, 128 at most, never two batches at a time', async () => {
  const finishing: { size: number; done: () => void }[] = []
  const delivered: Finished[] = []
  const lane = openDeferred(
    (performed) =>
      new Promise((resolve) => {
        finishing.push({ size: performed.length, done: () => resolve(performed.map(answerTo)) })
      }),
    (answered) => delivered.push(...answered),
  )
  const items = Array.from({ length: 200 }, aPerformed)
  lane.add([Promise.resolve(items[0] as Performed)])
  await until(() => finishing.length === 1, 'the first batch')
  lane.add(items.slice(1).map((item) => Promise.resolve(item)))
  for (const size of [1, 128, 71]) {
    const batch = await until(() => finishing.shift(), `a batch of ${size}`)
    expect(batch.size).toBe(size)
    expect(finishing).toEqual([])
    batch.done()
  }
  await until(() => delivered.length === items.length, 'every answer')
  expect(new Set(delivered.map(({ request }) => request))).toEqual(
    new Set(items.map(({ request }) => request)),
  )
})

test('where finishing throws, its executions are answered 502, those that had ended keep their answer, and the next ones are finished', async () => {
  const delivered: Finished[] = []
  let broken = true
  const lane = openDeferred(
    async (performed) => {
      if (broken) throw new Error('a bug')
      return performed.map(answerTo)
    },
    (answered) => delivered.push(...answered),
  )
  const refused = new Finished(aPerformed().request, failures.overloaded('claims'))
  lane.add([Promise.resolve(refused), Promise.resolve(aPerformed())])
  await until(() => delivered.length === 2, 'the answers of the first batch')
  expect(delivered.map(({ answer: { status, log } }) => [status, log['code']])).toEqual([
    [503, 'OVERLOADED'],
    [502, 'EXECUTION_OUTCOME_UNKNOWN'],
  ])
  expect(delivered[1]?.answer.log['cause']).toContain('a bug')
  broken = false
  lane.add([Promise.resolve(aPerformed())])
  await until(() => delivered.length === 3, 'the next answer')
  expect(delivered[2]?.answer.status).toBe(200)
})
