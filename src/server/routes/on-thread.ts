// Handlers whose work is done by a worker thread. The body goes there unparsed.
import type { PathParams } from '../../core/threads/thread-messages.ts'
import type { Operation } from '../../core/operations/index.ts'
import type { Handler } from '../route.ts'

interface OnThread {
  /** The status of a success: 201 where the operation creates something. */
  readonly as?: 200 | 201
  /** Parameters of the operation beside those of the path. */
  readonly beside?: PathParams
}

export function onThread(operation: Operation, { as = 200, beside }: OnThread = {}): Handler {
  return async ({ body, callerIndex, token, client, params: ofPath }, { dispatcher }) => {
    const params = beside === undefined ? ofPath : { ...ofPath, ...beside }
    const reply = await dispatcher.submit({ operation, client, callerIndex, token, body, params })
    return reply.status === 200 ? { ...reply, status: as } : reply
  }
}
