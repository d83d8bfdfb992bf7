// Marked awaits call this (instrument.ts): it writes each mark to a list, and has whoever reaches the right one die there.
import { appendFileSync } from 'node:fs'
import { Socket } from 'node:net'
import type { Marks, Moment } from './instrument.ts'
import { END_OF_TURN, type Kill } from './plan.ts'

/** Where to die. */
export type Stop = Pick<Kill, 'at' | 'nth' | 'when'>

/** The marks of one run are counted together. */
export interface Run<Of extends Stop = Stop> {
  readonly stop: Of | undefined
  /** How often it has reached the mark. */
  reached: number
}

export interface Recording<Of extends Stop> {
  /** A file that each mark is appended to in the order of time, as plan.ts reads it. */
  readonly list: string | undefined
  /** The run whose mark it is; undefined: it is not counted. */
  readonly current: () => Run<Of> | undefined
  /** Called where `stop` says. Nothing of the thread runs after it. */
  readonly die: (stop: Of) => void
  readonly thread?: Marks['__thread']
}

/** Defines the functions that marked awaits call, for this thread. */
export function recordMarks<Of extends Stop>(recording: Recording<Of>): void {
  const { list, current, die, thread = (run) => run } = recording
  const write = list === undefined ? undefined : openList(list)

  function mark(name: string, moment: Moment): void {
    const run = current()
    if (run === undefined) return
    const point = `${name}:${moment}`
    write?.(point)
    const { stop } = run
    if (point !== stop?.at || ++run.reached !== stop.nth) return
    // Work that was begun without waiting goes out at the end of the turn, the request of node:http for one.
    if (stop.when === 'end of turn') setImmediate(die, stop)
    else die(stop)
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
    __thread: thread,
  }
  Object.assign(globalThis, marks)
}

/**
 * Records a process of one run, which kills itself. Call it before anything marked is imported.
 * CRASH_LIST  `list` of `Recording`
 * CRASH_STOP  JSON: where to die, `Stop`
 */
export function recordProcess(): void {
  const { CRASH_LIST: list, CRASH_STOP: stop } = process.env
  const run: Run = { stop: stop === undefined ? undefined : (JSON.parse(stop) as Stop), reached: 0 }
  recordMarks({ list, current: () => run, die: () => process.kill(process.pid, 'SIGKILL') })
}

/** @returns appends a mark, with what tells it apart for the outside: the turn of the event loop, and how often anything came in or went out */
function openList(file: string): (point: string) => void {
  let [exchanged, turn] = [0, 0]
  let endOfTurn: NodeJS.Immediate | undefined
  for (const method of ['write', 'push'] as const) {
    const original = Reflect.get(Socket.prototype, method) as (...args: unknown[]) => unknown
    Object.assign(Socket.prototype, {
      [method](this: Socket, ...args: unknown[]) {
        exchanged++
        return Reflect.apply(original, this, args)
      },
    })
  }
  return (point) => {
    appendFileSync(file, `${point} ${turn} ${exchanged}\n`)
    endOfTurn ??= setImmediate(() => {
      appendFileSync(file, `${END_OF_TURN} ${turn} ${exchanged}\n`)
      turn++
      endOfTurn = undefined
    })
  }
}
