// The meaning of an HTTP exchange for the execution: the table of outcomes of decisions §8, the same for every connector that calls out.
import type { Json } from '../../src/formats/json/canonical.ts'
import { isObject, type Fields } from '../../src/formats/json/fields.ts'
import { holdsUnsafeInteger, MalformedJson, parseJson } from '../../src/core/json/json.ts'
import type { HttpOutcome } from '../../src/core/outbound/call.ts'
import type { ConnectorOutcome } from './connector.ts'

export type HttpAnswer = Extract<HttpOutcome, { kind: 'answered' }>

interface Reading {
  /** Reads the meaning of a 200 with this body. Undefined: it is not an answer to this order. */
  readonly read: (body: Fields) => ConnectorOutcome | undefined
  /** Why a request was refused with a 4xx, as evidence may hold it; ends without a full stop. */
  readonly refusal: (answered: HttpAnswer) => string
}

/** Unauthorized, Forbidden, Proxy Authentication Required: about our credential, not about the action. */
const CREDENTIAL_REFUSED: ReadonlySet<number> = new Set([401, 403, 407])

export function outcomeOf(exchange: HttpOutcome, { read, refusal }: Reading): ConnectorOutcome {
  if (exchange.kind === 'not-sent') return { kind: 'failed', reason: exchange.reason, targetUnknown: true }
  if (exchange.kind === 'lost') return { kind: 'unknown', cause: exchange.cause }
  const { status } = exchange
  if (status === 200) {
    const body = jsonOf(exchange)
    const outcome = isObject(body) ? read(body) : undefined
    return outcome ?? { kind: 'unknown', cause: 'answered 200 with a body that is no answer to this call' }
  }
  if (status === 429) return { kind: 'failed', reason: 'the connector is rate limited', targetUnknown: true }
  // 408: the server gave up waiting for something that it may have begun to work on.
  if (status >= 400 && status < 500 && status !== 408) {
    const failed = { kind: 'failed', reason: refusal(exchange) } as const
    return CREDENTIAL_REFUSED.has(status) ? { ...failed, targetUnknown: true } : failed
  }
  return { kind: 'unknown', cause: `answered ${status}` }
}

/** The value of a body that is JSON with exactly one reading; undefined for any other, a compressed one too. */
export function jsonOf({ headers, body }: HttpAnswer): Json | undefined {
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') return undefined
  try {
    const value = parseJson(body) as Json
    // As in a transaction (decisions §3): an unsafe integer may have been another number before it was parsed, and evidence must not
    // change it.
    return holdsUnsafeInteger(value) ? undefined : value
  } catch (error) {
    if (error instanceof MalformedJson) return undefined
    throw error
  }
}
