// Loaded by `node --import` before the service: its worker threads run executions with every await marked, and stop for good where they
// are told. A thread that has stopped has done what a killed process has done, so one kill of the process kills several executions.
// CRASH_MARKED  the folder of the programs with their awaits marked, as instrument.ts wrote them
// CRASH_LIST  `list` of `Recording`
// CRASH_STOPS  where to stop: JSON, `Stop[]`
// CRASH_STOPPED  a file that the id of each execution that stopped is appended to
import { AsyncLocalStorage } from 'node:async_hooks'
import { appendFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { isMainThread } from 'node:worker_threads'
import { programsIn } from '../../run/programs.ts'
import type { Marks } from './instrument.ts'
import { recordMarks, type Run, type Stop as StopAt } from './record.ts'

/** The thread that executes this id stops when it reaches the mark. */
export interface Stop extends StopAt {
  readonly id: string
}

const {
  CRASH_MARKED: marked = '',
  CRASH_LIST: list,
  CRASH_STOPS: stopsText,
  CRASH_STOPPED: stopped = '',
} = process.env
const stops = stopsText === undefined ? undefined : (JSON.parse(stopsText) as Stop[])

/** Awaits outside of an execution are those of the thread's other work: they are not counted. */
const executions = new AsyncLocalStorage<Run<Stop>>()

/** Nothing more of the thread runs: what it has sent is on its way, as after a kill, and what it has not sent never is. */
function stopThread({ id }: Stop): void {
  appendFileSync(stopped, `${id}\n`)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0)
}

/** A thread is started with an empty batch, which executes nothing. */
const runThread: Marks['__thread'] = (run) => (task) => {
  if (task.operation !== 'execute' || task.requests.length === 0) return run(task)
  const body = Buffer.from(task.bodies).toString()
  const stop = stops?.find(({ id }) => body.includes(id))
  return executions.run({ stop, reached: 0 }, async () => {
    const replies = await run(task)
    // An execution that finishes later is going to stop this thread: as long as its batch is not done no other gets the thread.
    if (stop !== undefined && replies.replies.length === 0) await new Promise(() => undefined)
    return replies
  })
}

if (!isMainThread) {
  recordMarks({ list, current: () => executions.getStore(), die: stopThread, thread: runThread })
  const programs = programsIn(marked)
  registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      const url = programs.get(resolved.url)
      return url === undefined ? resolved : { url, format: 'module' }
    },
  })
}
