// Values of the command line: each parser says of a wrong one what it must be, and commander names the option.
import { InvalidArgumentError } from 'commander'
import { errorText } from '../src/formats/text/error-text.ts'
import type { Stage } from './pace.ts'
import { readTransactions } from './transaction.ts'

export function number(min: number, max: number, form = /^[\d.e]+$/) {
  return (text: string) => {
    const value = form.test(text) ? Number(text) : Number.NaN
    if (!(value >= min && value <= max))
      throw new InvalidArgumentError(
        `must be a ${form === WHOLE_NUMBER ? 'whole ' : ''}number from ${min} to ${max}.`,
      )
    return value
  }
}

const WHOLE_NUMBER = /^\d+$/
export const whole = (min: number, max: number) => number(min, max, WHOLE_NUMBER)

export function list(of: (text: string) => number) {
  return (text: string) => text.split(',').map(of)
}

/** `200`, `10..500`, or several of them separated by commas. */
export function stages(text: string): Stage[] {
  const rate = number(0.1, 1e6)
  return text.split(',').map((stage) => {
    const [from = '', to, ...more] = stage.split('..')
    if (more.length > 0) throw new InvalidArgumentError('a ramp has two ends, as 10..500.')
    if (to === undefined) return { from: rate(from), to: rate(from) }
    // From or to a standstill.
    const ends = [from, to].map((end) => (end === '0' ? 0 : rate(end)))
    if (ends.every((end) => end === 0)) throw new InvalidArgumentError('a ramp from 0 to 0 sends nothing.')
    return { from: ends[0]!, to: ends[1]! }
  })
}

/** @throws Error that does not quote a key */
export function keysOf(text: string): string[] {
  const keys = text.split(',').map((key) => key.trim())
  const wrong = keys.findIndex((key, i) => !/^[!-~]+$/.test(key) || keys.indexOf(key) < i)
  if (wrong < 0) return keys
  throw new Error(`--key: number ${wrong + 1} of ${keys.length} is no API key, or stands there twice`)
}

export function transactions(file: string) {
  try {
    return readTransactions(file)
  } catch (error) {
    throw new InvalidArgumentError(errorText(error))
  }
}

export function jsonObject(text: string): object {
  if (!/^\s*\{/.test(text)) throw new InvalidArgumentError('must be a JSON object.')
  try {
    return JSON.parse(text) as object
  } catch (error) {
    throw new InvalidArgumentError(`must be a JSON object: ${errorText(error)}.`)
  }
}
