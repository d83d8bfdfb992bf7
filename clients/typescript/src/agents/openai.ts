// OpenAI Agents JS: `needsApproval` asks the service, `execute` executes through it, `settle` answers the interruptions of a stopped run. The
// package itself is not imported: it takes plain objects.
import type { Countersign } from '../index.ts'
import { CallNotExecutedError, governed, type CallStanding, type Governing } from './governed.ts'

export interface GovernedTool<Input> {
  readonly needsApproval: (context: unknown, input: Input, callId?: string) => Promise<boolean>
  /** Resolves to what the connector answered; rejects where nothing was executed. */
  readonly execute: (
    input: Input,
    context?: unknown,
    details?: { readonly toolCall?: { readonly callId: string } },
  ) => Promise<unknown>
  /** Tells the model why nothing was executed; without it the model reads a fixed sentence of the package. */
  readonly errorFunction: (context: unknown, error: unknown) => string
  /** Where a call stands now: for `settle`. */
  readonly standing: (input: Input, callId: string) => Promise<CallStanding>
}

/**
 * The members of `tool({…})` that put a tool under the authority of the service. Spread all of them.
 * @param run the id of the conversation or run, the same when it is resumed
 */
export function governedTool<Input>(
  client: Countersign,
  { run, ...governing }: Governing<Input> & { readonly run: string },
): GovernedTool<Input> {
  const tool = governed(client, governing)
  const standing = (input: Input, callId: string) => tool.propose({ run, call: callId, input })
  return {
    standing,
    async needsApproval(_context, input, callId) {
      // A refused call is not approved by anybody here: `execute` says why.
      return (await standing(input, named(callId))).state === 'waits'
    },
    async execute(input, _context, details) {
      const call = named(details?.toolCall?.callId)
      const ended = await tool.execute({ run, call, input })
      if (ended.state === 'executed') return ended.result
      throw new CallNotExecutedError(ended)
    },
    errorFunction: (_context, error) =>
      `Nothing more is known to have happened: ${error instanceof Error ? error.message : String(error)}`,
  }
}

function named(callId: string | undefined): string {
  if (callId === undefined) throw new TypeError('The call has no id, so a repeat of it cannot be told apart.')
  return callId
}

/** The parts of the package's `RunState` and of an interruption that are used. */
interface State<Item> {
  readonly approve: (item: Item) => void
  readonly reject: (item: Item, options: { readonly message: string }) => void
  readonly getInterruptions: () => Item[]
}

interface Interruption {
  readonly name?: string | undefined
  readonly arguments?: string | undefined
  readonly rawItem: object
}

/**
 * Answers the interruptions of a stopped run that approvers have decided meanwhile; then run the agent with the state again.
 * @param tools by their names
 * @returns how the others still wait; where none was answered, running the agent again changes nothing
 */
export async function settle<Item extends Interruption>(
  state: State<Item>,
  tools: Readonly<Record<string, Pick<GovernedTool<never>, 'standing'>>>,
): Promise<{ readonly settled: number; readonly waiting: readonly CallStanding[] }> {
  let settled = 0
  const waiting: CallStanding[] = []
  for (const item of state.getInterruptions()) {
    const tool = item.name === undefined ? undefined : tools[item.name]
    const { callId } = item.rawItem as { callId?: string }
    if (tool === undefined || callId === undefined) continue
    const standing = await tool.standing(JSON.parse(item.arguments ?? '{}') as never, callId)
    if (standing.state === 'waits') {
      waiting.push(standing)
      continue
    }
    settled++
    if (standing.state === 'refused') state.reject(item, { message: standing.reason })
    else state.approve(item)
  }
  return { settled, waiting }
}
