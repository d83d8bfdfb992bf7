// A check that is impossible differs from one that fails: a command exits 2 for the first, and 1 for the second.
import { errorText } from '../formats/text/error-text.ts'
import { printable } from '../formats/text/printable.ts'
import { LogKeyNotGiven } from '../formats/verifier/log-trust.ts'

export class CannotCheck extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'CannotCheck'
  }
}

/** Prints why something cannot be checked. @returns the exit code */
export function sayCannotCheck(error: unknown): 2 {
  const fullStop = error instanceof LogKeyNotGiven ? '.' : ''
  console.error(`countersign: ${printable(errorText(error))}${fullStop}`)
  return 2
}
