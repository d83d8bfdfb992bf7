// Shared by the examples of all frameworks: the agent's profile, its one tool, and the storage of a stopped run.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Governing } from '../src/agents/index.ts'
import { createCountersign } from '../src/index.ts'

// A sentence in place of a stack trace.
process.once('uncaughtException', (error) => {
  console.error(error.message)
  process.exit(1)
})

const { values } = parseArgs({
  options: {
    profile: { type: 'string', default: 'mine/humans/agent.json' },
    /** Stopped runs are files here. */
    folder: { type: 'string', default: 'mine/agents' },
    /** The name of the run: started again with it, the agent goes on where it stopped. */
    run: { type: 'string', default: 'first-run' },
    /** The host approves in its framework by itself, once and for all calls: it changes nothing. */
    'always-approve': { type: 'boolean', default: false },
    vendor: { type: 'string', default: 'vendor-17' },
    amount: { type: 'string', default: '250' },
    invoice: { type: 'string', default: '2026-119' },
  },
})

export interface Payment {
  readonly vendor: string
  readonly amount: number
  readonly invoice: string
}

export const run = values.run
export const alwaysApprove = values['always-approve']

/** The payment that the scripted model asks for; a model with a key reads the same from the prompt. */
export const wanted: Payment = {
  vendor: values.vendor,
  amount: Number(values.amount),
  invoice: values.invoice,
}
if (!(wanted.amount > 0)) throw new RangeError('--amount must be a number above 0.')
export const prompt = `Pay ${wanted.amount} EUR to ${wanted.vendor} for invoice ${wanted.invoice}.`
export const description = 'Pays an invoice of a vendor, in EUR.'

const { url, apiKey } = JSON.parse(readFileSync(values.profile, 'utf8')) as { url: string; apiKey: string }
export const countersign = createCountersign({ baseUrl: process.env['COUNTERSIGN_URL'] ?? url, apiKey })

export const paying: Governing<Payment> = {
  action: 'vendor:pay',
  target: ({ vendor }) => vendor,
  parameters: ({ amount, invoice }) => ({ amount, currency: 'EUR', invoice }),
  policy: { name: 'vendor-payment', version: '2.1.0' },
  // This host has looked up the vendor and the invoice. `humanApproved` is left out: approvers say it, not the caller.
  signals: ({ amount }) => ({ vendorVerified: true, paymentAmount: amount, riskScore: 5 }),
  note: ({ invoice }) => `Invoice ${invoice}, asked for by an agent.`,
}

const file = join(values.folder, `${run}.json`)

/** The text of a stopped run, or undefined where it has not begun. */
export function readRun(): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export function writeRun(text: string): void {
  mkdirSync(values.folder, { recursive: true })
  writeFileSync(file, text)
}

/** Says that the run has stopped: start it again once a human has decided. */
export function stopped(reason: string | undefined): void {
  console.log(`stopped: ${reason ?? 'a human must approve'}`)
  console.log(`Start it again with --run ${run} once the request is decided.`)
}

export function hasEnded(): void {
  console.log(`The run ${run} has ended. Start another with --run.`)
}
