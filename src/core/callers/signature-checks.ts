// Limits signature checks per client: each client waits for its own checks, so that invented tokens and proofs delay no other client.
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import { openPerClient, type PerClient } from '../concurrency/per-client.ts'

/** Signatures are checked on the threads that also serve files and name lookups: most of these threads stay free. */
const AT_ONCE = 2
/** Checks at once per client: after a client has sent a thousand tokens, another client's token is next. */
const OF_A_CLIENT = 1
/** A client with invalid signatures gets one part in this many of one thread's time. */
export const FAILED_SHARE = 5

/**
 * @returns a function that checks a signature when its client's turn comes. After an invalid signature the client's next check waits four
 *   times as long as that check took: mistakes and attacks take no more than a fifth of a thread
 */
export function openSignatureChecks(): PerClient {
  const atOnce = pLimit(AT_ONCE)
  const perClient = openPerClient(OF_A_CLIENT)
  return (client, check) =>
    perClient(client, async () => {
      let startedMs = 0
      try {
        return await atOnce(() => {
          startedMs = performance.now()
          return check()
        })
      } catch (error) {
        await delay((performance.now() - startedMs) * (FAILED_SHARE - 1))
        throw error
      }
    })
}
