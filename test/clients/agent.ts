// An agent of its own, which a test kills: executes what it is given, asks where humans must approve, and prints how it ended.
import { createCountersign, type ExecutionRequest } from '../../clients/typescript/src/index.ts'

const [baseUrl = '', apiKey, work = ''] = process.argv.slice(2)
const record = await createCountersign({ baseUrl, apiKey }).execute(JSON.parse(work) as ExecutionRequest, {
  onApprovalNeeded: 'ask',
})
process.stdout.write(`${record.businessTransactionId} ${record.executions[0]?.status}`)
