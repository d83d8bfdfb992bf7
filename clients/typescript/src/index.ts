// The client of a Countersign service: one method per route (interface §4), typed by the service's OpenAPI document.
import createClient, { type Client } from 'openapi-fetch'
import { approvalMethods, type Asking } from './approvals.ts'
import { authorityMethods } from './authority.ts'
import { buildTransaction, isRequest, type ExecutionRequest } from './build.ts'
import { AnswerError, ConnectionLostError } from './errors.ts'
import { eventMethods } from './events.ts'
import { executeAsking } from './execute-asking.ts'
import {
  completed,
  executeOnce,
  executeOrRead,
  standingOf,
  type ExecutionCalls,
  type Sending,
  type Standing,
} from './execute.ts'
import { everyItem, wholePage } from './pages.ts'
import { isPassing, nothingWasDone, sendRepeatedly, sleep, type Call, type Pacing } from './retry.ts'
import type { components, paths } from './schema.ts'
import type { LogWitness } from './witness.ts'

export type { Asking } from './approvals.ts'
export type { ExecutionRequest } from './build.ts'
export {
  AnswerError,
  ClosedWithoutRecordError,
  ConnectionLostError,
  CountersignError,
  ExecutionFailedError,
  IdUsedForAnotherIntentError,
  InDoubtError,
  LogContradictionError,
  NotApprovedError,
  OtherRequestError,
  type Contradiction,
} from './errors.ts'
export type { Standing } from './execute.ts'
export type { CountersignEvent, EventPage, Following } from './events.ts'
export type { LogWitness } from './witness.ts'
export { deterministicId } from './ids.ts'
export type { components, operations, paths } from './schema.ts'

/** The nouns of the service by name: `Schemas['ExecutionTrustRecord']`. */
export type Schemas = components['schemas']
type Query<Path extends '/transactions' | '/trust-records' | '/refusals' | '/audit/events'> = NonNullable<
  paths[Path]['get']['parameters']['query']
>

interface Cursor {
  pageSize?: number
  cursor?: string
}

export interface Options {
  /** The address of the service, e.g. `https://countersign.example`. */
  readonly baseUrl: string
  /**
   * The caller's raw key or access token, or a function that gives it and is called before each request, because a token expires. Without it only
   * the open routes answer. A key that is undefined is a mistake, and refused.
   */
  readonly apiKey?: string | (() => string | Promise<string>) | undefined
  /**
   * For an access token that is bound to a key (DPoP, RFC 9449): gives the proof of one request, which that key signs. Called before each request,
   * because a proof is valid for one request. The token is then sent with the scheme DPoP. A service that asks for its nonce did nothing with the
   * request, so the request is sent once more, with a proof that has the nonce.
   */
  readonly proof?: ((request: ProvenRequest) => string | Promise<string>) | undefined
  /** Replaces the platform's `fetch`. */
  readonly fetch?: (request: Request) => Promise<Response>
  /** The maximum number of times that one call is sent, the first included. Default: 4. */
  readonly maxAttempts?: number
  /** How long one attempt may take. Default: 30,000. An execution waits for its connector. */
  readonly timeoutMs?: number
  /** Ends everything this client is doing, waits included. */
  readonly signal?: AbortSignal
  /** Makes this client a witness of the evidence log, checked before an execution is sent: `countersign-client/log-witness`, for Node. */
  readonly logWitness?: LogWitness
}

/** The content of a proof of possession: its `htm`, its `htu`, the token whose SHA-256 is its `ath`, and its `nonce`. */
export interface ProvenRequest {
  readonly method: string
  /** The URL without query and fragment. */
  readonly url: string
  readonly token: string
  /** The service's nonce for this proof; undefined where the service has given none. */
  readonly nonce?: string
}

/** The time limit of one attempt. */
const TIMEOUT_MS = 30_000

/** A log that does not answer must not hold up an execution for longer. */
const LOG_TIMEOUT_MS = 5_000

export type Countersign = ReturnType<typeof createCountersign>

/**
 * A caller of one service. A call that stores nothing is sent again after 429, 502, 503, 504 and a lost connection, as often as
 * `maxAttempts` allows and after the service's Retry-After; a call that stores something only where the service did nothing with it. Every method
 * rejects with a CountersignError: AnswerError for an answer that is not a success, ConnectionLostError where no answer arrived; or with the
 * signal's reason, or the error of the function `apiKey`.
 * @throws TypeError for a baseUrl that is no URL and an apiKey that is undefined or empty; RangeError for maxAttempts
 */
export function createCountersign(options: Options) {
  const pacing: Pacing = { maxAttempts: options.maxAttempts ?? 4, signal: options.signal }
  if (!Number.isInteger(pacing.maxAttempts) || pacing.maxAttempts < 1)
    throw new RangeError('maxAttempts must be a whole number, 1 or more.')
  if ('apiKey' in options && !options.apiKey)
    throw new TypeError(
      `apiKey is ${options.apiKey === undefined ? 'undefined' : 'empty'}: pass the caller's key, or leave apiKey out for the open routes alone.`,
    )
  const http = rawClient(options)
  const read = <T>(call: Call<T>) => sendRepeatedly(call, pacing, isPassing)
  const change = <T>(call: Call<T>) => sendRepeatedly(call, pacing, nothingWasDone)

  // Without `bundle` in its query the route answers the record and nothing else.
  const trustRecord = (id: string) =>
    read(() => http.GET('/trust-records/{id}', path(id)) as ReturnType<Call<Schemas['ExecutionTrustRecord']>>)
  const transaction = (id: string) => read(() => http.GET('/transactions/{id}', path(id)))
  const refusal = (businessTransactionId: string) =>
    read(() => http.GET('/refusal/{businessTransactionId}', { params: { path: { businessTransactionId } } }))
  const callsOf = (submitted: Schemas['SubmittedTransaction']): ExecutionCalls => ({
    execute: () => http.POST('/execute', { body: submitted }),
    trustRecord: () => trustRecord(submitted.businessTransactionId),
    refusal: () => refusal(submitted.businessTransactionId),
    transaction: () => transaction(submitted.businessTransactionId),
    intent: () => authority.executionIntent(submitted.businessTransactionId),
  })

  const sending: Sending = { callsOf, pacing }

  const callerIdentity = () => read(() => http.GET('/callers/me'))
  let knownCallerId: string | undefined
  const callerId = async () => (knownCallerId ??= await callerIdOf(callerIdentity()))
  const build = (request: ExecutionRequest) => buildTransaction(request, callerId)
  const checkLog = async () => options.logWitness?.check(openGet(options))
  const authority = authorityMethods(http, { read, change })
  const whole = (submitted: ExecutionRequest | Schemas['SubmittedTransaction']) =>
    isRequest(submitted) ? build(submitted) : Promise.resolve(submitted)

  const approval = approvalMethods(http, {
    read,
    change,
    whole,
    callerId,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    sleep: (ms) => sleep(ms, options.signal),
  })

  return {
    /** The typed client below the methods: one request a call, errors as values. */
    http,

    /** The transaction that `execute` sends for a request, with all its linked ids: for `evaluate`, or to keep it. */
    build,
    /**
     * POST /execute: at most one execution, even if the connection breaks. Where an answer was lost the record is read before anything is sent
     * again.
     * @returns the record of an execution that completed
     * @param submitted the intent to execute, or a whole transaction
     * @param asking `{ onApprovalNeeded: 'ask' }`: where humans must approve, asks them, waits, and executes under a new id derived from the
     *   refused id. Repeated with the same `key` or id, also after a crash, it continues where it stopped and reads the record if there is one. By
     *   default missing approvals are the service's 403, with `needsApproval`
     * @throws ExecutionFailedError where the connector refused or failed for certain, also where that is read from a record; AnswerError 409 where
     *   the id was used before, unless it may ask; InDoubtError where the outcome cannot be known and nothing was sent again;
     *   ClosedWithoutRecordError where a statement has closed an execution in doubt; IdUsedForAnotherIntentError; NotApprovedError where humans
     *   were asked and did not approve
     */
    execute: async (submitted: ExecutionRequest | Schemas['SubmittedTransaction'], asking: Asking = {}) => {
      const built = await whole(submitted)
      await checkLog()
      if (asking.onApprovalNeeded !== 'ask') return completed(await executeOnce(built, sending))
      const approve = (next: Schemas['SubmittedTransaction']) => approval.approve(next, asking)
      return completed(await executeAsking(built, { ...sending, approve }))
    },
    /**
     * Executes, or reads the record of the execution that this id, or the id of this `key`, already had.
     * @throws IdUsedForAnotherIntentError where that record is of another intent; otherwise as `execute`
     */
    executeOrRead: async (submitted: ExecutionRequest | Schemas['SubmittedTransaction']) => {
      const built = await whole(submitted)
      await checkLog()
      return completed(await executeOrRead(built, sending))
    },
    /**
     * Reads the progress of a piece of work, and sends nothing: under its id, and under the ids derived from it where it was refused.
     * @returns its record, also of an execution that failed; else `next`, the work under the first id that the service does not know, and `why`
     *   there is no record: the last refusal, or undefined where nothing was sent
     * @throws InDoubtError; ClosedWithoutRecordError; IdUsedForAnotherIntentError
     */
    standing: async (submitted: ExecutionRequest | Schemas['SubmittedTransaction']): Promise<Standing> =>
      standingOf(await whole(submitted), { ...sending, why: undefined }),

    transaction,
    /** GET /transactions: a page, newest first. */
    transactions: (query: Query<'/transactions'> = {}) =>
      wholePage(query, {
        get: (asked) => http.GET('/transactions', { params: { query: asked } }),
        itemsOf: (page) => page,
        read,
      }),

    trustRecord,
    /** GET /trust-records: every record, newest first, a page at a time. */
    trustRecords: (filter: Omit<Query<'/trust-records'>, 'page' | 'cursor'> = {}) =>
      everyItem<Query<'/trust-records'>, Schemas['ExecutionTrustRecord'][], Schemas['ExecutionTrustRecord']>(
        filter,
        {
          // Pages are JSON: NDJSON is answered only where it is accepted.
          get: (query) =>
            http.GET('/trust-records', { params: { query } }) as ReturnType<
              Call<Schemas['ExecutionTrustRecord'][]>
            >,
          itemsOf: (page) => page,
          read,
        },
      ),

    /**
     * GET /trust-records/{id}?bundle: the text of one file that verifies the whole execution offline, together with a saved key set and log
     * description. Waits until all of it is under a checkpoint of the evidence log.
     * @throws AnswerError 202 where it is not covered after every attempt
     */
    bundle: (id: string) =>
      sendRepeatedly(
        () => asText(http.GET('/trust-records/{id}', { ...bundleOf(id), parseAs: 'text' })),
        pacing,
        (error) => isPassing(error) || (error instanceof AnswerError && error.status === 202),
      ),

    /** POST /verify: appends a fresh verification. */
    verify: (id: string) => change(() => http.POST('/verify', body(id))),
    /** GET /verifications/{id}: all of them, newest first, a page at a time; a record holds the newest 100. */
    verifications: (id: string) =>
      everyItem<Cursor, Schemas['Verification'][], Schemas['Verification']>(
        { pageSize: 100 },
        {
          get: (query) => http.GET('/verifications/{id}', { params: { path: { id }, query } }),
          itemsOf: (page) => page,
          read,
        },
      ),
    latestVerification: (id: string) => read(() => http.GET('/verification/{id}', path(id))),
    /** POST /receipt: generates a new receipt. */
    receipt: (id: string) => change(() => http.POST('/receipt', body(id))),
    /** GET /receipts/{id}: all of them, newest first, a page at a time; a record holds the newest 100. */
    receipts: (id: string) =>
      everyItem<Cursor, Schemas['Receipt'][], Schemas['Receipt']>(
        { pageSize: 100 },
        {
          get: (query) => http.GET('/receipts/{id}', { params: { path: { id }, query } }),
          itemsOf: (page) => page,
          read,
        },
      ),
    latestReceipt: (id: string) => read(() => http.GET('/receipt/latest/{id}', path(id))),
    /** GET /confirmations/{id}: the confirmations of payment providers, newest first, a page at a time; a record holds the newest 100. */
    confirmations: (id: string) =>
      everyItem<
        Cursor,
        Schemas['ProviderConfirmationPage'],
        Schemas['ProviderConfirmationPage']['confirmations'][number]
      >(
        { pageSize: 100 },
        {
          get: (query) => http.GET('/confirmations/{id}', { params: { path: { id }, query } }),
          itemsOf: (page) => page.confirmations,
          read,
        },
      ),
    /** POST /replay: checks the record's signature again, and stores nothing. */
    replay: (id: string) => read(() => http.POST('/replay', body(id))),

    /** POST /policies/validate: 400 and 404 are answers too, with their `errors`. */
    validatePolicy: (policy: Schemas['PolicyVersion']) =>
      read(() => asAnswer(http.POST('/policies/validate', { body: policy }), [400, 404], 'valid')),

    ...authority,

    ...approval.methods,

    ...eventMethods(http, {
      read,
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      executionIntent: authority.executionIntent,
      sleep: (ms) => sleep(ms, options.signal),
    }),

    refusal,
    /** GET /refusals: all of them, newest first, a page at a time. */
    refusals: (filter: Omit<Query<'/refusals'>, 'page' | 'cursor'> = {}) =>
      everyItem<Query<'/refusals'>, Schemas['RefusalPage'], Schemas['RefusalRecord']>(filter, {
        get: (query) =>
          http.GET('/refusals', { params: { query } }) as ReturnType<Call<Schemas['RefusalPage']>>,
        itemsOf: (page) => page.refusals,
        read,
      }),
    verifyRefusal: (refusalRecord: Schemas['RefusalRecord']) =>
      read(() => http.POST('/refusal/verify', { body: refusalRecord })),
    /** GET /audit/events: a page, newest first. */
    auditEvents: (query: Query<'/audit/events'> = {}) =>
      wholePage(query, {
        get: (asked) => http.GET('/audit/events', { params: { query: asked } }),
        itemsOf: ({ events }) => events,
        read,
      }).then((events) => ({ events })),
    verifyAuditEvent: (event: Schemas['AuditEventPage']['events'][number]) =>
      read(() => http.POST('/audit/verify', { body: event })),

    key: (keyId: string) => read(() => http.GET('/keys/{keyId}', { params: { path: { keyId } } })),
    keySet: () => read(() => http.GET('/.well-known/jwks.json')),
    approverKeySet: () => read(() => http.GET('/.well-known/approver-keys.json')),
    callerIdentity,
    version: () => read(() => http.GET('/version')),
    /** GET /ready: NOT_READY is an answer too, with its `reason`. */
    ready: () => read(() => asAnswer(http.GET('/ready'), [503], 'status')),
  }
}

/** Where authentication is disabled no caller has an identity, and the service calls every caller `anonymous`. */
async function callerIdOf(identity: Promise<Schemas['CallerIdentity']>): Promise<string> {
  try {
    return (await identity).callerId
  } catch (error) {
    if (error instanceof AnswerError && error.status === 404) return 'anonymous'
    throw error
  }
}

const path = (id: string) => ({ params: { path: { id } } })
const bundleOf = (id: string) => ({
  params: { path: { id }, query: { bundle: '' } },
  headers: { Prefer: 'wait=10' },
})
const body = (businessTransactionId: string) => ({ body: { businessTransactionId } })

type Send = (request: Request) => Promise<Response>

/** Sends with a time limit, and gives up when the client's signal ends everything. */
function sender(
  { fetch: send = fetch, timeoutMs = TIMEOUT_MS, signal }: Options,
  timeoutMsMax = Infinity,
): Send {
  return (request) => {
    const timeout = AbortSignal.timeout(Math.min(timeoutMs, timeoutMsMax))
    const ends = [request.signal, timeout, ...(signal === undefined ? [] : [signal])]
    return send(new Request(request, { signal: AbortSignal.any(ends) }))
  }
}

/** Turns a failure, before the answer or within it, into a ConnectionLostError that names the request; or into the signal's reason. */
function named(send: Send, signal: AbortSignal | undefined): Send {
  return async (request) => {
    const failed = (cause: unknown) =>
      signal?.aborted === true
        ? (signal.reason as Error)
        : new ConnectionLostError(`${request.method} ${request.url}`, cause)
    const response = await send(request).catch((error: unknown) => {
      throw failed(error)
    })
    const reader = response.body?.getReader()
    if (reader === undefined) return response
    const whole = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (error) {
          controller.error(failed(error))
        }
      },
      cancel: (reason) => reader.cancel(reason),
    })
    return new Response(whole, response)
  }
}

/** GET of an open route, without the key. */
function openGet(options: Options): (path: string) => Promise<Response> {
  const send = sender(options, LOG_TIMEOUT_MS)
  const base = new URL(options.baseUrl).href.replace(/\/$/, '')
  return (openPath) => send(new Request(base + openPath, { redirect: 'error' }))
}

const PROVEN = 'DPoP '

/**
 * Sends each request with a proof for its token. Where the service asks for its nonce (RFC 9449 §9), the request is sent once more, because only
 * the authentication has seen it.
 */
function proving(send: Send, proof: NonNullable<Options['proof']>): Send {
  /** The newest nonce of the service. */
  let nonce: string | undefined
  async function sendProven(request: Request): Promise<Response> {
    const token = request.headers.get('Authorization')?.slice(PROVEN.length)
    if (token !== undefined) {
      const { origin, pathname } = new URL(request.url)
      const given = nonce === undefined ? {} : { nonce }
      const proven = { method: request.method, url: origin + pathname, token, ...given }
      request.headers.set('DPoP', await proof(proven))
    }
    const response = await send(request)
    nonce = response.headers.get('DPoP-Nonce') ?? nonce
    return response
  }
  return async (request) => {
    const again = request.clone()
    const response = await sendProven(request)
    if (!asksForNonce(response)) return response
    await response.body?.cancel()
    return sendProven(again)
  }
}

function asksForNonce({ status, headers }: Response): boolean {
  const challenge = headers.get('WWW-Authenticate') ?? ''
  return status === 401 && headers.has('DPoP-Nonce') && /^DPoP .*\berror="use_dpop_nonce"/i.test(challenge)
}

function rawClient(options: Options): Client<paths> {
  const { baseUrl, apiKey, proof } = options
  const send = named(sender(options), options.signal)
  const client = createClient<paths>({
    baseUrl: new URL(baseUrl).href,
    // A redirect is never followed: a redirected POST becomes a GET, and the key would be sent along.
    redirect: 'error',
    fetch: proof === undefined ? send : proving(send, proof),
  })
  if (apiKey !== undefined)
    client.use({
      async onRequest({ request }) {
        const key = typeof apiKey === 'function' ? await apiKey() : apiKey
        request.headers.set('Authorization', `${proof === undefined ? 'Bearer ' : PROVEN}${key}`)
        return request
      },
    })
  return client
}

/** Treats a 202 as no answer yet. */
async function asText(
  sent: Promise<{ data?: string; error?: unknown; response: Response }>,
): ReturnType<Call<string>> {
  const { data, error, response } = await sent
  return response.status === 202 || data === undefined ? { error, response } : { data, response }
}

/** Treats statuses as answers that are no success. `member` is in the service's body, and never in a proxy's. */
async function asAnswer<D, E, Member extends string>(
  sent: Promise<{ data?: D; error?: E; response: Response }>,
  statuses: readonly number[],
  member: Member,
): ReturnType<Call<D | Extract<E, Record<Member, unknown>>>> {
  const { data, error, response } = await sent
  if (data !== undefined) return { data, response }
  const answers = statuses.includes(response.status) && hasMember(error, member)
  return answers ? { data: error, response } : { error, response }
}

function hasMember<E, Member extends string>(
  value: E,
  member: Member,
): value is Extract<E, Record<Member, unknown>> {
  return typeof value === 'object' && value !== null && member in value
}
