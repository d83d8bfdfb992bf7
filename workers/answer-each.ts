// Answers requests that are worth a commit of their own: governance, approvals, intents closed by hand, and the service's own work for its
// threads, whose types are in src/core/operations/.
import pLimit from 'p-limit'
import type { Failure } from '../src/core/errors/errors.ts'
import { failureOf } from '../src/core/errors/failure-of.ts'
import { Finished, type InFlight, type Success, type WorkerRequest } from './in-flight.ts'
import type { GivenOf, OwnOperation, ResultOf } from '../src/core/operations/index.ts'

/** The limit however many requests come at once: the connections are there for executions. */
const AT_ONCE = 2

/** Answers each request alone: a request that fails affects no other. */
export function answerEach(
  work: (request: WorkerRequest) => Promise<Failure | Success>,
): (batch: readonly InFlight[]) => Promise<Finished[]> {
  return (batch) =>
    pLimit(AT_ONCE).map(batch, async ({ request }) => {
      const startedMs = performance.now()
      const working = work(request)
      // The time up to its first wait: reading the body, and compiling the policy that it holds.
      request.costMs += performance.now() - startedMs
      return new Finished(request, await working.catch(failureOf))
    })
}

/** Answers each request of an operation alone. */
export function answerOwn<Name extends OwnOperation>(
  work: (given: GivenOf<Name>) => ResultOf<Name> | Promise<ResultOf<Name>>,
) {
  return answerEach(async ({ body }) => {
    const given = JSON.parse(Buffer.from(body).toString()) as GivenOf<Name>
    return { body: JSON.stringify(await work(given)) }
  })
}
