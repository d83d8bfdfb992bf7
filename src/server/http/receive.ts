// The body of a request, from its head until the request is answered: it takes a place in memory when all of it is there.
import { failures, Failure } from '../../core/errors.ts'
import type { Admission } from './admission.ts'
import type { HttpRequest } from './listen/listener.ts'

/** A body that has arrived; `leave` gives its place back. */
interface Received {
  readonly body: Uint8Array
  readonly leave: () => void
}

/** To throw away what is larger takes as long as to read it. Smaller ones are, so that their client gets the refusal for certain. */
const DISCARD_BYTES_MAX = 128 * 1024

export const NO_BODY: Received = { body: new Uint8Array(0), leave: () => undefined }

/** Undefined: the client went away first. A body takes its place when all of it is there. */
export async function receive(
  request: HttpRequest,
  client: string,
  admission: Admission,
): Promise<Received | Failure | undefined> {
  const announced = admission.announce(request.bodyBytes, client)
  if (typeof announced === 'string') {
    refuseBody(request)
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

/** For a body that nobody reads. Called before the first `await`. */
export function refuseBody(request: HttpRequest): void {
  if (request.bodyBytes > DISCARD_BYTES_MAX) request.leaveBody()
}

/** For a request that was refused while its body was still read. */
export async function giveBack(receiving: Promise<Received | Failure | undefined>): Promise<void> {
  const received = await receiving
  if (received !== undefined && !(received instanceof Failure)) received.leave()
}
