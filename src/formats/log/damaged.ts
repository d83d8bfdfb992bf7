// The stored log may be damaged, and cannot be trusted any more.
import { errorText } from '../text/error-text.ts'

/** The rows of the log are not those that were stored: the message is a sentence for the operator, and the log is frozen for it. */
export class DamagedLog extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'DamagedLog'
  }
}

/** Runs `read`, and whatever it throws says that `what` is damaged. Only for reading stored bytes: a mistake of ours would freeze the log. */
export function undamaged<T>(what: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw new DamagedLog(`${what} cannot be read: ${errorText(error)}.`)
  }
}
