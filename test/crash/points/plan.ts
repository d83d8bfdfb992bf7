// Which of all the marks a process is killed at: each that differs from the others in what the outside has seen by then.
import type { Kind } from './kinds.ts'

/** A mark as it was reached. */
export interface Reached {
  /** `<file>:<function>:<n>:<moment>` or `END_OF_TURN` */
  readonly point: string
  /** Which turn of the event loop. */
  readonly turn: number
  /** How often anything had come in or gone out. */
  readonly exchanged: number
}

export const END_OF_TURN = '-'

export interface Kill<Of = Kind> {
  readonly kind: Of
  readonly at: string
  /** From 1. */
  readonly nth: number
  /** As soon as it is reached, or with everything under way that was begun in the same turn of the event loop. */
  readonly when: 'at once' | 'end of turn'
}

/** The file of CRASH_LIST. */
export function readMarks(text: string): Reached[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const [point = '', turn, exchanged] = line.split(' ')
      return { point, turn: Number(turn), exchanged: Number(exchanged) }
    })
}

/** The awaits that are marked, `<file>:<function>:<n>`. */
export function awaitsOf(executions: ReadonlyMap<unknown, readonly Reached[]>): Set<string> {
  const points = [...executions.values()].flat().filter(({ point }) => point !== END_OF_TURN)
  return new Set(points.map(({ point }) => awaitOf(point)))
}

/** The await that a mark is of. */
export function awaitOf(point: string): string {
  return point.replace(/:[a-z]+$/, '')
}

/** A stretch, and so many before it, say what the outside has seen of an execution: a COMMIT alone does not say of what. */
const WAY_LENGTH = 2

/**
 * Between marks that nothing has come in or gone out in between, only memory differs, which dies with the process: of each such
 * stretch one is taken, and none of a stretch that was gone over before and come to in the same way, but for the last one of each
 * kind. Whatever that leaves out, every await is killed at.
 */
export function planKills<Of = Kind>(executions: ReadonlyMap<Of, readonly Reached[]>): Kill<Of>[] {
  const kills: Kill<Of>[] = []
  const ways = new Set<string>()
  const awaits = new Set<string>()

  function kill(kind: Of, marks: readonly Reached[], at: Reached, when: Kill['when']): void {
    const before = marks.slice(0, marks.indexOf(at) + 1)
    const nth = before.filter(({ point }) => point === at.point).length
    kills.push({ kind, at: at.point, nth, when })
    awaits.add(awaitOf(at.point))
  }

  for (const [kind, marks] of executions) {
    let last: Reached | undefined
    let way: string[] = []
    const stretches = stretchesOf(marks)
    for (const stretch of stretches) {
      const points = stretch.filter(({ point }) => point !== END_OF_TURN)
      // Something went out after the last mark of the turn: the request of node:http, for one.
      const when = points.length === 0 ? 'end of turn' : 'at once'
      const at = points.find(({ point }) => !awaits.has(awaitOf(point))) ?? points.at(-1) ?? last
      way = [...way, points.map(({ point }) => point).join(' ')].slice(-WAY_LENGTH)
      const isNew = !ways.has(way.join('\n')) || stretch === stretches.at(-1)
      if (at !== undefined && isNew) kill(kind, marks, at, when)
      ways.add(way.join('\n'))
      last = points.at(-1) ?? last
    }
  }
  for (const [kind, marks] of executions)
    for (const mark of marks)
      if (mark.point !== END_OF_TURN && !awaits.has(awaitOf(mark.point))) kill(kind, marks, mark, 'at once')
  return kills
}

function stretchesOf(marks: readonly Reached[]): Reached[][] {
  const stretches: Reached[][] = []
  let last: Reached | undefined
  for (const mark of marks) {
    if (mark.turn !== last?.turn || mark.exchanged !== last.exchanged) stretches.push([])
    stretches.at(-1)?.push(mark)
    last = mark
  }
  return stretches
}
