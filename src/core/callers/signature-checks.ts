// Who has signatures checked: each client waits for its own, so that invented tokens and proofs hold up nobody else's.
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import { openPerClient, type PerClient } from '../concurrency/per-client.ts'

/** Signatures are checked on the threads that files and name lookups use too: most of them stay free. */
const AT_ONCE = 2
/** Of one client: another one's token is next where a client has sent a thousand. */
const OF_A_CLIENT = 1
/** A client whose signatures do not hold has this part of one thread's time. */
export const FAILED_SHARE = 5

/**
 * @returns a function that checks a signature when it is its client's turn. After one that does not hold the client's next one waits four
 *   times as long as it took: what is sent by mistake, or to do harm, takes no more than a fifth of a thread
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
