// Stores calls that have not ended (waiting for a human, running, or in doubt), and calls whose outcome was not delivered. An equal call continues
// the stored call, also after this process was killed.
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import type { Schemas } from '../../clients/typescript/src/index.ts'

type SubmittedTransaction = Schemas['SubmittedTransaction']

/** A call with the key that equal calls share: the hash of the client, the tool, the tool's hash and the arguments. */
export interface OpenCall {
  readonly key: string
  /** The caller that made the call. */
  readonly caller: string
  readonly transaction: SubmittedTransaction
}

export interface OpenCalls {
  readonly byKey: (key: string) => OpenCall | undefined
  readonly byId: (businessTransactionId: string) => OpenCall | undefined
  /** The open calls of a caller, oldest first. */
  readonly ofCaller: (caller: string) => readonly OpenCall[]
  /** Remembers a call before it is sent. */
  readonly begin: (call: OpenCall) => void
  readonly end: (call: OpenCall) => void
  /** Leaves the file to another process: nothing is written from now on. */
  readonly close: () => void
}

/** A line of the file: a call that has begun, or the businessTransactionId of a call that has ended. */
type Line = { readonly begun: OpenCall } | { readonly ended: string }

/** How many lines of ended calls the file may hold before it is rewritten without them. */
const ENDED_LINES_MAX = 10_000

/**
 * Opens the file of open calls, which one process uses at a time. A call adds one line when it begins and one when it ends: rewriting the file for
 * each call would cost three times as much as the call itself. A killed process loses no written line. The lines are not forced to the disk: after a
 * power loss an equal call is a new call, and the service and the journal still know the old call.
 * @param path created if it does not exist
 * @throws Error that names the line, where a line before the last cannot be read
 */
export function openCallsIn(path: string): OpenCalls {
  const byKey = new Map<string, OpenCall>()
  const byId = new Map<string, OpenCall>()
  let isClosed = false

  function take(line: Line): void {
    if ('begun' in line) {
      byKey.set(line.begun.key, line.begun)
      byId.set(line.begun.transaction.businessTransactionId, line.begun)
      return
    }
    const call = byId.get(line.ended)
    byId.delete(line.ended)
    // A later call may have the key by now.
    if (call !== undefined && byKey.get(call.key) === call) byKey.delete(call.key)
  }

  let lines = readLines(path)
  for (const line of lines) take(line)
  let count = lines.length
  lines = []
  let file = openSync(path, 'a', 0o600)

  /** Whether the last line may be incomplete: then nothing may be appended to it. */
  let isTorn = false

  function write(line: Line): void {
    if (isTorn || count - byId.size > ENDED_LINES_MAX) writeAnew()
    const text = Buffer.from(textOf(line))
    isTorn = true
    if (writeSync(file, text) !== text.length)
      throw new Error(`${path} was written in part: the disk is full.`)
    isTorn = false
    count++
  }

  /** Rewrites the file. A killed process leaves either the whole old file or the whole new file. */
  function writeAnew(): void {
    writeFileSync(`${path}.draft`, Array.from(byId.values(), (begun) => textOf({ begun })).join(''), {
      mode: 0o600,
    })
    renameSync(`${path}.draft`, path)
    closeSync(file)
    file = openSync(path, 'a', 0o600)
    count = byId.size
    isTorn = false
  }

  return {
    byKey: (key) => byKey.get(key),
    byId: (id) => byId.get(id),
    ofCaller: (caller) => [...byId.values()].filter((call) => call.caller === caller),
    begin(call) {
      if (isClosed) throw new Error('The gateway has closed.')
      write({ begun: call })
      take({ begun: call })
    },
    end({ transaction: { businessTransactionId: ended } }) {
      // The call stays open for the process that has the file now.
      if (isClosed || !byId.has(ended)) return
      take({ ended })
      try {
        write({ ended })
      } catch {
        // The call has ended anyway. The next process asks the service again, and the next call here fails, because the file cannot be written.
      }
    },
    close() {
      if (isClosed) return
      isClosed = true
      closeSync(file)
    },
  }
}

const textOf = (line: Line) => `${JSON.stringify(line)}\n`

/** Reads the lines, and cuts off an incomplete last line, which was being written when the power failed. */
function readLines(path: string): Line[] {
  if (!existsSync(path)) return []
  const bytes = readFileSync(path)
  const end = bytes.lastIndexOf('\n') + 1
  if (end !== bytes.length) truncateSync(path, end)
  return bytes
    .toString('utf8', 0, end)
    .split('\n')
    .slice(0, -1)
    .map((text, i) => {
      try {
        return JSON.parse(text) as Line
      } catch (cause) {
        throw new Error(`Line ${i + 1} of ${path} cannot be read.`, { cause })
      }
    })
}
