// What the collector's settings do, seen in a process of its own: flags of V8 are the process's.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { npmStartArguments } from '../bench/npm-start.ts'

const collector = pathToFileURL(join(import.meta.dirname, '..', 'src', 'server', 'collector.ts')).href

/** Keeps so much for a while that V8 makes the young generation as large as it may: of a main thread, and of one started from it. */
const PROGRAM = `
  import { getHeapSpaceStatistics } from 'node:v8'
  import { isMainThread, Worker } from 'node:worker_threads'
  const { tuneCollector } = await import(${JSON.stringify(collector)})
  if (isMainThread && process.env.TUNED === 'yes') tuneCollector()
  const youngMB = () => getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 21
  const awaitedMB = JSON.parse(process.env.AWAITED_MB)[isMainThread ? 0 : 1]
  const kept = []
  // When V8 makes it larger is its own matter, and no time: longer than it mostly takes, or until it has.
  for (let i = 0; i < 1_200 || (youngMB() < awaitedMB && i < 50_000); i++) {
    kept.push(Array.from({ length: 20_000 }, (_, member) => ({ member })))
    if (kept.length > 60) kept.shift()
  }
  if (isMainThread) new Worker(new URL(import.meta.url))
`

/**
 * in   awaitedMB  how large it is to become in each before the program ends; 0 for as large as it gets
 * out  half of the young generation at its largest, in MB: of the main thread and of the other
 */
function youngMB(tuned: 'yes' | 'no', nodeArguments: readonly string[], awaitedMB = [0, 0]): number[] {
  const program = `await import(${JSON.stringify(`data:text/javascript,${encodeURIComponent(PROGRAM)}`)})`
  const collections = execFileSync(
    process.execPath,
    ['--trace-gc-nvp', ...nodeArguments, '--input-type=module', '--eval', program],
    {
      encoding: 'utf8',
      env: { ...process.env, TUNED: tuned, AWAITED_MB: JSON.stringify(awaitedMB), NODE_OPTIONS: '' },
      maxBuffer: 64 * 1024 * 1024,
    },
  )
  return ['0', '1'].map((thread) => {
    const bytes = collections.matchAll(new RegExp(`:${thread}\\] .* new_space_capacity=(\\d+)`, 'g'))
    return Math.max(...Array.from(bytes, ([, capacity]) => Number(capacity))) / 1024 / 1024
  })
}

test('the young generation of each thread stays at 32 MB, where V8 would take more', () => {
  expect(youngMB('yes', npmStartArguments)).toEqual([32, 32])
  // What V8 allows itself on a machine with memory enough, whatever this one has.
  expect(youngMB('no', ['--max-semi-space-size=64'], [64, 64])).toEqual([64, 64])
})

test('a thread is bounded however the service was started', () => {
  expect(youngMB('yes', ['--max-semi-space-size=64'], [64, 32])).toEqual([64, 32])
})
