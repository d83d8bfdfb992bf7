// What is proven of one log says nothing of the others that a service has had: each counts its streams anew and has its own ids.

/** @param origin `<name>/log/<number>` */
export function numberOf(origin: string): number {
  return Number(/\/log\/([1-9][0-9]{0,8})$/.exec(origin)?.[1] ?? 1)
}

/**
 * @param origin `<name>/log/<number>`
 * @param asked the `--number` that was given; undefined: the newest log
 * @returns for the end of a sentence, with the options that ask them; undefined where there are none
 */
export function otherLogs(origin: string, asked: number | undefined): string | undefined {
  const number = numberOf(origin)
  const before = number === 1 ? [] : [number === 2 ? '--number 1' : `--number 1 to --number ${number - 1}`]
  const after = asked === undefined ? [] : [`--number ${number + 1} and higher`]
  const others = [...before, ...after]
  return others.length === 0 ? undefined : `the other logs of the service (${others.join(', and ')})`
}
