// Work that the service gives its threads by itself, such as the sweep.
import { NOBODY, type Operation } from '../../core/thread-messages.ts'
import type { Answer } from '../answer.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Submission } from './lane.ts'

/** The name under which the service's own work waits; no caller can be called so. */
export const SERVICE_CLIENT = 'the service'

/**
 * The submission of such work, for callers that read the answer themselves.
 * @param given what the operation takes, sent as JSON
 */
export function ownWork(operation: Operation, given: object = {}): Submission {
  const body = Buffer.from(JSON.stringify(given))
  return { operation, client: SERVICE_CLIENT, callerIndex: NOBODY, body }
}

/**
 * Has a thread do it.
 * @returns what the operation answers
 * @throws Error with what the thread logged, where it failed
 */
export async function doOwnWork<Result>(
  submit: Dispatcher['submit'],
  operation: Operation,
  given: object,
): Promise<Result> {
  const answer = await submit(ownWork(operation, given))
  if (answer.status !== 200) throw new Error(`${operation}: ${JSON.stringify(answer.log ?? answer.status)}`)
  return resultOf(answer) as Result
}

/** What an answer says, as its operation defines it. */
export function resultOf({ body }: Answer): unknown {
  return JSON.parse(Buffer.from(body).toString())
}
