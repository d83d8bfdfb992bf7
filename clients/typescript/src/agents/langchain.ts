// LangChain 1: a middleware that carries governed tools out through the service, and interrupts the graph where a human must approve.
import { createMiddleware, ToolMessage } from 'langchain'
import type { Countersign } from '../index.ts'
import { governed, type Governing } from './governed.ts'

/** The value that the graph is interrupted with. The value that resumes it is ignored: the service knows the decision. */
export interface Interrupted {
  readonly requestId: string
  readonly actionCode: string
  readonly reason: string
}

/**
 * The middleware for `createAgent`. A call of a tool that is named here never reaches the tool's own function (`notCalled` says so); calls of
 * other tools pass. The graph needs a checkpointer, and `thread_id` is the run. Resumed with any value in any process, it asks again.
 * @param tools by their names
 * @throws TypeError for a call without id or thread; as the client where the service is away or an outcome is in doubt: the agent then stops
 */
export function countersigned(client: Countersign, tools: Readonly<Record<string, Governing<never>>>) {
  const governedTools = new Map(
    Object.entries(tools).map(([name, governing]) => [name, governed(client, governing)]),
  )
  return createMiddleware({
    name: 'Countersign',
    async wrapToolCall(request, handler) {
      const { toolCall, runtime } = request
      const tool = governedTools.get(toolCall.name)
      if (tool === undefined) return handler(request)
      const run = runtime.configurable?.thread_id
      if (toolCall.id === undefined || run === undefined)
        throw new TypeError(
          `The call of ${toolCall.name} has no ${run === undefined ? 'thread_id' : 'id'}, so a repeat of it cannot be told apart.`,
        )
      const call = { run, call: toolCall.id, input: toolCall.args as never }
      let outcome = await tool.execute(call)
      while (outcome.state === 'waits') {
        if (runtime.interrupt === undefined) throw new TypeError('The graph cannot be interrupted.')
        const { actionCode, request: asked } = outcome.approvalRequest
        // Throws, and the node runs again from its beginning. The call returns once for each time that the run was resumed before.
        const interrupted: Interrupted = { requestId: asked.requestId, actionCode, reason: outcome.reason }
        runtime.interrupt(interrupted)
        outcome = await tool.execute(call)
      }
      const told = { tool_call_id: toolCall.id, name: toolCall.name }
      if (outcome.state === 'closed')
        return new ToolMessage({ ...told, status: 'success', content: outcome.reason })
      return outcome.state === 'executed'
        ? new ToolMessage({ ...told, status: 'success', content: JSON.stringify(outcome.result ?? null) })
        : new ToolMessage({ ...told, status: 'error', content: outcome.reason })
    },
  })
}

/** The function of a governed tool. It is called only where the middleware was left out. */
export function notCalled(): never {
  throw new Error('This tool runs only through the middleware of Countersign.')
}
