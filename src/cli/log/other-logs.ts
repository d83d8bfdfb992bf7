// A proof from one log says nothing about the other logs of a service: each counts its streams anew and has its own ids.

/** @returns the number of `<name>/log/<number>`; undefined for a log of another service, which has no numbers */
export function numberOfLog(origin: string): number | undefined {
  const [, number] = /\/log\/([1-9][0-9]{0,8})$/.exec(origin) ?? []
  return number === undefined ? undefined : Number(number)
}

/**
 * @param origin `<name>/log/<number>`
 * @param asked the `--number` that was given; undefined: the newest log
 * @returns for the end of a sentence, with the options that ask them; undefined where there are none
 */
export function otherLogs(origin: string, asked: number | undefined): string | undefined {
  const number = numberOfLog(origin) ?? 1
  const before = number === 1 ? [] : [number === 2 ? '--number 1' : `--number 1 to --number ${number - 1}`]
  const after = asked === undefined ? [] : [`--number ${number + 1} and higher`]
  const others = [...before, ...after]
  return others.length === 0 ? undefined : `the other logs of the service (${others.join(', and ')})`
}
