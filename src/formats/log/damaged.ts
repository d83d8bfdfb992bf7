// The stored log may be damaged, and can then no longer be trusted.
import { errorText } from '../text/error-text.ts'

/** The rows of the log differ from those that were stored. The message is a sentence for the operator, and the log is frozen. */
export class DamagedLog extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DamagedLog'
  }
}

/** Runs `read`; any error means that `what` is damaged. Only for reading stored bytes: an error of our own code would freeze the log. */
export function undamaged<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new DamagedLog(`${what} cannot be read: ${errorText(error)}.`)
  }
}
