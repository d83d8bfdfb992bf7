// Some things cannot be checked, as against being wrong: a command exits 2 for these, and 1 for the others.
import { errorText } from '../core/error-text.ts'
import { printable } from '../core/printable.ts'
import { LogKeyNotGiven } from '../core/verifier/log-trust.ts'

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
