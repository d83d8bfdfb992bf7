// Vercel AI SDK 7: `toolApproval` asks the service, `execute` executes through it. The SDK itself is not imported: it takes plain objects.
import type { Countersign } from '../index.ts'
import { CallNotExecutedError, governed, isDoubt, RunInDoubtError, type Governing } from './governed.ts'

export interface GovernedTool<Input> {
  /** The tool's entry in `toolApproval` of `generateText`, `streamText` or `ToolLoopAgent`. */
  readonly toolApproval: (input: Input, options: { readonly toolCallId: string }) => Promise<ApprovalStatus>
  /**
   * The tool's `execute`. Resolves to the connector's answer or, where that is lost, to a sentence that names who says that it was executed.
   * Rejects where nothing was executed, and with RunInDoubtError where that is not known.
   */
  readonly execute: (input: Input, options: { readonly toolCallId: string }) => Promise<unknown>
}

type ApprovalStatus =
  { readonly type: 'approved' } | { readonly type: 'user-approval' | 'denied'; readonly reason: string }

/** The part of a tool message that answers a `tool-approval-request`. */
export interface ApprovalResponse {
  readonly type: 'tool-approval-response'
  readonly approvalId: string
  readonly approved: boolean
  readonly reason?: string
}

/**
 * The two functions of a tool under the authority of the service. Use both: `execute` alone does not run a call that waits, but the SDK then
 * reports an error. An approval in the SDK alone is no approval.
 * @param run the id of the chat or run, the same when it is resumed
 */
export function governedTool<Input>(
  client: Countersign,
  { run, ...governing }: Governing<Input> & { readonly run: string },
): GovernedTool<Input> {
  const tool = governed(client, governing)
  return {
    async toolApproval(input, { toolCallId }) {
      const standing = await tool.propose({ run, call: toolCallId, input })
      if (standing.state === 'waits') return { type: 'user-approval', reason: standing.reason }
      if (standing.state === 'refused') return { type: 'denied', reason: standing.reason }
      return { type: 'approved' }
    },
    async execute(input, { toolCallId }) {
      const call = { run, call: toolCallId, input }
      const standing = await tool.execute(call).catch((error: unknown) => {
        // The SDK turns the error into a text for the model, and continues.
        throw isDoubt(error) && !(error instanceof RunInDoubtError) ? new RunInDoubtError(call, error) : error
      })
      if (standing.state === 'executed') return standing.result
      if (standing.state === 'closed') return standing.reason
      throw new CallNotExecutedError(standing)
    },
  }
}

/**
 * A condition for `stopWhen`: ends the run after a step in which the outcome of a call is not known. Without it the model continues, and its
 * next call of the tool makes the whole run reject with RunInDoubtError.
 */
export function isInDoubt({ steps }: { readonly steps: readonly Step[] }): boolean {
  return steps.at(-1)?.content.some(({ error }) => error instanceof RunInDoubtError) ?? false
}

interface Step {
  readonly content: readonly { readonly type: string; readonly error?: unknown }[]
}

/** The members of the SDK's `ModelMessage` that say which calls wait. */
interface Message {
  readonly role: string
  readonly content: string | readonly object[]
}

interface Part {
  readonly type?: string
  readonly approvalId?: string
  readonly toolCallId?: string
  readonly toolName?: string
  readonly input?: unknown
}

/**
 * Answers the approval requests of a stopped run that approvers have decided meanwhile. Add the responses to the messages as one message of
 * role `tool`, and call the model again. An empty list means that all calls still wait.
 * @param messages as they were when the run stopped
 * @param tools by their names, as they were given to the SDK
 */
export async function approvalResponses(
  messages: readonly Message[],
  tools: Readonly<Record<string, Pick<GovernedTool<never>, 'toolApproval'>>>,
): Promise<ApprovalResponse[]> {
  const parts = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : (content as Part[])))
  const answered = new Set(
    parts.filter(({ type }) => type === 'tool-approval-response').map(({ approvalId }) => approvalId),
  )
  const calls = new Map(
    parts.filter(({ type }) => type === 'tool-call').map((part) => [part.toolCallId, part] as const),
  )
  const responses: ApprovalResponse[] = []
  for (const { type, approvalId, toolCallId } of parts) {
    if (type !== 'tool-approval-request' || approvalId === undefined || answered.has(approvalId)) continue
    const call = calls.get(toolCallId)
    const tool = call?.toolName === undefined ? undefined : tools[call.toolName]
    if (tool === undefined || toolCallId === undefined) continue
    const status = await tool.toolApproval(call?.input as never, { toolCallId })
    if (status.type === 'user-approval') continue
    const reason = 'reason' in status ? { reason: status.reason } : {}
    responses.push({
      type: 'tool-approval-response',
      approvalId,
      approved: status.type === 'approved',
      ...reason,
    })
  }
  return responses
}
