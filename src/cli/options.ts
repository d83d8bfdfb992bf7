// Options of several commands, and what they are read by.
import { InvalidArgumentError, Option } from 'commander'

/** `--url`, else the variable COUNTERSIGN_URL, else a service on this machine. */
export const serviceUrl = () =>
  new Option('--url <address>', 'base address of the service')
    .env('COUNTERSIGN_URL')
    .default('http://127.0.0.1:3000')

export const apiKey = (description: string, name = '--key') =>
  new Option(`${name} <key>`, description).env('COUNTERSIGN_API_KEY')

export const problemsAsJson = () =>
  new Option('--json', 'print each problem and the summary as a line of JSON')

export const limitOption = () =>
  new Option('--limit <count>', 'at most so many').argParser(wholeNumber).default(100)

function wholeNumber(value: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(value)) throw new InvalidArgumentError('It must be from 1 to 999999.')
  return Number(value)
}

/** Reads an option that may be repeated. Not `<action...>`, which would take an argument behind it for one more value. */
export function collected(value: string, earlier: string[] = []): string[] {
  if (value === '') throw new InvalidArgumentError('It is empty.')
  return [...earlier, value]
}

/** For `exitOverride`: commander would exit 1, which a script must be able to read as "something is wrong". */
export function exitUsageError({ exitCode }: { exitCode: number }): never {
  process.exit(exitCode === 0 ? 0 : 2)
}
