// The value of an option such as --limit.
import { InvalidArgumentError } from 'commander'

/** @throws InvalidArgumentError unless it is from 1 to 999999 */
export function wholeNumber(value: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(value)) throw new InvalidArgumentError('It must be from 1 to 999999.')
  return Number(value)
}
