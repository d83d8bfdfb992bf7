// Calls a service as the console's own page does: under the console's Host, with the headers that a browser adds.
import { request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { expect } from 'vitest'
import type { TestService } from './service.ts'

/** For CONSOLE_ORIGIN of a service in a test: requests reach it by address and name this host. */
export const CONSOLE_ORIGIN = 'https://console.example'
export const COOKIE = '__Host-countersign-console'

export interface ConsoleCall {
  /** The value of the session's cookie. */
  readonly cookie?: string
  /** Sent as JSON. */
  readonly body?: unknown
  /** In place of, or beside, those of the page; undefined sends none of that name. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

export interface ConsoleReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into replies of every shape
  readonly body: any
  /** The token that the reply sets; '' where the cookie goes. */
  readonly cookie: string | undefined
}

/** The page of a session keeps a secret, by the session's cookie: every request of the page carries both. */
const pageSecrets = new Map<string, string>()

export async function atConsole(
  { url }: Pick<TestService, 'url'>,
  method: string,
  path: string,
  { cookie, body, headers = {} }: ConsoleCall = {},
): Promise<ConsoleReply> {
  const { hostname, port } = new URL(url)
  const text = body === undefined ? '' : JSON.stringify(body)
  const sent = {
    host: new URL(CONSOLE_ORIGIN).host,
    'sec-fetch-site': 'same-origin',
    'x-countersign-console': pageSecrets.get(cookie ?? '') ?? 'login',
    ...(method === 'POST' ? { 'content-length': Buffer.byteLength(text) } : {}),
    ...(cookie === undefined ? {} : { cookie: `${COOKIE}=${cookie}` }),
    ...headers,
  }
  const given = Object.fromEntries(Object.entries(sent).filter(([, value]) => value !== undefined))
  const outgoing = request({ hostname, port, method, path, headers: given as Record<string, string> })
  outgoing.end(text)
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const reply = Buffer.concat(chunks).toString()
  const set = /^[\w-]+=([^;]*)/.exec(response.headers['set-cookie']?.[0] ?? '')?.[1]
  const secret = response.headers['x-countersign-console'] ?? pageSecrets.get(cookie ?? '')
  if (set !== undefined && secret !== undefined) pageSecrets.set(set, String(secret))
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text: reply,
    body:
      response.headers['content-type'] === 'application/json' && reply !== '' ? JSON.parse(reply) : undefined,
    cookie: set,
  }
}

/** The challenge that the login page requests from the service before it asks for a passkey. */
export async function aChallenge(service: Pick<TestService, 'url'>): Promise<string> {
  const { status, body } = await atConsole(service, 'POST', '/console/login/challenge', { body: {} })
  expect(status).toBe(200)
  return body.challenge as string
}

/** @returns the token of a new session */
export async function logIn(service: Pick<TestService, 'url'>, key: string): Promise<{ cookie: string }> {
  const { status, cookie } = await atConsole(service, 'POST', '/console/login', { body: { key } })
  expect(status).toBe(204)
  return { cookie: cookie ?? '' }
}
