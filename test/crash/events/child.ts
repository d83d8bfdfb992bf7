// An instance that delivers events, and dies where it is told: events.test.ts marks every await of that work.
// CRASH_WORK  JSON: `Work`; the others are those of `recordProcess`
import { recordProcess } from '../points/record.ts'
import type { Work } from './deliver.ts'

const { CRASH_WORK: workText = '' } = process.env
const work = JSON.parse(workText) as Work

recordProcess()
const { deliverEvents } = await import('./deliver.ts')
await deliverEvents(work)
