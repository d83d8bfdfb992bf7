// Requests of commands to a running service.
import { setTimeout as delay } from 'node:timers/promises'
import { Compile } from 'typebox/compile'
import { errorText } from '../formats/text/error-text.ts'
import { printable } from '../formats/text/printable.ts'
import { ErrorBody } from '../formats/schemas/error.ts'
import { jsonIn } from './json.ts'

export interface ServiceAt {
  /** Base address of the service. */
  readonly url: string
  readonly key: string | undefined
}

const ATTEMPTS = 10
const RETRY_AFTER_MAX_SECONDS = 60
const ANSWER_MAX_MS = 60_000
/** A page of the service has at most 4 MiB, and a thousand receipts of one id are less. */
const ANSWER_MAX_BYTES = 8 * 1024 * 1024

interface Asked {
  /** The most bytes of the answer's body, uncompressed; left out: 8 MiB. */
  readonly maxBytes?: number
  /** Further statuses that count as an answer. */
  readonly accept?: readonly number[]
  readonly headers?: Readonly<Record<string, string>>
}

interface Answered {
  readonly status: number
  readonly body: Buffer
  /** The path of the next page, where a list has one. */
  readonly next: string | undefined
}

/**
 * Asks until the service has time to answer.
 * @param path after the base address, with its slash
 * @throws Error that names the path, with the service's message
 */
export function get(service: ServiceAt, path: string, asked: Asked = {}): Promise<Answered> {
  return ask(service, path, asked, {})
}

/** Asks for a list, page after page. */
export async function* pagesOf(service: ServiceAt, path: string): AsyncGenerator<Answered> {
  for (let next: string | undefined = path; next !== undefined;) {
    const answer = await get(service, next)
    yield answer
    next = answer.next
  }
}

/** As `get`, and sends JSON. */
export function post(
  service: ServiceAt,
  path: string,
  { json, ...asked }: Asked & { readonly json: object },
): Promise<Answered> {
  const headers = { 'Content-Type': 'application/json' }
  return ask(service, path, asked, { method: 'POST', headers, body: JSON.stringify(json) })
}

/**
 * Asks for a list as lines of JSON, however long it is, and gives each line when it comes.
 * @throws as `get`
 */
export async function* linesOf(service: ServiceAt, path: string): AsyncGenerator<string> {
  const headers = { Accept: 'application/x-ndjson' }
  const { body } = await respond(service, path, { headers, sent: {}, withinMs: undefined })
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let rest = ''
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

interface Sent {
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

async function ask(
  service: ServiceAt,
  path: string,
  { maxBytes = ANSWER_MAX_BYTES, accept = [], headers = {} }: Asked,
  sent: Sent,
): Promise<Answered> {
  const response = await respond(service, path, { accept, headers, sent, withinMs: ANSWER_MAX_MS })
  const body = await bodyOf(response, maxBytes, path)
  const [, next] = /^<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? []
  return { status: response.status, body, next }
}

/** @param asked.withinMs the time limit for the whole answer; undefined: no limit */
async function respond(
  { url, key }: ServiceAt,
  path: string,
  {
    accept = [],
    headers: others,
    sent,
    withinMs,
  }: Pick<Asked, 'accept' | 'headers'> & { readonly sent: Sent; readonly withinMs: number | undefined },
): Promise<Response> {
  if (!/^https?:\/\//i.test(url))
    throw new Error(`${url} is not an address of a service: it must begin with http:// or https://.`)
  const address = `${url.replace(/\/+$/, '')}${path}`
  const headers = { ...others, ...sent.headers, ...(key !== undefined && { Authorization: `Bearer ${key}` }) }
  for (let attempt = 1; ; attempt++) {
    const signal = withinMs === undefined ? null : AbortSignal.timeout(withinMs)
    const response = await fetch(address, { ...sent, headers, redirect: 'error', signal }).catch(
      (error: unknown) => {
        throw new Error(`${address} does not answer: ${errorText(causeOf(error))}`, { cause: error })
      },
    )
    const { status } = response
    if (status === 200 || accept.includes(status)) return response
    const body = await bodyOf(response, ANSWER_MAX_BYTES, path)
    const isBusy = status === 429 || status === 503
    if (!isBusy || attempt === ATTEMPTS)
      throw new Error(`${path}: ${refusal(status, body)}${keyHint(status, key)}`)
    await delay(retryAfterMs(response))
  }
}

/** @throws Error with a sentence where the answer is no JSON */
export function jsonOf({ body }: Pick<Answered, 'body'>): unknown {
  return jsonIn(body, "The service's answer")
}

/** @throws Error with a sentence where the answer is not of the shape */
export function shapedAnswer<T>(
  shape: (value: unknown) => { value: T } | { problem: string },
  answer: Answered,
): T {
  const shaped = shape(jsonOf(answer))
  if ('problem' in shaped) throw new Error(printable(`The service's answer: ${shaped.problem}`))
  return shaped.value
}

/** The error of `fetch` says no more than that it failed. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error
}

async function bodyOf(response: Response, maxBytes: number, path: string): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new Error(`${path}: the service answers with more than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function retryAfterMs({ headers }: Response): number {
  const seconds = Number(headers.get('retry-after') ?? 1)
  return Math.min(Number.isNaN(seconds) ? 1 : seconds, RETRY_AFTER_MAX_SECONDS) * 1_000
}

function keyHint(status: number, key: string | undefined): string {
  if (status !== 401) return ''
  return key === undefined
    ? ': give an API key with --key or in COUNTERSIGN_API_KEY'
    : ': it does not know the API key that is given'
}

const isError = Compile(ErrorBody)

function refusal(status: number, body: Buffer): string {
  try {
    const answer: unknown = JSON.parse(body.toString())
    if (isError.Check(answer)) return `the service answers ${status}: ${printable(answer.error)}`
  } catch {
    // No JSON.
  }
  return `the service answers ${status}`
}
