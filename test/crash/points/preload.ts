// Loaded by `node --import` before the service: its worker threads run executions with every await marked, and stop for good where they
// are told. A thread that has stopped has done what a killed process has done, so one kill of the process kills several executions.
// CRASH_MARKED  the folder of the programs with their awaits marked, as instrument.ts wrote them
// CRASH_LIST  a file that each mark is appended to in the order of time, as plan.ts reads it
// CRASH_STOPS  where to stop: JSON, `Stop[]`
// CRASH_STOPPED  a file that the id of each execution that stopped is appended to
import { AsyncLocalStorage } from 'node:async_hooks'
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { Socket } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { programsIn } from '../../run/programs.ts'
import type { Marks, Moment } from './instrument.ts'
import { END_OF_TURN, type Kill } from './plan.ts'

/** The thread that executes this id stops when it reaches the mark. */
export interface Stop extends Pick<Kill, 'at' | 'nth' | 'when'> {
  readonly id: string
}

const {
  CRASH_MARKED: marked = '',
  CRASH_LIST: list,
  CRASH_STOPS: stopsText,
  CRASH_STOPPED: stopped = '',
} = process.env
const stops = stopsText === undefined ? undefined : (JSON.parse(stopsText) as Stop[])

interface Execution {
  readonly stop: Stop | undefined
  /** How often it has reached the mark. */
  reached: number
}

/** Awaits outside of an execution are those of the thread's other work: they are not counted. */
const executions = new AsyncLocalStorage<Execution>()

/** How often anything came in or went out, over any connection. */
let exchanged = 0
/** Semaphores of the event loop in which something was marked. */
let turn = 0
let endOfTurn: NodeJS.Immediate | undefined

function mark(name: string, moment: Moment): void {
  const execution = executions.getStore()
  if (execution === undefined) return
  const point = `${name}:${moment}`
  if (list !== undefined) append(list, point)
  const { stop } = execution
  if (point !== stop?.at || ++execution.reached !== stop.nth) return
  // What was begun without waiting goes out at the end of the turn, the request of node:http for one.
  if (stop.when === 'end of turn') setImmediate(stopThread, stop)
  else stopThread(stop)
}

/** Nothing more of the thread runs: what it has sent is on its way, as after a kill, and what it has not sent never is. */
function stopThread({ id }: Stop): void {
  appendFileSync(stopped, `${id}\n`)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0)
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
  // A thread is started with an empty batch, which executes nothing.
  __thread: (run) => (task) => {
    if (task.operation !== 'execute' || task.requests.length === 0) return run(task)
    const body = Buffer.from(task.bodies).toString()
    const stop = stops?.find(({ id }) => body.includes(id))
    return executions.run({ stop, reached: 0 }, async () => {
      const replies = await run(task)
      // An execution that finishes later is going to stop this thread: as long as its batch is not done no other gets the thread.
      if (stop !== undefined && replies.replies.length === 0) await new Promise(() => undefined)
      return replies
    })
  },
}

function countExchanges(): void {
  for (const method of ['write', 'push'] as const) {
    const original = Reflect.get(Socket.prototype, method) as (...args: unknown[]) => unknown
    Object.assign(Socket.prototype, {
      [method](this: Socket, ...args: unknown[]) {
        exchanged++
        return Reflect.apply(original, this, args)
      },
    })
  }
}

if (!isMainThread) {
  Object.assign(globalThis, marks)
  if (list !== undefined) countExchanges()
  const programs = programsIn(marked)
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      const url = programs.get(resolved.url)
      return url === undefined ? resolved : { url, format: 'module' }
    },
  })
}
