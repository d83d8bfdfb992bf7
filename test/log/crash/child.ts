// An instance that works on the log of a database until it is at rest, and dies where it is told: crash.test.ts marks every await of that work.
// CRASH_LOG  JSON: `Work`
// CRASH_LIST  a file that each mark is appended to in the order of time, as points/plan.ts reads it
// CRASH_STOP  JSON: where to die, `Stop`
import { appendFileSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Marks, Moment } from '../../crash/points/instrument.ts'
import type { RunSizes } from '../../../workers/log/runs.ts'
import { END_OF_TURN, type Kill } from '../../crash/points/plan.ts'

export interface Work {
  readonly url: string
  readonly dataDir: string
  readonly keyDir: string
  /** Milliseconds since 1970 at the first tick. */
  readonly nowMs: number
  /** Smaller ones, so that there is something to do for the runs of ids. */
  readonly runSizes?: RunSizes
}

export type Stop = Pick<Kill, 'at' | 'nth' | 'when'>

/** Enough for each piece of work. What was merged is deleted when a checkpoint has been served for a minute. */
const TICKS_MS = [...Array.from({ length: 8 }, () => 1_000), 61_000, 1_000, 1_000, 1_000]

const { CRASH_LOG: workText = '', CRASH_LIST: list, CRASH_STOP: stopText } = process.env
const work = JSON.parse(workText) as Work
const stop = stopText === undefined ? undefined : (JSON.parse(stopText) as Stop)

/** How often anything came in or went out, and the turn of the event loop: what tells marks apart that the outside can tell apart. */
let [exchanged, turn, reached] = [0, 0, 0]
let endOfTurn: NodeJS.Immediate | undefined

function mark(name: string, moment: Moment): void {
  const point = `${name}:${moment}`
  if (list !== undefined) append(list, point)
  if (point !== stop?.at || ++reached !== stop.nth) return
  if (stop.when === 'end of turn') setImmediate(die)
  else die()
}

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

function append(file: string, point: string): void {
  appendFileSync(file, `${point} ${turn} ${exchanged}\n`)
  endOfTurn ??= setImmediate(() => {
    appendFileSync(file, `${END_OF_TURN} ${turn} ${exchanged}\n`)
    turn++
    endOfTurn = undefined
  })
}

const marks: Marks = {
  __before(name) {
    mark(name, 'before')
    return name
  },
  __begun(name, promise) {
    mark(name, 'begun')
    return promise
  },
  __after(name, value) {
    mark(name, 'after')
    return value
  },
  __items(name, items) {
    mark(name, 'before')
    return items
  },
  __continued(name, continuation) {
    mark(name, 'begun')
    return (value) => {
      mark(name, 'after')
      return continuation(value)
    }
  },
  __thread: (run) => run,
}
Object.assign(globalThis, marks)
for (const method of ['write', 'push'] as const) {
  const original = Reflect.get(Socket.prototype, method) as (...args: unknown[]) => unknown
  Object.assign(Socket.prototype, {
    [method](this: Socket, ...args: unknown[]) {
      exchanged++
      return Reflect.apply(original, this, args)
    },
  })
}
const { openLogWork } = await import('../../../workers/log/index.ts')
const { readLogKeys } = await import('../../../src/core/signing/log-keys.ts')
const { readLogStatus } = await import('../../../src/core/tables/log-state.ts')
const { openPool } = await import('../../../src/core/tables/sql.ts')

let { nowMs } = work
const pool = openPool(work.url, 4)
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
