// How threads answer what the service gives them by itself: request and result are JSON, whose shapes stand in src/core/operations/.
import type { GivenOf, OwnOperation, ResultOf } from '../src/core/operations/index.ts'
import { answerEach } from './answer-each.ts'

/** Answers each request of an operation alone. */
export function answerOwn<Name extends OwnOperation>(
  work: (given: GivenOf<Name>) => ResultOf<Name> | Promise<ResultOf<Name>>,
) {
  return answerEach(async ({ body }) => {
    const given = JSON.parse(Buffer.from(body).toString()) as GivenOf<Name>
    return { body: JSON.stringify(await work(given)) }
  })
}
