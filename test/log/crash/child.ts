// An instance that works on the log of a database until it is at rest, and dies where it is told: crash.test.ts marks every await of that work.
// CRASH_LOG  JSON: `Work`; the others are those of `recordProcess`
import { recordProcess } from '../../crash/points/record.ts'
import type { RunSizes } from '../../../src/core/absence/sort-runs.ts'

export interface Work {
  readonly url: string
  readonly dataDir: string
  readonly keyDir: string
  /** Milliseconds since 1970 at the first tick. */
  readonly nowMs: number
  /** Smaller ones, so that there is something to do for the runs of ids. */
  readonly runSizes?: RunSizes
}

/** Enough for each piece of work. What was merged is deleted when a checkpoint has been served for a minute. */
const TICKS_MS = [...Array.from({ length: 8 }, () => 1_000), 61_000, 1_000, 1_000, 1_000]

const { CRASH_LOG: workText = '' } = process.env
const work = JSON.parse(workText) as Work

recordProcess()
const { openLogWork } = await import('../../../workers/log/index.ts')
const { readLogKeys } = await import('../../../src/core/signing/log-keys.ts')
const { readLogStatus } = await import('../../../src/store/tables/log-state.ts')
const { patientPool } = await import('../../patient-pool.ts')

let { nowMs } = work
const pool = patientPool(work.url, 4)
const log = openLogWork({
  pool,
  keys: readLogKeys(work.keyDir),
  dataDir: work.dataDir,
  nowMs: () => nowMs,
  ...(work.runSizes && { runSizes: work.runSizes }),
})
for (const tickMs of TICKS_MS) {
  const { frozen } = await log.tick()
  if (frozen !== null) throw new Error(frozen)
  nowMs += tickMs
}
const status = await readLogStatus(pool)
if (status?.queued !== false || status.size !== status.publishedSize) throw new Error('it is not at rest')
await pool.end()
