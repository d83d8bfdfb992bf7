// Options that several commands share.
import { InvalidArgumentError } from 'commander'
import { byDefault, flag, optional, parsed } from './command.ts'

/** `--url`, else the variable COUNTERSIGN_URL, else a service on this machine. */
export const serviceUrl = byDefault(
  'http://127.0.0.1:3000',
  optional('<address>', 'base address of the service', (option) => option.env('COUNTERSIGN_URL')),
)

export const apiKey = (about: string) =>
  optional('<key>', about, (option) => option.env('COUNTERSIGN_API_KEY'))

/** A profile can hold this address and this key instead; it takes precedence over the two variables. */
export const asPerson = {
  profile: optional(
    '<file>',
    'address and keys, such as mine/humans/dana.json; before COUNTERSIGN_URL and COUNTERSIGN_API_KEY',
  ),
  url: optional('<address>', 'base address of the service; http://127.0.0.1:3000 by default', (option) =>
    option.env('COUNTERSIGN_URL'),
  ),
  apiKey: apiKey('your API key'),
}

export const stepUpKeyId = byDefault('step-up', optional('<id>', 'name of the key, for information only'))

export const problemsAsJson = flag('print each problem and the summary as a line of JSON')

export const limit = byDefault(100, parsed(wholeNumber, '<count>', 'print at most this many'))

function wholeNumber(value: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(value)) throw new InvalidArgumentError('It must be from 1 to 999999.')
  return Number(value)
}

export const port = (about: string) => parsed(portNumber, '<port>', about)

function portNumber(value: string): number {
  if (!/^[1-9][0-9]{0,4}$/.test(value) || Number(value) > 65_535)
    throw new InvalidArgumentError('It must be from 1 to 65535.')
  return Number(value)
}

/** For `exitOverride`: commander would exit 1, which a script must be able to read as "something is wrong". */
export function exitUsageError({ exitCode }: { exitCode: number }): never {
  process.exit(exitCode === 0 ? 0 : 2)
}
