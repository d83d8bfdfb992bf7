// Handlers whose work a worker thread does. The body goes there unparsed.
import type { Operation } from '../../core/thread-messages.ts'
import type { Handler } from './route.ts'

/** @param options `as` is the status of a success: 201 where the operation creates something */
export function onThread(operation: Operation, { as = 200 }: { as?: 200 | 201 } = {}): Handler {
  return async ({ body, callerIndex, client, params }, { dispatcher }) => {
    const reply = await dispatcher.submit({ operation, client, callerIndex, body, params })
    return reply.status === 200 ? { ...reply, status: as } : reply
  }
}
