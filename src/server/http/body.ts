// The body of a request: the head decides whether it is read, before the listener reads on.
import { failures, type Failure } from '../../core/errors/errors.ts'
import type { Held } from './gates/book.ts'
import { bounds } from './gates/index.ts'
import type { Gates } from './gates/open.ts'
import type { Reception } from './listen/listener.ts'
import { DISCARD_BYTES_MAX } from './listen/serve-request.ts'

/** How the body is treated, and the place that it holds until its request is answered. */
export interface BodyPlan extends Pick<Reception, 'body' | 'turn'> {
  /** Undefined: the body is not read. */
  readonly place?: Held
  /** 503: no place is left for the announced body. */
  readonly refused?: Failure
}

/** The plan for a body that the route takes and its client can pay for. */
export function wantedBody(bytes: number, client: string, { hold, pace }: Gates): BodyPlan {
  const place = hold('announced', client, bytes)
  if (typeof place !== 'string') return { body: 'read', turn: pace.body(client, bytes), place }
  // Not charged: a provider of valid deliveries sends the refused one again.
  return { body: bytes > bounds.smallBodyBytes ? 'leave' : 'discard', refused: failures.overloaded(place) }
}

/**
 * The plan for an unwanted body. While the client can pay for it, the body is read and discarded, so that the client gets the refusal for
 * certain: discarding 1 MB takes as long as reading it.
 */
export function unwantedBody(bytes: number, client: string, { compute }: Gates): BodyPlan {
  if (bytes <= bounds.smallBodyBytes) return { body: 'discard' }
  if (bytes > DISCARD_BYTES_MAX || !compute.look('compute', client).verdict.allowed) return { body: 'leave' }
  compute.chargeBody('compute', client, bytes)
  return { body: 'discard' }
}

/**
 * Waits for a body, which counts as in flight once all of it has arrived.
 * @returns undefined where the client went away before; 503 where there is no place for it
 */
export async function arrival(
  reading: Promise<Uint8Array | undefined>,
  { turn, place, refused }: BodyPlan,
): Promise<Uint8Array | Failure | undefined> {
  if (refused !== undefined) return refused
  await turn
  const body = await reading
  const gate = body && place?.move('inFlight')
  return gate === undefined ? body : failures.overloaded(gate)
}
