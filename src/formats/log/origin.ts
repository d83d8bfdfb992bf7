// The origin of a log of this service, `<name>/log/<number>`. The successor of a closed log has the next number.

/** @returns undefined for a log of another service, whose origin may be any text */
export function readOrigin(origin: string): { readonly name: string; readonly number: number } | undefined {
  const [, name, number] = /^(.+)\/log\/([1-9][0-9]{0,8})$/.exec(origin) ?? []
  return name === undefined ? undefined : { name, number: Number(number) }
}
