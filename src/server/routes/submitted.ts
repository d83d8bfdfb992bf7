// The handler of a route whose work is done on a worker thread: the body goes there as it came, unparsed.
import type { Operation } from '../../core/messages.ts'
import type { Handler } from './route.ts'

/** in  as  the status of a success that creates something, in place of 200 */
export function submitted(operation: Operation, { as = 200 }: { as?: 200 | 201 } = {}): Handler {
  return async ({ body, callerIndex: caller, client, params }, { dispatcher }) => {
    const reply = await dispatcher.submit({ operation, client, caller, body, params })
    return reply.status === 200 ? { ...reply, status: as } : reply
  }
}
