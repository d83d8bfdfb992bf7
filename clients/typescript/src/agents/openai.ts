// OpenAI Agents JS: `needsApproval` asks the service, `execute` executes through it, `settle` answers the interruptions of a stopped run. The
// package itself is not imported: it takes plain objects.
import type { Countersign } from '../index.ts'
import { CallNotExecutedError, governed, isDoubt, type CallStanding, type Governing } from './governed.ts'

export interface GovernedTool<Input> {
  readonly needsApproval: (context: unknown, input: Input, callId?: string) => Promise<boolean>
  /** Resolves to the connector's answer or, where it is lost, to a sentence naming who says it was executed; rejects where nothing was executed. */
  readonly execute: (
    input: Input,
    context?: unknown,
    details?: { readonly toolCall?: { readonly callId: string } },
  ) => Promise<unknown>
  /**
   * Tells the model why nothing was executed; without it the model reads a fixed sentence of the package, and the run continues.
   * @throws the error where it is not known whether something was executed: the run ends with a ToolCallError that has the error as its `error`
   */
  readonly errorFunction: (context: unknown, error: unknown) => string
  /** The current status of a call, by its arguments as the model wrote them: for `settle`. */
  readonly standing: (written: unknown, callId: string) => Promise<CallStanding>
}

/** The part that is used of a schema of Zod, or of another schema that follows the Standard Schema. */
interface Schema<Input> {
  readonly '~standard': {
    readonly validate: (written: unknown) => Validated<Input> | Promise<Validated<Input>>
  }
}

type Validated<Input> =
  | { readonly value: Input; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string }[] }

/**
 * The members of `tool({…})` that put a tool under the authority of the service. Spread all of them.
 * @param run the id of the conversation or run, the same when it is resumed
 * @param schema the `parameters` of the tool, where they are a schema of Zod or the like: the package keeps the arguments of a stopped run as the
 *   model wrote them, and a default or a transform changes them
 */
export function governedTool<Input>(
  client: Countersign,
  { run, schema, ...governing }: Governing<Input> & { readonly run: string; readonly schema?: Schema<Input> },
): GovernedTool<Input> {
  const tool = governed(client, governing)
  const standing = (input: Input, callId: string) => tool.propose({ run, call: callId, input })
  return {
    standing: async (written, callId) =>
      standing(schema === undefined ? (written as Input) : await parsed(schema, written), callId),
    async needsApproval(_context, input, callId) {
      // A refused call asks for no approval here: `execute` reports why.
      return (await standing(input, named(callId))).state === 'waits'
    },
    async execute(input, _context, details) {
      const call = named(details?.toolCall?.callId)
      const ended = await tool.execute({ run, call, input })
      if (ended.state === 'executed') return ended.result
      if (ended.state === 'closed') return ended.reason
      throw new CallNotExecutedError(ended)
    },
    errorFunction(_context, error) {
      // Otherwise the model would repeat the work as another call, which would be executed too.
      if (isDoubt(error)) throw error
      return `Nothing more is known to have happened: ${error instanceof Error ? error.message : String(error)}`
    },
  }
}

/** @throws TypeError for arguments that do not match, for example after an edit of the kept state */
async function parsed<Input>(schema: Schema<Input>, written: unknown): Promise<Input> {
  const validated = await schema['~standard'].validate(written)
  if (validated.issues === undefined) return validated.value
  const issues = validated.issues.map(({ message }) => message).join('; ')
  throw new TypeError(`The arguments of an interrupted call do not match the schema of its tool: ${issues}`)
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
 * @returns how many were answered, and the status of those that wait; where none was answered, running the agent again changes nothing
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
    const standing = await tool.standing(JSON.parse(item.arguments ?? '{}'), callId)
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
