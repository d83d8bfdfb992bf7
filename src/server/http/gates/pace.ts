// The pace of a client without a key: its requests wait for each other, so that other clients do not wait for them.
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import { isAddress } from './client.ts'
import { READ_MS_PER_BYTE } from './compute.ts'
import { openPerClient } from '../../../core/concurrency/per-client.ts'
import { bounds } from './index.ts'

export interface Pace {
  /** Resolves when a request may go on: a few requests of an address in each turn of the event loop. */
  readonly request: (client: string) => Promise<void>
  /** Resolves when a body may be read: large bodies of an address one after the other, with pauses. Undefined: at once. */
  readonly body: (client: string, bytes: number) => Promise<void> | undefined
}

export function openPace(): Pace {
  const requests = openPerClient(bounds.addressRequestsPerTurn)
  const bodies = openPerClient(1)
  return {
    async request(client) {
      if (isAddress(client)) await requests(client, () => nextTurn())
    },
    body(client, bytes) {
      if (!isAddress(client) || bytes <= bounds.smallBodyBytes) return undefined
      const { promise, resolve } = Promise.withResolvers<void>()
      // The pause depends on the length alone: a body that its client withholds keeps no other from being read.
      void bodies(client, () => {
        resolve()
        return delay(bounds.addressReadShare * READ_MS_PER_BYTE * bytes, undefined, { ref: false })
      })
      return promise
    },
  }
}
