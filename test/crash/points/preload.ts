// Loaded by `node --import` before the service: its worker threads run executions with every await marked, and die where they are told.
// CRASH_MARKED  the folder of the modules with their awaits marked, as instrument.ts wrote them
// CRASH_LIST  a file that each mark is appended to in the order of time, as plan.ts reads it
// CRASH_AT    the mark at which the process ends, CRASH_NTH the how manieth time it is reached, CRASH_WHEN as in plan.ts
import { AsyncLocalStorage } from 'node:async_hooks'
import { appendFileSync, readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import type { Marks, Moment } from './instrument.ts'
import { END_OF_TURN } from './plan.ts'

const root = `${pathToFileURL(join(import.meta.dirname, '..', '..', '..')).href}/`
const {
  CRASH_MARKED: marked = '',
  CRASH_LIST: list,
  CRASH_AT: at,
  CRASH_NTH: nth,
  CRASH_WHEN: when,
} = process.env
let left = Number(nth)

/** Awaits outside of an execution are those of the thread's other work: they are not counted. */
const execution = new AsyncLocalStorage<true>()

/** How often anything came in or went out, over any connection. */
let exchanged = 0
/** Semaphores of the event loop in which something was marked. */
let turn = 0
let endOfTurn: NodeJS.Immediate | undefined

function mark(name: string, moment: Moment): void {
  if (execution.getStore() === undefined) return
  const point = `${name}:${moment}`
  if (list !== undefined) append(list, point)
  if (point !== at || --left !== 0) return
  // What was begun without waiting goes out at the end of the turn, the request of node:http for one.
  if (when === 'end of turn') setImmediate(die)
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
  // A thread is started with an empty batch, which executes nothing.
  __thread: (run) => (task) =>
    task.operation === 'execute' && task.requests.length > 0
      ? execution.run(true, () => run(task))
      : run(task),
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
  registerHooks({
    load(url, context, nextLoad) {
      const file = url.startsWith(root) ? url.slice(root.length) : ''
      // To die at one mark, only the file that it is in has to be marked, and where executions begin.
      const isMarked = at === undefined || file === 'workers/thread.ts' || at.startsWith(`${file}:`)
      if (!/^(src|workers)\/.*\.ts$/.test(file) || !isMarked) return nextLoad(url, context)
      return { format: 'module', source: readFileSync(join(marked, file), 'utf8'), shortCircuit: true }
    },
  })
}
