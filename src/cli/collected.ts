// A repeatable option of the command line.
import { InvalidArgumentError } from 'commander'

/** Not `<action...>`, which would take an argument behind it for one more value. */
export function collected(value: string, earlier: string[] = []): string[] {
  if (value === '') throw new InvalidArgumentError('It is empty.')
  return [...earlier, value]
}
