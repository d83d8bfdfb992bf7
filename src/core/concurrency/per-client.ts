// A concurrency limit for each client: further work of a client waits, and other clients do not wait for it.
import pLimit, { type LimitFunction } from 'p-limit'

export type PerClient = <T>(client: string, work: () => Promise<T>) => Promise<T>

/** @returns a function that runs at most `atOnce` pieces of work of each client at once */
export function openPerClient(atOnce: number): PerClient {
  const clients = new Map<string, { readonly limit: LimitFunction; count: number }>()
  return async (client, work) => {
    let own = clients.get(client)
    if (own === undefined) clients.set(client, (own = { limit: pLimit(atOnce), count: 0 }))
    own.count++
    try {
      return await own.limit(work)
    } finally {
      own.count--
      if (own.count === 0) clients.delete(client)
    }
  }
}
