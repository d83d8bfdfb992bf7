// A ready receiver for an in-house API: a release becomes one request, which a file describes.
import { Refused, type Outcome, type Release } from '../../clients/typescript/src/receiver/index.ts'
import type { Json } from '../formats/json/canonical.ts'
import { isObject } from '../formats/json/fields.ts'
import { parseJsonText } from '../formats/json/text.ts'
import { isSettled } from './absence.ts'
import type { HttpReceiver } from './config.ts'
import { exchange, NeverConnected } from './exchange.ts'
import { filledBody, filledText, filledUrl } from './template.ts'

const TIMEOUT_SECONDS = 30
const TEXT_CHARACTERS_MAX = 500
const DEPTH_MAX = 60

/** A receiver's `act` and `readBack`, made from a file. */
export function httpEffect({ request, readBack }: Pick<HttpReceiver, 'request' | 'readBack'>) {
  const timeoutMs = (request.timeoutSeconds ?? TIMEOUT_SECONDS) * 1000

  async function act(release: Release): Promise<Json> {
    const body = request.body === undefined ? undefined : filledBody(request.body as Json, release)
    const sent = {
      method: request.method,
      url: filledUrl(request.url, release),
      headers: {
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...filledHeaders(request.headers, release),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      timeoutMs,
    }
    const answered = await exchange(sent).catch((error: unknown) => {
      throw error instanceof NeverConnected ? new Refused(error.message) : error
    })
    const said = saidBy(answered.body)
    if (request.executed.includes(answered.status))
      return { status: answered.status, answer: kept(said, request.keep) }
    if (request.notExecuted?.includes(answered.status) === true)
      throw new Refused(`${sent.url.host} answered ${answered.status}: ${shortOf(said)}`)
    throw new Error(`${sent.url.host} answered ${answered.status}, which the file does not explain`)
  }

  async function lookUp(release: Release): Promise<Outcome | undefined> {
    if (readBack === undefined) return undefined
    const url = filledUrl(readBack.url, release)
    const { status, body } = await exchange({
      method: 'GET',
      url,
      headers: filledHeaders(readBack.headers, release),
      timeoutMs,
    })
    if (readBack.executed.includes(status))
      return { executed: true, result: { status, answer: kept(saidBy(body), readBack.keep) } }
    if (isSettled(release) && readBack.notExecuted?.includes(status) === true)
      return { executed: false, reason: `${url.host} answered ${status} when it was asked` }
    return undefined
  }

  return { act, readBack: lookUp }
}

function filledHeaders(
  headers: Readonly<Record<string, string>> = {},
  release: Release,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, text]) => {
      const filled = filledText(text, release)
      if (/[^\t\x20-\x7e\x80-\xff]/.test(filled))
        throw new Refused(`${name} would have a character that no header can.`)
      return [name, filled]
    }),
  )
}

/** The answer as JSON if it has one reading, else the beginning of its text. */
function saidBy(body: Buffer): Json {
  const text = body.toString('utf8')
  try {
    return parseJsonText(text, DEPTH_MAX) as Json
  } catch {
    return text.slice(0, TEXT_CHARACTERS_MAX)
  }
}

function kept(said: Json, keep: readonly string[] | undefined): Json {
  if (keep === undefined || !isObject(said)) return said
  return Object.fromEntries(keep.flatMap((name) => (name in said ? [[name, said[name] as Json]] : [])))
}

function shortOf(said: Json): string {
  const text = typeof said === 'string' ? said : JSON.stringify(said)
  return text.length > TEXT_CHARACTERS_MAX ? `${text.slice(0, TEXT_CHARACTERS_MAX)}…` : text
}
