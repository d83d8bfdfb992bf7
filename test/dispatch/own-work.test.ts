// A job learns why work was not done, and then blames nothing that did not fail.
import { expect, test } from 'vitest'
import { answerOf, Failure, failures } from '../../src/core/errors/errors.ts'
import type { Answer } from '../../src/server/answer.ts'
import { doOwnWork, tryOwnWork, type NotDone } from '../../src/server/dispatch/own-work.ts'
import { startSequencing } from '../../src/server/jobs/sequence-log.ts'
import { runTogether } from '../../workers/in-flight.ts'
import { aRequest } from '../pipeline/thread.ts'
import { until } from '../service.ts'

const done: Answer = { status: 200, body: '{"noticed":0}' }
const answering = (answer: Answer | Failure) => async () =>
  answer instanceof Failure ? answerOf(answer) : answer

const NOT_DONE: readonly [string, Failure, NotDone['kind']][] = [
  ['a database that is away', failures.databaseUnavailable(new Error('gone')), 'away'],
  ['a thread that was late', failures.overloaded('late-thread', 'timeout exceeded'), 'late'],
  ['a job that waited a minute in the queue', failures.overloaded('queue'), 'late'],
  ['a thread that died', failures.internal('the thread died'), 'failed'],
]

test('work that is done gives its result', async () => {
  expect(await tryOwnWork(answering(done), 'sweep-intents', {})).toEqual({
    kind: 'done',
    result: { noticed: 0 },
  })
})

test.each(NOT_DONE)('%s is told apart by a value', async (_what, failure, kind) => {
  expect(await tryOwnWork(answering(failure), 'sweep-intents', {})).toMatchObject({ kind })
  await expect(doOwnWork(answering(failure), 'sign-events', { endpointId: 'e', lease: 'l' })).rejects.toThrow(
    'sign-events: ',
  )
})

const SAID: Readonly<Record<NotDone['kind'], string>> = {
  away: 'The evidence log is not written: The database is away.',
  late: 'The evidence log is not written: The worker threads are too busy.',
  failed: 'The evidence log is not written: The reason is in the log of the service.',
}

test.each(NOT_DONE)('%s: GET /ready and the log say so of the evidence log', async (_what, failure, kind) => {
  const lines: object[] = []
  const log = {
    warn: () => undefined,
    info: () => undefined,
    error: (line: object, message: string) => void lines.push({ ...line, message }),
  }
  const sequencing = startSequencing({ submit: answering(failure), log })
  await until(() => sequencing.warnings().length > 0, 'a warning')
  await sequencing.close()
  expect(sequencing.warnings()).toEqual([SAID[kind]])
  expect(lines).toMatchObject([{ message: 'the evidence log is not written' }])
  expect(lines[0]).toMatchObject(failure.gate === undefined ? {} : { gate: failure.gate })
})

test.each([0, 1, 3])(
  'a stage with %i products of two items ends both, and gives neither to the next stage',
  async (count) => {
    const items = [aRequest({}), aRequest({})]
    const ended = await runTogether(items, async () => Array.from({ length: count }, () => aRequest({})))
    expect(ended).toMatchObject([{ answer: { status: 500 } }, { answer: { status: 500 } }])
    expect(ended[0]).toMatchObject({
      answer: { log: { cause: expect.stringContaining(`${count} products of 2 items`) as string } },
    })
  },
)
