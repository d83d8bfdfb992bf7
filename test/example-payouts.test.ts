// npm run example:payouts: what a newcomer runs ends well, shows each step in order, and leaves nothing behind.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bundledEnvironment } from './run/environment.ts'

const EXAMPLE = join(import.meta.dirname, '..', 'examples', 'payouts', 'example.ts')

test('a payout whose answer is lost is in doubt until the signed delivery of its provider closes it, and a subscriber is told', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-example-'))
  const child = spawn(process.execPath, [EXAMPLE], {
    env: { ...bundledEnvironment, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  expect([code, output]).toEqual([0, expect.stringContaining('Everything was as expected.')])
  const steps = [
    '"code":"EXECUTION_OUTCOME_UNKNOWN"',
    'subscriber: execution.in_doubt\n',
    'in doubt since ',
    'subscriber: confirmation.received: razorpay says executed\n',
    'subscriber: execution.closed as EXECUTED\n',
    'razorpay says executed (delivery evt_pout_',
    'RESOLVED EXECUTED by webhook:razorpay',
    'ok      confirmation signature',
  ].map((step) => [step, output.indexOf(step)] as const)
  expect(steps.filter(([, at]) => at === -1)).toEqual([])
  expect(steps).toEqual(steps.toSorted(([, a], [, b]) => a - b))
  expect(output).toContain('provider: delivered evt_pout_')
  expect(readdirSync(folder)).toEqual([])
  rmSync(folder, { recursive: true })
})
