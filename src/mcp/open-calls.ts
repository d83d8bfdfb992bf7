// The calls that have not ended (waiting for a human, running, or in doubt), and those whose outcome nobody was told. An equal call goes on with one of them, also after this process was killed.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
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
  /** Remembers a call before it is sent. */
  readonly begin: (call: OpenCall) => void
  readonly end: (call: OpenCall) => void
  /** Leaves the file to another process: nothing is written from now on. */
  readonly close: () => void
}

/**
 * The open calls of a file, of one process at a time.
 * @param path made with the first call
 * @throws Error where the file is not one that this function wrote
 */
export function openCallsIn(path: string): OpenCalls {
  const calls = new Map<string, OpenCall>()
  let isClosed = false
  if (existsSync(path))
    for (const call of JSON.parse(readFileSync(path, 'utf8')) as OpenCall[]) calls.set(call.key, call)

  /**
   * A process that is killed leaves the whole file of before or of after. It is not forced to the disk: after a loss of power an equal call
   * is a new one, and the service and the journal still know the old one.
   */
  function write(): void {
    writeFileSync(`${path}.draft`, JSON.stringify([...calls.values()]), { mode: 0o600 })
    renameSync(`${path}.draft`, path)
  }

  return {
    byKey: (key) => calls.get(key),
    byId: (id) => [...calls.values()].find(({ transaction }) => transaction.businessTransactionId === id),
    begin(call) {
      if (isClosed) throw new Error('The gateway has closed.')
      calls.set(call.key, call)
      write()
    },
    end({ key, transaction }) {
      // What another process has written since would be lost. The call stays open there.
      if (isClosed) return
      // A later call may have the key by now.
      if (calls.get(key)?.transaction.businessTransactionId !== transaction.businessTransactionId) return
      calls.delete(key)
      write()
    },
    close() {
      isClosed = true
    },
  }
}
