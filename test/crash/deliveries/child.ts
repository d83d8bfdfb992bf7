// A worker thread that processes the deliveries that wait, and dies where it is told: deliveries.test.ts marks every await of that work.
// CRASH_WORK  JSON: `Work`; the others are those of `recordProcess`
import { recordProcess } from '../points/record.ts'

export interface Work {
  readonly url: string
  readonly keyDir: string
}

const { CRASH_WORK: workText = '' } = process.env
const work = JSON.parse(workText) as Work

recordProcess()
const { processWaiting } = await import('./process-waiting.ts')
await processWaiting(work)
// pg-boss keeps timers.
process.exit(0)
