// The work on the evidence log, a tick at a time: sequence what is queued, publish what is due (docs/design-notes.md "The evidence log").
import type { Pool } from 'pg'
import { DamagedLog } from '../../src/core/log/damaged.ts'
import type { LogKeys } from '../../src/core/signing/log-keys.ts'
import { latestCheckpoint } from '../../src/core/tables/log-checkpoints.ts'
import { freezeOpenLog, readLogStatus, type LogStatus } from '../../src/core/tables/log-state.ts'
import type { LogReport } from '../../src/core/thread-messages.ts'
import { Finished, type InFlight } from '../in-flight.ts'
import { openGuard, readStored, whyBehind, whyForked, type Guard } from './guard.ts'
import { publish, REPUBLISH_EVERY_MS } from './publish.ts'
import { CHECKPOINT_EVERY_MS, openSequencer } from './sequence.ts'

/** A tick with more to do leaves it to the next one, so that none takes longer than a request may. */
const TICK_MAX_MS = 2_000

/** The clocks of instances differ by less; by more, an operator should know. */
const CLOCK_BEHIND_MS = 5_000

export interface LogWork {
  /** Never two at once. */
  readonly tick: () => Promise<LogReport>
}

/** @param nowMs milliseconds since 1970 */
export function openLogWork({
  pool,
  keys,
  dataDir,
  nowMs = Date.now,
}: {
  readonly pool: Pool
  readonly keys: LogKeys
  readonly dataDir: string
  readonly nowMs?: () => number
}): LogWork {
  const guard = openGuard(dataDir)
  const sequencer = openSequencer({ pool, guard, nowMs })
  /** The size at the last tick. */
  let sizeBefore: number | undefined

  async function sequenceAndPublish(): Promise<void> {
    const startedMs = performance.now()
    for (;;) {
      const { more, headed } = await sequencer.sequence()
      if (headed) await publish({ pool, keys, guard, nowMs })
      if (!more || performance.now() - startedMs > TICK_MAX_MS) return
    }
  }

  /** Another thread has appended since the last tick. It has the edge of the tree in memory, and goes on. */
  function isOthers({ size }: LogStatus): boolean {
    const isOther = size !== sizeBefore && !sequencer.isAt(size)
    sizeBefore = size
    return isOther
  }

  return {
    async tick() {
      const status = await readLogStatus(pool)
      if (status === undefined) return { frozen: null, problem: null }
      if (status.frozen !== null) return { frozen: status.frozen, problem: null }
      try {
        await followCheckpoints(pool, guard, status)
      } catch (error) {
        if (!(error instanceof DamagedLog)) throw error
        await freezeOpenLog(pool, error.message)
        return { frozen: error.message, problem: null }
      }
      const others = isOthers(status)
      if (!others && (status.queued || isGrown(status, nowMs()))) await sequenceAndPublish()
      else if (isUnpublished(status, nowMs())) await publish({ pool, keys, guard, nowMs })
      else return { frozen: null, problem: clockProblem(status, nowMs()) }
      const after = await readLogStatus(pool)
      return { frozen: after?.frozen ?? null, problem: clockProblem(status, nowMs()) }
    },
  }
}

/**
 * Ticks once for all requests of the batch.
 * @param log undefined with LOG=off
 * @returns a LogReport each
 */
export async function sequenceLog(batch: readonly InFlight[], log: LogWork | undefined): Promise<Finished[]> {
  const report: LogReport = (await log?.tick()) ?? { frozen: null, problem: null }
  return batch.map(({ request }) => new Finished(request, { body: JSON.stringify(report) }))
}

/** Heads are due: as `isDue` of the sequencer, without its lock. */
function isGrown({ size, headedSize, publishedSize, publishedAtMs }: LogStatus, nowMs: number): boolean {
  return size > headedSize && headedSize === publishedSize && nowMs - publishedAtMs >= CHECKPOINT_EVERY_MS
}

function isUnpublished({ headedSize, publishedSize, publishedAtMs }: LogStatus, nowMs: number): boolean {
  return headedSize > publishedSize || (publishedSize > 0 && nowMs - publishedAtMs >= REPUBLISH_EVERY_MS)
}

function clockProblem({ publishedAtMs }: LogStatus, nowMs: number): string | null {
  const behindMs = publishedAtMs - nowMs
  if (behindMs <= CLOCK_BEHIND_MS) return null
  return `The clock of this instance is ${Math.ceil(behindMs / 1000)} seconds behind the last checkpoint of the log: it publishes none until then.`
}

/**
 * Keeps the newest checkpoint of the database as seen, whichever instance signed it.
 * @throws DamagedLog where it contradicts what was seen before
 */
async function followCheckpoints(pool: Pool, guard: Guard, status: LogStatus): Promise<void> {
  const seen = guard.seen()
  const { log, origin, size, headedSize, publishedSize } = status
  if (seen?.origin === origin && seen.size === publishedSize) return
  const behind = whyBehind({ log, origin, checkpointSize: headedSize }, seen)
  if (behind !== undefined) throw new DamagedLog(behind)
  const last = publishedSize === 0 ? undefined : await latestCheckpoint(pool, log)
  // Signed and kept here, and never committed: the next checkpoint is of the same tree.
  if (last === undefined || (seen?.origin === origin && seen.size >= last.size)) return
  const forked = await whyForked(pool, { log, origin, size }, seen)
  if (forked !== undefined) throw new DamagedLog(forked)
  readStored(last, origin)
  guard.keep(last.note)
}
