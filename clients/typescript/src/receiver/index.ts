// A receiver of connector releases, for Node. It takes an action that the service has decided, approved and released, verifies that the release is
// from the service and for this receiver, acts once, and answers. It tells the outcome when the service asks. The author writes `act`.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Json } from '../../../../src/formats/json/canonical.ts'
import { parseJsonText } from '../../../../src/formats/json/text.ts'
import type { Entry, Journal } from './journal.ts'
import type { ServiceKeys } from './keys.ts'
import { verifyQuestion, verifyRelease, type Release } from './release.ts'

export { openJournal, type Entry, type FileJournal, type Journal } from './journal.ts'
export { fetchServiceKeys, serviceKeys, type ServiceKeys } from './keys.ts'
export type { Release } from './release.ts'

/** The effect certainly did not happen, for this reason, which becomes evidence. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

/** The outcome of a release: carried out with this result, or not carried out for this reason. */
export type Outcome =
  | { readonly executed: true; readonly result?: unknown }
  | { readonly executed: false; readonly reason: string }

export interface ReceiverConfig {
  readonly keys: ServiceKeys
  /** The capabilities that this receiver carries out, e.g. `['vendor:pay']`. */
  readonly capabilities: readonly string[]
  readonly journal: Journal
  /** Origin of the registered endpoint: that of the proxy in front. Default: the origin at which `listen` listens. */
  readonly audience?: string | undefined
  /**
   * Performs the effect. Give `release.authorizationId` to a system behind it as the idempotency key. The returned value becomes evidence: up to 60
   * KiB of JSON are sent, else its SHA-256 and length. Throw `Refused` where the effect certainly did not happen. Any other error leaves that open,
   * and the execution is in doubt until `readBack` or a person knows.
   */
  readonly act: (release: Release) => unknown
  /**
   * Looks up the outcome of a release whose `act` never ended, for example by its `authorizationId` in the system behind. Called when the service
   * asks or repeats a release, never while `act` runs here. Returns undefined where the outcome is not known (yet).
   */
  readonly readBack?: (release: Release) => Outcome | undefined | Promise<Outcome | undefined>
  /** Called for each error that left an outcome open. Default: `console.error`. */
  readonly onError?: (error: unknown, release: Release | undefined) => void
}

/** An HTTP request, independent of the server that received it. */
export interface Asked {
  readonly method: string
  /** The header `Countersign-Question`. */
  readonly question?: string | undefined
  readonly body: Uint8Array
}

export interface Answer {
  readonly status: number
  /** JSON. */
  readonly body: string
}

export interface Receiver {
  /** Answers requests of a server of your own; `audience` must be set then. */
  readonly answer: (asked: Asked) => Promise<Answer>
  /**
   * Serves the receiver by plain HTTP: TLS ends at a proxy in front.
   * @param port 0 for a free one
   * @param host default: this machine alone
   */
  readonly listen: (port: number, host?: string) => Promise<Listening>
}

export interface Listening {
  readonly origin: string
  readonly port: number
  /** Accepts no more requests, and resolves when running requests have been answered. */
  readonly close: () => Promise<void>
}

const BODY_BYTES_MAX = 1024 * 1024
/** The service reads 64 KiB of an answer, which has other members too. */
const RESULT_BYTES_MAX = 60 * 1024
/** The service reads 64 levels. */
const RESULT_DEPTH_MAX = 60

/**
 * A receiver. Each release is acted on at most once, also where it is repeated, comes twice at the same time, or the process crashes.
 * @throws TypeError for no capabilities
 */
export function receive(config: ReceiverConfig): Receiver {
  const { keys, capabilities, journal, act, readBack, onError = (error) => console.error(error) } = config
  if (capabilities.length === 0) throw new TypeError('capabilities is empty: name what this receiver does.')
  let audience = config.audience
  /** By authorizationId: two requests with one release share one act. */
  const underway = new Map<string, Promise<Answer>>()

  const given = () => {
    if (audience === undefined) throw new Error('audience is missing: the origin of the endpoint.')
    return { keys, capabilities, audience, now: new Date() }
  }

  /** Returns the same promise to all that ask for one release at the same time. */
  function shared(authorizationId: string, answering: () => Promise<Answer>): Promise<Answer> {
    const running =
      underway.get(authorizationId) ?? answering().finally(() => underway.delete(authorizationId))
    underway.set(authorizationId, running)
    return running
  }

  async function take(body: Uint8Array): Promise<Answer> {
    const verified = await verifyRelease(body, given())
    if ('refused' in verified) return said(verified.status, verified.refused)
    const { release } = verified
    return shared(release.authorizationId, async () => {
      if (await journal.begin(release)) return once(release)
      const before = await journal.find(release.authorizationId)
      return (before && (await known(before))) ?? said(500, 'It was begun before and its outcome is unknown.')
    })
  }

  /** The journal already says that the effect may happen, so no crash can make it happen twice. */
  async function once(release: Release): Promise<Answer> {
    try {
      return await ended(release, { executed: true, result: await act(release) })
    } catch (error) {
      if (error instanceof Refused) return ended(release, { executed: false, reason: error.message })
      onError(error, release)
      return said(500, 'The outcome is unknown.')
    }
  }

  async function ended({ authorizationId, businessTransactionId, capability }: Release, outcome: Outcome) {
    const result = outcome.executed ? evidenceOf(outcome.result) : { reason: outcome.reason }
    const executedAt = new Date().toISOString()
    const told = { businessTransactionId, capability, success: outcome.executed, result, executedAt }
    await journal.end(authorizationId, told)
    return json(200, told)
  }

  /** The stored answer, or the outcome that the author's `readBack` finds now. */
  async function known(entry: Entry): Promise<Answer | undefined> {
    if (entry.answer !== undefined) return json(200, entry.answer)
    const outcome = entry.release && (await readBack?.(entry.release))
    return outcome && ended(entry.release, outcome)
  }

  async function tell(header: string | undefined): Promise<Answer> {
    const verified = await verifyQuestion(header, given())
    if ('refused' in verified) return said(verified.status, verified.refused)
    const { businessTransactionId, authorizationId, capability } = verified.question
    const found = await journal.find(authorizationId)
    // Nothing was done, and nothing will be: an expired release cannot be carried out. Until it expires, the service takes a 404 for "not yet".
    if (found === undefined)
      return json(404, {
        businessTransactionId,
        capability,
        error: 'This receiver has not taken a release with this id.',
      })
    if (found.answer === undefined && underway.has(authorizationId))
      return said(503, 'The release is being carried out.')
    return shared(authorizationId, async () => {
      // Read again: the release may have been answered since the first read, and its answer stays.
      const entry = (await journal.find(authorizationId)) ?? found
      return (await known(entry)) ?? said(503, 'It was begun, and its outcome is unknown.')
    })
  }

  async function answer({ method, question, body }: Asked): Promise<Answer> {
    try {
      if (method === 'GET') return await tell(question)
      if (method !== 'POST') return said(405, 'POST a release, or GET what became of one.')
      return body.length > BODY_BYTES_MAX ? said(413, 'Too large.') : await take(body)
    } catch (error) {
      onError(error, undefined)
      return said(500, 'The outcome is unknown.')
    }
  }

  async function listen(port: number, host = '127.0.0.1'): Promise<Listening> {
    const server = createServer((request, response) => {
      void exchangeOf(request)
        .then(answer)
        .then(({ status, body }) =>
          response.writeHead(status, { 'Content-Type': 'application/json' }).end(body),
        )
        // The connection was lost before a whole request came.
        .catch(() => response.destroy())
    })
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, resolve)
    })
    const { port: listening } = server.address() as AddressInfo
    const origin = `http://${host.includes(':') ? `[${host}]` : host}:${listening}`
    audience ??= origin
    return {
      origin,
      port: listening,
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve())
          server.closeIdleConnections()
        }),
    }
  }

  return { answer, listen }
}

/** The result as evidence. A notice replaces a result that cannot be sent: an unreadable answer would put the completed effect in doubt. */
function evidenceOf(result: unknown): Json {
  try {
    const text = JSON.stringify(result ?? null)
    const bytes = Buffer.byteLength(text)
    if (bytes > RESULT_BYTES_MAX) return { sha256: createHash('sha256').update(text).digest('hex'), bytes }
    const value = parseJsonText(text, RESULT_DEPTH_MAX) as Json
    assertExact(value)
    return value
  } catch (error) {
    return { notKept: `The result is not JSON that evidence can hold: ${(error as Error).message}.` }
  }
}

/** Refuses integers beyond 2^53 - 1, which parsing may have changed. */
function assertExact(value: Json): void {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new RangeError(`${value} is beyond 2^53 - 1`)
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(assertExact)
}

const json = (status: number, body: object): Answer => ({ status, body: JSON.stringify(body) })
const said = (status: number, error: string) => json(status, { error })

/** Rejects where the connection is lost. A body is read only a little beyond the size limit. */
async function exchangeOf(request: IncomingMessage): Promise<Asked> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) break
  }
  const question = request.headers['countersign-question']
  return {
    method: request.method ?? '',
    question: Array.isArray(question) ? undefined : question,
    body: Buffer.concat(chunks),
  }
}
