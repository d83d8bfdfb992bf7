// Loaded into every thread of the service before anything else (`--import`), by the soak alone: writes what only the inside of a
// process can tell, a line every few seconds, to the file that BENCH_PROBE_FILE names.
import { appendFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { threadId } from 'node:worker_threads'

export interface ProbeLine {
  readonly thread: number
  /** Unix milliseconds. */
  readonly at: number
  /** After a full collection, and what the thread holds outside of its heap. */
  readonly heapBytes: number
  readonly externalBytes: number
  /** What the heap has taken from the system, before that collection. */
  readonly committedBytes: number
  /** Of the event loop since the line before, without the collections that were made for this. */
  readonly lagMs: { readonly p50: number; readonly p99: number; readonly max: number }
  /** What keeps the event loop alive, by kind: sockets, timers, requests. */
  readonly handles: Readonly<Record<string, number>>
  /** Warnings of Node since the start, such as that of too many listeners. */
  readonly warnings: readonly string[]
}

const EVERY_MS = 5_000
const LAG_RESOLUTION_MS = 10

const file = process.env['BENCH_PROBE_FILE']
if (file !== undefined) watch(file)

function watch(probeFile: string): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const warnings: string[] = []
  process.on('warning', ({ name, message }) => void warnings.push(`${name}: ${message}`))
  const lag = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS })
  lag.enable()
  const write = () => {
    const ms = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - LAG_RESOLUTION_MS)
    const lagMs = { p50: ms(lag.percentile(50)), p99: ms(lag.percentile(99)), max: ms(lag.max) }
    const { total_physical_size: committedBytes } = getHeapStatistics()
    collect()
    const { used_heap_size: heapBytes, external_memory: externalBytes } = getHeapStatistics()
    const handles: Record<string, number> = {}
    for (const kind of process.getActiveResourcesInfo()) handles[kind] = (handles[kind] ?? 0) + 1
    const line: ProbeLine = {
      thread: threadId,
      at: Date.now(),
      heapBytes,
      externalBytes,
      committedBytes,
      lagMs,
      handles,
      warnings,
    }
    appendFileSync(probeFile, `${JSON.stringify(line)}\n`)
    // The collection held the loop up: counted from when that is over.
    setTimeout(() => lag.reset(), 5 * LAG_RESOLUTION_MS).unref()
  }
  setInterval(write, EVERY_MS).unref()
}
