// An agent of OpenAI Agents JS whose tool runs only through Countersign. It stops where a human must approve, and goes on in another process.
//   node clients/typescript/examples/openai-agents.ts --run tuesday --amount 250
// The model is a script; with OPENAI_API_KEY it is `MODEL`, or the package's own default.
import { Agent, run as runAgent, RunState, setTracingDisabled, tool, Usage, type Model } from '@openai/agents'
import { z } from 'zod'
import { governedTool, settle } from '../src/agents/openai.ts'
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

setTracingDisabled(true)
const parameters = z.object({ vendor: z.string(), amount: z.number(), invoice: z.string() })
const pay = governedTool<Payment>(countersign, { ...paying, run, schema: parameters })
const { needsApproval, execute, errorFunction } = pay

/** Asks for the payment, and once the tool has answered, repeats its answer. */
const scripted: Model = {
  getResponse({ input }) {
    const last = typeof input === 'string' ? undefined : input.at(-1)
    const asked = {
      type: 'function_call' as const,
      callId: 'call-1',
      name: 'pay',
      status: 'completed' as const,
      arguments: JSON.stringify(wanted),
    }
    const said = {
      type: 'message' as const,
      role: 'assistant' as const,
      status: 'completed' as const,
      content: [{ type: 'output_text' as const, text: `The tool says: ${JSON.stringify(last)}` }],
    }
    return Promise.resolve({
      usage: new Usage(),
      output: [last?.type === 'function_call_result' ? said : asked],
    })
  },
  getStreamedResponse() {
    throw new Error('This example does not stream.')
  },
}

const agent = new Agent({
  name: 'payer',
  model: process.env['OPENAI_API_KEY'] ? (process.env['MODEL'] ?? '') : scripted,
  tools: [tool({ name: 'pay', description, parameters, needsApproval, execute, errorFunction })],
})

const kept = readRun()
if (kept === undefined) await go(prompt)
else {
  const state = await RunState.fromString<undefined, typeof agent>(agent, kept)
  const { settled, waiting } = await settle(state, { pay })
  if (alwaysApprove) for (const item of state.getInterruptions()) state.approve(item, { alwaysApprove: true })
  if (settled === 0 && waiting.length === 0) hasEnded()
  else if (settled === 0 && !alwaysApprove)
    stopped(waiting[0] && 'reason' in waiting[0] ? waiting[0].reason : '')
  else await go(state)
}

async function go(input: Parameters<typeof runAgent<typeof agent, undefined>>[1]): Promise<void> {
  const result = await runAgent(agent, input)
  writeRun(result.state.toString())
  if (result.interruptions.length === 0) console.log(result.finalOutput)
  else {
    const { waiting } = await settle(result.state, { pay })
    stopped(waiting[0] && 'reason' in waiting[0] ? waiting[0].reason : undefined)
  }
}
