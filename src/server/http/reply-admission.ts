// Admission of replies: each reply is charged to its client, a large one needs a place in memory, and a stream waits for its caller's budget.
import { setTimeout as delay } from 'node:timers/promises'
import { Failure, failures } from '../../core/errors/errors.ts'
import { PAGE_BYTES_MAX } from '../../store/tables/page.ts'
import type { Answer } from '../answer.ts'
import type { Condition } from '../service.ts'
import { conditional } from './etag.ts'
import type { Exchange } from './exchange.ts'
import type { Compute } from './gates/compute.ts'
import { bounds } from './gates/index.ts'
import type { Gates } from './gates/open.ts'
import type { Observers } from './respond.ts'

/** The longest pause of a stream: after a longer one a client could take the connection for dead. */
const PACE_MS_MAX = 5_000

/** The client that gets a reply. */
interface Reader {
  /** Whether the request holds a place in memory until it is answered, as a request with a body does. */
  readonly hasPlace: boolean
  /** Whether its key was revoked or has expired, or its session has ended, since it authenticated. */
  readonly isOver: () => Promise<boolean>
}

/** The parts that admit a reply. */
interface Admitting {
  readonly gates: Pick<Gates, 'hold' | 'compute'>
  /** `stopping`: true from the first stop signal on. */
  readonly service: Pick<Condition, 'stopping'>
  readonly log: Observers['log']
}

/** Charges a reply and holds the place that it needs until it is sent, or refuses it with 503. */
export function admitReply(
  outcome: Answer | Failure,
  exchange: Exchange,
  reader: Reader,
  admitting: Admitting,
): Answer | Failure {
  const { gates } = admitting
  const { client } = exchange
  const answer = outcome instanceof Failure ? outcome : conditional(outcome, exchange.ifNoneMatch)
  const isSent = !(answer instanceof Failure) && exchange.method !== 'HEAD'
  if (isSent && answer.texts !== undefined) {
    const texts = paced(answer.texts, exchange, reader, admitting)
    return untilSent({ ...answer, texts }, gates.hold('streams', client, PAGE_BYTES_MAX))
  }
  const body = isSent ? encoded(answer.body) : ''
  const bytes = Buffer.byteLength(body)
  charge(outcome, exchange, { bytes, compute: gates.compute })
  // A client that does not read a large reply must not fill the memory.
  if (!isSent || bytes < bounds.largeReplyBytes || reader.hasPlace) return answer
  return untilSent({ ...answer, body }, gates.hold('inFlight', client, bytes))
}

function untilSent(answer: Answer, held: ReturnType<Gates['hold']>): Answer | Failure {
  if (typeof held === 'string') return failures.overloaded(held)
  return { ...answer, sent: () => held[Symbol.dispose]() }
}

/** A stream is charged page by page, and waits while its caller's budget is used up. A stop, or the end of its key or session, cuts it. */
async function* paced(
  texts: AsyncIterable<string>,
  { route, requestId, path, client, callerId: caller }: Exchange,
  { isOver }: Reader,
  { gates: { compute }, service, log }: Admitting,
): AsyncGenerator<string, void> {
  try {
    for await (const text of texts) {
      if (service.stopping()) throw new Error('the service stops')
      if (await isOver()) throw new Error('its key or session is not in effect any more')
      const { cost } = route ?? {}
      if (cost !== undefined) {
        compute.chargeReply(cost, client, { bytes: Buffer.byteLength(text), isRendered: true })
        const goesOnMs = performance.now() + PACE_MS_MAX
        while (!compute.look(cost, client).verdict.allowed && performance.now() < goesOnMs) await delay(50)
      }
      yield text
    }
  } catch (error) {
    const cause = error instanceof Error ? (error.stack ?? error.message) : error
    log({ requestId, path, caller, msg: 'a reply was cut short', cause }, true)
    throw error
  }
}

/** A thread's reply is charged by its thread time instead, and a refusal for lack of capacity is not charged. */
function charge(
  outcome: Answer | Failure,
  { route, client }: Exchange,
  { bytes, compute }: { readonly bytes: number; readonly compute: Compute },
): void {
  const isByThread = !(outcome instanceof Failure) && outcome.times !== undefined
  const isRefused = outcome.status === 429 || outcome.status === 503
  if (route?.cost === undefined || isByThread || isRefused) return
  compute.chargeReply(route.cost, client, { bytes, isRendered: !isKept(outcome) })
}

function isKept(outcome: Answer | Failure): boolean {
  return !(outcome instanceof Failure) && outcome.etag !== undefined
}

/** Encodes a large text once, not again for each query of its length. */
function encoded(body: Answer['body']): Answer['body'] {
  return typeof body === 'string' && body.length >= bounds.largeReplyBytes / 3 ? Buffer.from(body) : body
}
