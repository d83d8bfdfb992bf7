// The calls that have not ended (waiting for a human, running, or in doubt), and those whose outcome nobody was told. An equal call goes on with one of
// them, also after this process was killed.
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

/** A call by what makes two calls equal: the hash of the client, tool, its hash and its arguments. */
export interface OpenCall {
  readonly key: string
  /** Whose call it is. */
  readonly caller: string
  readonly transaction: SubmittedTransaction
}

export interface OpenCalls {
  readonly byKey: (key: string) => OpenCall | undefined
  readonly byId: (businessTransactionId: string) => OpenCall | undefined
  /** The open calls of a caller, the oldest first. */
  readonly ofCaller: (caller: string) => readonly OpenCall[]
  /** Remembers a call before it is sent. */
  readonly begin: (call: OpenCall) => void
  readonly end: (call: OpenCall) => void
  /** Leaves the file to another process: nothing is written from now on. */
  readonly close: () => void
}

/** A line of the file: a call that was begun, or the businessTransactionId of one that has ended. */
type Line = { readonly begun: OpenCall } | { readonly ended: string }

/** Lines of calls that have ended, before the file is written anew without them. */
const ENDED_LINES_MAX = 10_000

/**
 * The open calls of a file, of one process at a time. A call is a line when it begins and one when it ends: a file that is written anew for each costs
 * three times what the call itself takes. A process that is killed has written what it said; the lines are not forced to the disk: after a loss of power
 * an equal call is a new one, and the service and the journal still know the old one.
 * @param path made where there is none
 * @throws Error that names the line, where one before the last cannot be read
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

  /** Whether the last line may be there in part: nothing may be written behind it. */
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

  /** A process that is killed leaves the whole file of before or of after. */
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
        // It has ended all the same. The next process asks the service once more, and the next call here is told that the file cannot be written.
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

/** A last line without its end was being written when the power went. */
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
