// The body of a request, from its head until the request is answered: it takes a place in memory when all of it is there.
import { setTimeout as delay } from 'node:timers/promises'
import { failures, Failure } from '../../core/errors.ts'
import type { Admission } from './admission.ts'
import { isAddress, READ_MS_PER_BYTE, type Compute } from './compute.ts'
import type { HttpRequest } from './listen/listener.ts'
import { DISCARD_BYTES_MAX } from './listen/serve-request.ts'
import { openTurns } from './reads.ts'

/** A body that has arrived; `leave` gives its place back. */
interface Received {
  readonly body: Uint8Array
  readonly leave: () => void
}

/** A smaller body is thrown away whoever sends it, which costs no more than another connection. */
const SMALL_BYTES = 128 * 1024
/** Reading the large bodies of one address takes the main thread at most this part of its time. */
const ADDRESS_SHARE = 5

export const NO_BODY: Received = { body: new Uint8Array(0), leave: () => undefined }

/** Undefined: the client went away first. A body takes its place when all of it is there. */
export type Receive = (request: HttpRequest, client: string) => Promise<Received | Failure | undefined>

/** @returns a function that is called before the first `await` of a request */
export function openReceive(admission: Admission): Receive {
  const turns = openTurns(1)

  return async (request, client) => {
    const { bodyBytes } = request
    const announced = admission.announce(bodyBytes, client)
    if (typeof announced === 'string') {
      // Not charged: a provider whose deliveries are valid sends it again.
      if (bodyBytes > SMALL_BYTES) request.leaveBody()
      return failures.overloaded(announced)
    }
    const turn = isAddress(client) && bodyBytes > SMALL_BYTES ? turnOf(client, bodyBytes) : undefined
    const reading = request.readBody(turn)
    await turn
    const body = await reading
    if (body === undefined) {
      announced.aborted()
      return undefined
    }
    const leave = announced.arrived()
    return typeof leave === 'string' ? failures.overloaded(leave) : { body, leave }
  }

  /**
   * Resolves when the body may be read. How long the next one of the address waits then depends on the length alone: a client that withholds
   * its body keeps no other from being read.
   */
  function turnOf(client: string, bytes: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    void turns(client, () => {
      resolve()
      return delay(ADDRESS_SHARE * READ_MS_PER_BYTE * bytes, undefined, { ref: false })
    })
    return promise
  }
}

/**
 * For a body that nobody wants. It is thrown away, so that its client gets the refusal for certain, while the client can pay for that: a body of 1 MB
 * takes as long to throw away as to read. Called before the first `await`.
 */
export function refuseBody(request: HttpRequest, client: string, compute: Compute): void {
  const { bodyBytes } = request
  if (bodyBytes <= SMALL_BYTES) return
  if (bodyBytes <= DISCARD_BYTES_MAX && compute.look('compute', client).verdict.allowed)
    compute.chargeBody('compute', client, bodyBytes)
  else request.leaveBody()
}

/** For a request that was refused while its body was still read. */
export async function giveBack(receiving: Promise<Received | Failure | undefined>): Promise<void> {
  const received = await receiving
  if (received !== undefined && !(received instanceof Failure)) received.leave()
}
