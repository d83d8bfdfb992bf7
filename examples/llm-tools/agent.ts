// The host of a language model runs each tool that the model asks for: the service decides, a human looks where the policy says so, and
// the model gets the tool's answer or the reason why not. The model itself is you here: name a tool and its arguments.
//   npx node examples/llm-tools/agent.ts search --query 'velocity'
//   npx node examples/llm-tools/agent.ts send_email --to team@example.com --subject 'Limits' --text 'They are on.'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createCountersign, CountersignError } from '../../clients/typescript/src/index.ts'

/** The cost of a call in USD: the budget of the policy is counted in it. */
const COST: Readonly<Record<string, number>> = { search: 0.02, read_document: 0.01 }
const COST_OF_OTHERS = 0.05

const {
  values: { profile, call: key, 'injection-score': injectionScore, 'personal-data': personalData, ...given },
  positionals,
} = parseArgs({
  allowPositionals: true,
  options: {
    profile: { type: 'string', default: 'mine/humans/agent.json' },
    // The model's own id of the tool call: started again with it, the agent goes on where it stopped.
    call: { type: 'string' },
    // The host's own detectors judge the model's context and the arguments.
    'injection-score': { type: 'string', default: '0' },
    'personal-data': { type: 'boolean', default: false },
    query: { type: 'string' },
    document: { type: 'string' },
    expression: { type: 'string' },
    title: { type: 'string' },
    to: { type: 'string' },
    subject: { type: 'string' },
    text: { type: 'string' },
  },
})
const [tool = ''] = positionals
if (tool === '')
  throw new Error('Name a tool: search, read_document, calculate, create_ticket or send_email.')
const { url, apiKey } = JSON.parse(readFileSync(profile, 'utf8')) as { url: string; apiKey: string }
const client = createCountersign({ baseUrl: process.env['COUNTERSIGN_URL'] ?? url, apiKey })

try {
  const record = await client.execute(
    {
      action: 'llm:call-tool',
      target: tool,
      parameters: { ...given, cost: COST[tool] ?? COST_OF_OTHERS },
      policy: { name: 'llm-tool-call', version: '2.0.0' },
      // Budget, mails and approvals are left out: the service knows them.
      signals: { injectionScore: Number(injectionScore), personalData },
      ...(key === undefined ? {} : { key }),
    },
    {
      onApprovalNeeded: 'ask',
      onAsked({ actionCode, request }) {
        console.error(`Asked for approval ${request.requestId}. Its action code is ${actionCode}. Waiting …`)
      },
    },
  )
  console.log(JSON.stringify(record.executions[0]?.evidence['result'], undefined, 2))
} catch (error) {
  if (!(error instanceof CountersignError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
