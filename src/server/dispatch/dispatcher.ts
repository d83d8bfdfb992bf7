// Hands requests to the worker threads: lanes for executions, a lane for other costly work, a lane for the decisions of humans
// (docs/design-notes.md "Fairness").
import type { AuthorityState } from '../../core/callers/authority-state.ts'
import type { BatchWatch } from '../metrics/batches.ts'
import { EXECUTION_BATCHES, type Boot, type ThreadReport } from '../../core/threads/thread-messages.ts'
import { laneOf, type LaneName, type Operation } from '../../core/operations/index.ts'
import type { Answer } from '../answer.ts'
import { openThreadPorts } from './thread-ports.ts'
import type { BatchLimits, Load } from './batches.ts'
import { openLane, type Lane, type LaneOptions, type Submission } from './lane.ts'
import type { Meter } from './replies.ts'

export type { Submission } from './lane.ts'

export interface Dispatcher {
  readonly submit: (submission: Submission) => Promise<Answer>
  readonly load: () => Load
  /** How long the longest waiting execution has waited for a thread, milliseconds. */
  readonly executionsWaitedMs: () => number
  /** How many worker threads are to be running, in all lanes. */
  readonly threads: () => number
  /** Hands every thread the new authority state. */
  readonly setAuthority: (authority: AuthorityState) => void
  /** Asks every thread for its report, see `ThreadPorts`. */
  readonly reports: () => Promise<ThreadReport[]>
  /** Number of executions whose evidence the threads keep until the database takes it. */
  readonly pendingEvidence: () => number
  /** Resolves when no evidence is pending. */
  readonly evidenceStored: () => Promise<void>
  readonly close: () => Promise<void>
}

type LaneSize = BatchLimits & Pick<LaneOptions, 'startsOnDemand'>

interface DispatcherOptions {
  readonly boot: Omit<Boot, 'lane'>
  readonly meter: Meter
  readonly onError: (error: unknown) => void
  /** Metrics of every batch; undefined: not recorded. */
  readonly watch?: BatchWatch | undefined
}

/**
 * Starts the threads of every lane, but for those that start on demand, and waits until they take batches.
 * @throws the reason of a thread that cannot boot, such as a missing key
 */
export async function openDispatcher({
  boot,
  meter,
  onError,
  watch,
}: DispatcherOptions): Promise<Dispatcher> {
  const sizes = laneSizes(boot.config.workerThreads)
  // The threads of each lane boot from an object of their own, changed in place with each new authority state: a replacement thread
  // boots with the newest.
  const boots = (Object.keys(sizes) as LaneName[]).map((lane) => ({ ...boot, lane }))

  const ports = openThreadPorts(boots, boot.authority, onError)

  const opening = await Promise.allSettled(
    boots.map(
      async (laneBoot) =>
        [
          laneBoot.lane,
          await openLane({
            boot: laneBoot,
            ...sizes[laneBoot.lane],
            meter,
            onReady: ports.add,
            onError,
            watch,
          }),
        ] as const,
    ),
  )
  const opened = opening.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const failure = opening.find((one) => one.status === 'rejected')
  if (failure !== undefined) {
    ports.close()
    await Promise.all(opened.map(([, lane]) => lane.close()))
    throw failure.reason
  }
  const lanes = Object.fromEntries(opened) as Record<LaneName, Lane>
  const all = Object.values(lanes)

  return {
    submit: (submission) =>
      lanes[laneOf(submission.operation, submission.body.byteLength)].submit(submission),
    load() {
      const loads = all.map((lane) => lane.load())
      return {
        waiting: summed(loads.map(({ waiting }) => waiting)),
        running: summed(loads.map(({ running }) => running)),
      }
    },
    executionsWaitedMs: () => Math.max(lanes.execution.waitedMs(), lanes['large-execution'].waitedMs()),
    threads: () => all.reduce((sum, lane) => sum + lane.threads(), 0),
    setAuthority: ports.setAuthority,
    reports: ports.reports,
    pendingEvidence: ports.pendingEvidence,
    evidenceStored: ports.evidenceStored,
    async close() {
      ports.close()
      await Promise.all(all.map((lane) => lane.close()))
    },
  }
}

/** Waiting requests become a batch as soon as a thread may take it. */
const AS_THEY_COME = { fullBatchesPerThread: 0, formMs: 0 }

function laneSizes(workerThreads: number): Record<LaneName, LaneSize> {
  return {
    execution: { threads: workerThreads, ...EXECUTION_BATCHES },
    background: { threads: Math.ceil(workerThreads / 4), batchesPerThread: 6, ...AS_THEY_COME },
    // These two start when they are first needed: a thread takes 50 MB, and many installations never see a large body or a change.
    'large-execution': { threads: 1, batchesPerThread: 2, ...AS_THEY_COME, startsOnDemand: true },
    administration: { threads: 1, batchesPerThread: 4, ...AS_THEY_COME, startsOnDemand: true },
  }
}

function summed(counts: readonly ReadonlyMap<Operation, number>[]): Map<Operation, number> {
  const sums = new Map<Operation, number>()
  for (const [operation, count] of counts.flatMap((one) => [...one]))
    sums.set(operation, (sums.get(operation) ?? 0) + count)
  return sums
}
