// An agent of LangChain 1 whose tool runs only through Countersign. Its graph is interrupted where a human must approve, and goes on in another
// process.
//   node clients/typescript/examples/langchain.ts --run wednesday --amount 250
// The model is a script; with MODEL=openai:gpt-5-mini it is a real one, whose package (`@langchain/openai`) and key you bring.
import { deserialize, serialize } from 'node:v8'
import { Command, INTERRUPT, isInterrupted, MemorySaver } from '@langchain/langgraph'
import { AIMessage, createAgent, fakeModel, tool } from 'langchain'
import { z } from 'zod'
import { countersigned, notCalled, type Interrupted } from '../src/agents/langchain.ts'
import {
  alwaysApprove,
  countersign,
  description,
  paying,
  prompt,
  readRun,
  run,
  stopped,
  wanted,
  writeRun,
} from './payment.ts'

const schema = z.object({ vendor: z.string(), amount: z.number(), invoice: z.string() })
const pay = tool(notCalled, { name: 'pay', description, schema })

/** Asks for the payment, and once the tool has answered, repeats its answer. */
function scripted(isAnswered: boolean) {
  const model = isAnswered
    ? fakeModel()
    : fakeModel().respondWithTools([{ name: 'pay', args: { ...wanted }, id: 'call-1' }])
  return model.respond(
    (messages) => new AIMessage(`The tool says: ${JSON.stringify(messages.at(-1)?.content)}`),
  )
}

// A real program keeps its threads in a database (`PostgresSaver`); here one file has them.
const checkpointer = new MemorySaver()
const kept = readRun()
if (kept !== undefined)
  Object.assign(
    checkpointer,
    deserialize(Buffer.from(kept, 'base64')) as Pick<MemorySaver, 'storage' | 'writes'>,
  )

const agent = createAgent({
  model: process.env['MODEL'] ?? scripted(kept !== undefined),
  tools: [pay],
  middleware: [countersigned(countersign, { pay: paying })],
  checkpointer,
})
const thread = { configurable: { thread_id: run } }
// The resume value is ignored: approvers decide at the service.
const resume = new Command({ resume: alwaysApprove ? { decisions: [{ type: 'approve' }] } : 'look again' })
const result = await agent.invoke(
  kept === undefined ? { messages: [{ role: 'user', content: prompt }] } : resume,
  thread,
)
const { storage, writes } = checkpointer
writeRun(serialize({ storage, writes }).toString('base64'))
if (isInterrupted<Interrupted>(result)) stopped(result[INTERRUPT][0]?.value?.reason)
else console.log(result.messages.at(-1)?.content)
