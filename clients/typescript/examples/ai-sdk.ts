// An agent of the Vercel AI SDK whose tool runs only through Countersign. It stops where a human must approve, and goes on in another process.
//   node clients/typescript/examples/ai-sdk.ts --run monday --amount 250
// The model is a script; with AI_GATEWAY_API_KEY it is `MODEL` (openai/gpt-5-mini) of Vercel's gateway.
import { generateText, isStepCount, tool, type ModelMessage } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'
import { approvalResponses, governedTool, isInDoubt } from '../src/agents/ai-sdk.ts'
import {
  alwaysApprove,
  countersign,
  description,
  hasEnded,
  paying,
  prompt,
  readRun,
  run,
  stopped,
  wanted,
  writeRun,
  type Payment,
} from './payment.ts'

const pay = governedTool<Payment>(countersign, { ...paying, run })
const inputSchema = z.object({ vendor: z.string(), amount: z.number(), invoice: z.string() })
const tools = { pay: tool({ description, inputSchema, execute: pay.execute }) }

/** Asks for the payment, and once the tool has answered, repeats its answer. */
function scripted(): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doGenerate: ({ prompt: messages }) => {
      const last = messages.at(-1)
      const answered = last?.role === 'tool'
      return Promise.resolve({
        content: answered
          ? [{ type: 'text', text: `The tool says: ${JSON.stringify(last.content)}` }]
          : [{ type: 'tool-call', toolCallId: 'call-1', toolName: 'pay', input: JSON.stringify(wanted) }],
        finishReason: { unified: answered ? 'stop' : 'tool-calls', raw: undefined },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
          outputTokens: { total: 1, text: 1, reasoning: 0 },
        },
        warnings: [],
      })
    },
  })
}

const kept = readRun()
const messages: ModelMessage[] =
  kept === undefined ? [{ role: 'user', content: prompt }] : (JSON.parse(kept) as ModelMessage[])
const isOver =
  kept !== undefined && !JSON.stringify(messages.at(-1)?.content).includes('"tool-approval-request"')
if (kept !== undefined) {
  const decided = await approvalResponses(messages, { pay })
  messages.push({ role: 'tool', content: alwaysApprove ? approvedByHost() : decided })
}

/** The approval responses that a user interface sends when somebody clicks "approve". */
function approvedByHost() {
  return messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.flatMap((part) =>
          part.type === 'tool-approval-request'
            ? [{ type: 'tool-approval-response' as const, approvalId: part.approvalId, approved: true }]
            : [],
        ),
  )
}

const nothingDecided = kept !== undefined && messages.at(-1)?.content.length === 0
if (isOver) hasEnded()
else if (nothingDecided) stopped('the request is not decided yet')
else {
  const result = await generateText({
    model: process.env['AI_GATEWAY_API_KEY'] ? (process.env['MODEL'] ?? 'openai/gpt-5-mini') : scripted(),
    messages,
    tools,
    toolApproval: { pay: pay.toolApproval },
    stopWhen: [isStepCount(5), isInDoubt],
  })
  writeRun(JSON.stringify([...messages, ...result.response.messages]))
  if (isInDoubt(result))
    throw new Error('It is not known what became of the payment. The run ends here: look at the service.')
  const waits = result.content.find((part) => part.type === 'tool-approval-request' && !part.isAutomatic)
  if (waits === undefined) console.log(result.text)
  else stopped('reason' in waits ? String(waits.reason) : undefined)
}
