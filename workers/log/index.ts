// The work on the evidence log, a tick at a time: sequences queued entries, publishes due checkpoints, sorts ids into runs (docs/design-notes.md "The
// evidence log").
import type { Pool } from 'pg'
import { DamagedLog } from '../../src/formats/log/damaged.ts'
import type { LogKeys } from '../../src/core/signing/log-keys.ts'
import { latestCheckpoint } from '../../src/store/tables/log-checkpoints.ts'
import { freezeLog, readLogStatus, type LogStatus } from '../../src/store/tables/log-state.ts'
import type { LogReport } from '../../src/core/operations/sequence-log.ts'
import { Finished, type InFlight } from '../in-flight.ts'
import { openGuard, readStored, whyBehind, whyForked, type Guard } from './guard.ts'
import { publish, REPUBLISH_EVERY_MS } from './publish.ts'
import type { RunSizes } from '../../src/core/absence/sort-runs.ts'
import { areHeadsDue, CHECKPOINT_EVERY_MS, DamagedRuns, openSequencer } from './sequence.ts'

/** A tick with more to do leaves it to the next one, so that none takes longer than a request may. */
const TICK_MAX_MS = 2_000

/** An entry in a quiet log waits in the queue for no longer than this. */
const TICK_EVERY_MS = 200
/** More than the time between two checkpoints of the instance that writes: while it writes, the others see that it does. */
const OTHERS_TICK_EVERY_MS = 1_000

/** How often to look for work on the runs of ids after there was none. */
const LOOK_FOR_RUNS_EVERY_MS = 1_000

/** The clocks of instances normally differ by less; an operator should know of a greater difference. */
const CLOCK_BEHIND_MS = 5_000

/**
 * An instance further ahead of the database leaves the log alone: times in signatures never go back, so that its checkpoint would keep
 * every other instance from signing until their clocks have caught up.
 */
const CLOCK_AHEAD_MS_MAX = 60_000
const CLOCK_AHEAD =
  'The clock of this instance is more than a minute ahead of that of the database: it adds nothing to the log and signs no checkpoint.'

/** Half of the time in which a receipt promises its entry. */
const QUEUED_SECONDS_MAX = 30
const QUEUED_ROWS_MAX = 1_000_000

const IDLE: LogReport = { frozen: null, problem: null, waiting: false, nextTickMs: TICK_EVERY_MS }

export interface LogWork {
  /** Never two at once. */
  readonly tick: () => Promise<LogReport>
}

/**
 * @param options.onLog gets the number of the newest log, at each tick
 * @param options.nowMs milliseconds since 1970
 */
export function openLogWork({
  pool,
  keys,
  dataDir,
  onLog = () => undefined,
  nowMs = Date.now,
  runSizes,
}: {
  readonly pool: Pool
  readonly keys: LogKeys
  readonly dataDir: string
  readonly onLog?: (log: number) => void
  readonly nowMs?: () => number
  /** Smaller ones for tests. */
  readonly runSizes?: RunSizes
}): LogWork {
  const guard = openGuard(dataDir)
  const openedAtMs = nowMs()
  const sequencer = openSequencer({ pool, guard, nowMs, ...(runSizes && { runSizes }) })
  /** The size at the last tick. */
  let sizeBefore: number | undefined
  /** The last time, on `nowMs`, when there was nothing to do for the runs of ids. */
  let runsIdleAtMs = -Infinity
  let runsProblem: string | null = null

  /** @returns whether all is published that was queued at the beginning */
  async function sequenceAndPublish(): Promise<boolean> {
    const startedMs = performance.now()
    for (;;) {
      const { more, checkpointDue } = await sequencer.sequence()
      if (checkpointDue) await publish({ pool, keys, guard, nowMs })
      if (!more || performance.now() - startedMs > TICK_MAX_MS) return checkpointDue && !more
      await workOnRuns()
    }
  }

  /** The next piece of the work on the runs of ids. Damage to the runs stops only this work. */
  async function workOnRuns(): Promise<void> {
    if (Math.abs(nowMs() - runsIdleAtMs) < LOOK_FOR_RUNS_EVERY_MS) return
    try {
      if (await sequencer.workOnRuns()) return
      runsIdleAtMs = nowMs()
      runsProblem = null
    } catch (error) {
      if (!(error instanceof DamagedRuns)) throw error
      runsIdleAtMs = nowMs()
      runsProblem = `The runs of ids of the log are not complete: ${error.message}`
    }
  }

  /**
   * Does the work that is due.
   * @returns when the next tick is. After a checkpoint not before the next one: one transaction appends everything that is queued until then
   */
  async function advance(status: LogStatus): Promise<number> {
    await followCheckpoints(pool, guard, status)
    // Another thread has appended since the last tick. It has the edge of the tree in memory, and goes on.
    const anotherSequences = status.size !== sizeBefore && !sequencer.isAt(status)
    sizeBefore = status.size
    // The sequencer checks this again under the lock.
    const headsDue = areHeadsDue({
      ...status,
      isGrown: status.size > status.checkpointTreeSize,
      nowMs: nowMs(),
    })
    const mustSequence = !anotherSequences && (status.queued || status.begins || headsDue)
    const mustPublish = !mustSequence && isCheckpointDue(status, nowMs())
    const caughtUp = mustSequence && (await sequenceAndPublish())
    if (mustPublish) await publish({ pool, keys, guard, nowMs })
    if (anotherSequences) return OTHERS_TICK_EVERY_MS
    await workOnRuns()
    return caughtUp ? CHECKPOINT_EVERY_MS : TICK_EVERY_MS
  }

  return {
    async tick() {
      const status = await readLogStatus(pool)
      if (status === undefined) return IDLE
      onLog(status.log)
      if (status.frozen !== null) return { ...IDLE, frozen: status.frozen }
      if (nowMs() - status.databaseNowMs > CLOCK_AHEAD_MS_MAX) return { ...IDLE, problem: CLOCK_AHEAD }
      const problem = clockProblem(status, nowMs()) ?? queueProblem(status, (nowMs() - openedAtMs) / 1_000)
      try {
        const nextTickMs = await advance(status)
        const waiting = status.queued || status.size > status.publishedSize
        return { frozen: null, problem: problem ?? runsProblem, waiting, nextTickMs }
      } catch (error) {
        if (!(error instanceof DamagedLog)) throw error
        await freezeLog(pool, { log: status.log, why: error.message })
      }
      const after = await readLogStatus(pool)
      return { ...IDLE, frozen: after?.frozen ?? null, problem: problem ?? runsProblem }
    },
  }
}

/**
 * Ticks once for all requests of the batch.
 * @param log undefined with LOG=off
 * @returns a LogReport each
 */
export async function sequenceLog(batch: readonly InFlight[], log: LogWork | undefined): Promise<Finished[]> {
  const report: LogReport = (await log?.tick()) ?? IDLE
  return batch.map(({ request }) => new Finished(request, { body: JSON.stringify(report) }))
}

/** A checkpoint is due: one that is not signed yet, or the last one again. */
function isCheckpointDue(
  { checkpointTreeSize, publishedSize, publishedAtMs }: LogStatus,
  nowMs: number,
): boolean {
  return (
    checkpointTreeSize > publishedSize || (publishedSize > 0 && nowMs - publishedAtMs >= REPUBLISH_EVERY_MS)
  )
}

/** Has no numbers that change, like all problems here: the log of the service reports each once. */
function clockProblem({ publishedAtMs }: LogStatus, nowMs: number): string | null {
  if (publishedAtMs - nowMs <= CLOCK_BEHIND_MS) return null
  return 'The last checkpoint of the log is from a clock that is ahead of that of this instance, which publishes none until its own has caught up.'
}

/** @param runningSeconds how long this instance has run: entries that waited while no service ran are appended now, and are no sign of trouble */
function queueProblem({ queuedSeconds, queuedAbout }: LogStatus, runningSeconds: number): string | null {
  if (queuedAbout > QUEUED_ROWS_MAX)
    return 'More than a million commits wait for their place in the evidence log.'
  if (Math.min(queuedSeconds, runningSeconds) <= QUEUED_SECONDS_MAX) return null
  return (
    `Commits wait for their place in the evidence log for more than ${QUEUED_SECONDS_MAX} seconds; ` +
    'receipts promise it within 60.'
  )
}

/**
 * Keeps the newest checkpoint of the database as seen, whichever instance signed it.
 * @throws DamagedLog where it contradicts an earlier one
 */
async function followCheckpoints(pool: Pool, guard: Guard, status: LogStatus): Promise<void> {
  const seen = guard.seen()
  const { log, origin, size, checkpointTreeSize, publishedSize } = status
  if (seen?.origin === origin && seen.size === publishedSize) return
  const behind = whyBehind({ log, origin, checkpointSize: checkpointTreeSize }, seen)
  if (behind !== undefined) throw new DamagedLog(behind)
  const last = publishedSize === 0 ? undefined : await latestCheckpoint(pool, log)
  // A checkpoint was signed and kept here, and never committed: the next one is of the same tree.
  if (last === undefined || (seen?.origin === origin && seen.size >= last.size)) return
  const forked = await whyForked(pool, { log, origin, size }, seen)
  if (forked !== undefined) throw new DamagedLog(forked)
  readStored(last, origin)
  guard.keep(last.note)
}
