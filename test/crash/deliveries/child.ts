// A worker thread that processes the deliveries that wait, and dies where it is told: deliveries.test.ts marks every await of that work.
// CRASH_WORK  JSON: `Work`
// CRASH_LIST  a file that each mark is appended to in the order of time, as points/plan.ts reads it
// CRASH_STOP  JSON: where to die, `Stop`
import { appendFileSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Marks, Moment } from '../points/instrument.ts'
import { END_OF_TURN, type Kill } from '../points/plan.ts'

export interface Work {
  readonly url: string
  readonly keyDir: string
}

export type Stop = Pick<Kill, 'at' | 'nth' | 'when'>

const { CRASH_WORK: workText = '', CRASH_LIST: list, CRASH_STOP: stopText } = process.env
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
const { processWaiting } = await import('./process-waiting.ts')
await processWaiting(work)
// pg-boss keeps timers.
process.exit(0)
