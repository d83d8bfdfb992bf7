// How V8 collects its young generation, in all threads (docs/design-notes.md "What fast means here").
import { setFlagsFromString } from 'node:v8'

/** To be called before the first thread starts: the flags are the process's. */
export function tuneCollector(): void {
  // Objects of a kind that once lived long would be made in the old space from then on. Those of an execution then keep alive all that
  // they point to until a full collection: 9 to 15 KB of each that has long been answered, to be copied and marked.
  setFlagsFromString('--no-allocation-site-pretenuring')
  // Helpers need a core of their own, and the threads are as many as there are cores. What it brings is not beyond the noise.
  setFlagsFromString('--no-parallel-scavenge')
}
