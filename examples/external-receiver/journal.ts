// The journal keeps what was begun and what was answered, by authorizationId, in a file that survives the process and the machine's power.
import {
  appendFileSync,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  truncateSync,
} from 'node:fs'
import { dirname } from 'node:path'

export interface Journal {
  /** Undefined: never begun. Without an answer: begun, and not ended as far as is known. */
  readonly find: (authorizationId: string) => Entry | undefined
  /** Returns when it is on disk. Throws the file system's error; then the receiver must do nothing. */
  readonly begin: (authorizationId: string) => void
  readonly end: (authorizationId: string, answer: unknown) => void
}

interface Entry {
  readonly answer?: unknown
}

/** One process at a time. Entries are kept for good here; a release is worth nothing five minutes after it was issued. */
export function openJournal(path: string): Journal {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  // A last line without its end was being written when the power went: what it was to allow or to tell did not happen.
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (whole !== text) truncateSync(path, Buffer.byteLength(whole))
  const entries = new Map<string, Entry>()
  for (const line of whole.split('\n').slice(0, -1)) {
    const { authorizationId, ...entry } = JSON.parse(line) as Entry & { authorizationId: string }
    entries.set(authorizationId, entry)
  }
  const file = openSync(path, 'a', 0o600)
  syncFolder(dirname(path))

  function append(authorizationId: string, entry: Entry): void {
    appendFileSync(file, `${JSON.stringify({ authorizationId, ...entry })}\n`)
    fsyncSync(file)
    entries.set(authorizationId, entry)
  }
  return {
    find: (authorizationId) => entries.get(authorizationId),
    begin: (authorizationId) => append(authorizationId, {}),
    end: (authorizationId, answer) => append(authorizationId, { answer }),
  }
}

/** A new file is only there after a power cut when its folder was written too. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
