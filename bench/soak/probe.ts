// Loaded into every thread of the service before anything else (`--import`), by the soak alone: writes figures that only the inside of a
// process knows, a line every few seconds, to the file that BENCH_PROBE_FILE names.
import { appendFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { threadId } from 'node:worker_threads'

export interface ProbeLine {
  readonly thread: number
  /** Unix milliseconds. */
  readonly at: number
  /** The heap after a full collection, and the memory that the thread holds outside of it. */
  readonly bytes: number
  /** Delay of the event loop since the line before, without the collections that were made for this. */
  readonly delayMs: { readonly p99: number; readonly max: number }
  /** Warnings of Node since the start, such as that of too many listeners. */
  readonly warnings: readonly string[]
}

const EVERY_MS = 5_000
const RESOLUTION_MS = 10

const file = process.env['BENCH_PROBE_FILE']
if (file !== undefined) watch(file)

function watch(probeFile: string): void {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const warnings: string[] = []
  process.on('warning', ({ name, message }) => void warnings.push(`${name}: ${message}`))
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delay.enable()
  const write = () => {
    const ms = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)
    const delayMs = { p99: ms(delay.percentile(99)), max: ms(delay.max) }
    collect()
    const { used_heap_size: heap, external_memory: external } = getHeapStatistics()
    const line: ProbeLine = { thread: threadId, at: Date.now(), bytes: heap + external, delayMs, warnings }
    appendFileSync(probeFile, `${JSON.stringify(line)}\n`)
    // The collection held the event loop up, so the delay is counted from its end.
    setTimeout(() => delay.reset(), 5 * RESOLUTION_MS).unref()
  }
  setInterval(write, EVERY_MS).unref()
}
