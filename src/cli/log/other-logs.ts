// A proof from one log says nothing about the other logs of a service: each counts its streams anew and has its own ids.
import { readOrigin } from '../../formats/log/origin.ts'

/** @returns the path of a log at its service; without a number, of the newest */
export function logPath(number: number | undefined): string {
  return number === undefined ? '/log' : `/log/${number}`
}

/**
 * @param origin `<name>/log/<number>`
 * @param asked the `--number` that was given; undefined: the newest log
 * @returns the end of a sentence, with the options that ask the other logs; undefined where there are none
 */
export function otherLogs(origin: string, asked: number | undefined): string | undefined {
  const number = readOrigin(origin)?.number ?? 1
  const before = number === 1 ? [] : [number === 2 ? '--number 1' : `--number 1 to --number ${number - 1}`]
  const after = asked === undefined ? [] : [`--number ${number + 1} and higher`]
  const others = [...before, ...after]
  return others.length === 0 ? undefined : `the other logs of the service (${others.join(', and ')})`
}
