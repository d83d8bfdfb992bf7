// Work that the service gives its threads without a request, such as the sweep.
import { NOBODY } from '../../core/threads/thread-messages.ts'
import type { GivenOf, OwnOperation, ResultOf } from '../../core/operations/index.ts'
import type { Answer } from '../answer.ts'
import type { Dispatcher } from './dispatcher.ts'

/** The name under which the service's own work waits; no caller can be called so. */
export const SERVICE_CLIENT = 'the service'

/** How such work ended. The job repeats work that was not done, or its failure is answered to the caller who caused it. */
export type OwnWork<Result> = { readonly kind: 'done'; readonly result: Result } | NotDone

export interface NotDone {
  /** The database is away; no thread took the work or finished it in time; or the thread failed. */
  readonly kind: 'away' | 'late' | 'failed'
  readonly answer: Answer
}

/** Sentences for an operator about work that was not done. */
const SENTENCES: Readonly<Record<NotDone['kind'], string>> = {
  away: 'The database is away.',
  late: 'The worker threads are too busy.',
  failed: 'The reason is in the log of the service.',
}

export function whyNotDone({ kind }: NotDone): string {
  return SENTENCES[kind]
}

/**
 * Has a thread run an operation.
 * @param given the operation's input, sent as JSON
 * @returns the operation's result, or why it was not done; never rejects
 */
export async function tryOwnWork<Name extends OwnOperation>(
  submit: Dispatcher['submit'],
  operation: Name,
  given: GivenOf<Name>,
): Promise<OwnWork<ResultOf<Name>>> {
  const body = Buffer.from(JSON.stringify(given))
  const answer = await submit({ operation, client: SERVICE_CLIENT, callerIndex: NOBODY, body })
  if (answer.status === 200)
    return { kind: 'done', result: JSON.parse(Buffer.from(answer.body).toString()) as ResultOf<Name> }
  if (answer.gate === undefined) return { kind: 'failed', answer }
  return { kind: answer.gate === 'database' ? 'away' : 'late', answer }
}

/**
 * Has a thread run an operation.
 * @returns the operation's result
 * @throws Error with the log members of the thread, where it was not done
 */
export async function doOwnWork<Name extends OwnOperation>(
  submit: Dispatcher['submit'],
  operation: Name,
  given: GivenOf<Name>,
): Promise<ResultOf<Name>> {
  const done = await tryOwnWork(submit, operation, given)
  if (done.kind === 'done') return done.result
  const { gate, status, log = { status } } = done.answer
  throw new Error(`${operation}: ${whyNotDone(done)} ${JSON.stringify({ gate, ...log })}`)
}
