// The body of a request, from its head until the request is answered: it takes a place in memory when all of it is there.
import { failures, Failure } from '../../core/errors.ts'
import type { Admission } from './admission.ts'
import type { Compute } from './compute.ts'
import type { HttpRequest } from './listen/listener.ts'
import { DISCARD_BYTES_MAX } from './listen/serve-request.ts'

/** A body that has arrived; `leave` gives its place back. */
interface Received {
  readonly body: Uint8Array
  readonly leave: () => void
}

/** A smaller body is thrown away whoever sends it, which costs no more than another connection. */
const SMALL_BYTES = 128 * 1024

export const NO_BODY: Received = { body: new Uint8Array(0), leave: () => undefined }

/** Undefined: the client went away first. A body takes its place when all of it is there. */
export async function receive(
  request: HttpRequest,
  client: string,
  admission: Admission,
): Promise<Received | Failure | undefined> {
  const announced = admission.announce(request.bodyBytes, client)
  if (typeof announced === 'string') {
    // Not charged: a provider whose deliveries are valid sends it again.
    if (request.bodyBytes > SMALL_BYTES) request.leaveBody()
    return failures.overloaded(announced)
  }
  const body = await request.readBody()
  if (body === undefined) {
    announced.aborted()
    return undefined
  }
  const leave = announced.arrived()
  return typeof leave === 'string' ? failures.overloaded(leave) : { body, leave }
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
