// An agent that pays an invoice where a human must approve it: asks, waits, and pays once. Run again with the same invoice, also after it
// was killed, it goes on where it stopped and never pays twice.
//   npx node examples/paying-agent/pay.ts --profile mine/humans/agent.json --vendor vendor-17 --amount 250 --invoice 2026-118
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createCountersign } from '../../clients/typescript/src/index.ts'

// A sentence in place of a stack trace.
process.once('uncaughtException', (error) => {
  console.error(`pay: ${error.message}`)
  process.exit(1)
})

const { values } = parseArgs({
  options: {
    profile: { type: 'string', default: 'mine/humans/agent.json' },
    vendor: { type: 'string', default: 'vendor-17' },
    amount: { type: 'string', default: '250' },
    currency: { type: 'string', default: 'EUR' },
    invoice: { type: 'string', default: '2026-118' },
  },
})
const amount = Number(values.amount)
if (!(amount > 0)) throw new RangeError('--amount must be a number above 0.')
const { url, apiKey } = JSON.parse(readFileSync(values.profile, 'utf8')) as { url: string; apiKey: string }
const client = createCountersign({ baseUrl: process.env['COUNTERSIGN_URL'] ?? url, apiKey })

const record = await client.execute(
  {
    action: 'vendor:pay',
    target: values.vendor,
    parameters: { amount, currency: values.currency, invoice: values.invoice },
    policy: { name: 'vendor-payment', version: '2.1.0' },
    // This agent has looked up the vendor; `humanApproved` counts only with a signed approval.
    signals: { vendorVerified: true, paymentAmount: amount, riskScore: 5, humanApproved: true },
    key: `invoice-${values.invoice}`,
  },
  {
    onApprovalNeeded: 'ask',
    note: `Invoice ${values.invoice}`,
    onAsked({ actionCode, request }) {
      console.error(`Asked for approval ${request.requestId}. Its action code is ${actionCode}. Waiting …`)
    },
  },
)
console.error(`Paid: transaction ${record.businessTransactionId}.`)
console.log(JSON.stringify(record, undefined, 2))
