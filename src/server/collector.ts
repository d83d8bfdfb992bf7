// How V8 collects garbage, in all threads (docs/design-notes.md "Performance").
import { setFlagsFromString } from 'node:v8'

/**
 * To be called before the first thread starts: the flags are the process's. The size of the main thread's own young generation is
 * settled by then: it is an argument of the start (package.json), the same.
 */
export function tuneCollector(): void {
  // These two give up some 5 % of the rate to stay under 400 MB at 1,024 connections (docs/design-notes.md has the figures).
  // Twice 32 MB for each thread in place of twice 64. With half of that, what is under way outlives it.
  setFlagsFromString('--max-semi-space-size=32')
  // A full collection when the old generation is that much greater than after the last one. V8 by itself let the door's become four times.
  setFlagsFromString('--heap-growing-percent=60')
  // Objects of a kind that once lived long would be made in the old space from then on. Those of an execution then keep alive all that
  // they point to until a full collection.
  setFlagsFromString('--no-allocation-site-pretenuring')
  // Helpers need a core of their own, and the threads are as many as there are cores. What it brings is not beyond the noise.
  setFlagsFromString('--no-parallel-scavenge')
}
