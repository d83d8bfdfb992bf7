// The routes of the console, on its host alone (docs/handbook/console.md). They serve our own pages and may change with them, so they are not
// in the OpenAPI document.
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { readsEverything } from '../../formats/people/caller.ts'
import type { Config } from '../../core/config/config.ts'
import { failures, type Audited } from '../../core/errors/errors.ts'
import { endSession } from '../../store/tables/ended-sessions.ts'
import type { PathParams } from '../../core/threads/thread-messages.ts'
import { waitMsOf } from '../routes/preferences.ts'
import { get, json, openGet, type Handler, type Route, type RouteRequest } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { Service } from '../service.ts'
import { routes } from '../routes/index.ts'
import { hasLocalConsole, PAGE_HEADER, type ConsoleGate } from './gate.ts'
import { consoleAsset, consoleDocument } from './documents.ts'

const LoginBody = Compile(
  Type.Object({ key: Type.String({ minLength: 1, maxLength: 512 }) }, { additionalProperties: false }),
)

/** Placeholders for the OpenAPI document, which none of these routes is in. */
const undocumented = { operationId: '', tag: 'Pages', summary: '', answers: {}, failures: [] } as const

/** A page of the console, the index included. */
const page = { ...undocumented, ...openGet, handle: consoleDocument } as const

const own: readonly Route[] = [
  { ...page, path: '/console' },
  {
    ...undocumented,
    ...openGet,
    path: '/console/assets/{asset}',
    handle: consoleAsset,
  },
  {
    ...undocumented,
    method: 'POST',
    path: '/console/login',
    open: true,
    limit: 'public',
    body: { schema: Type.Unknown(), example: {} },
    bodyBytesMax: 4096,
    handle: login,
  },
  {
    ...undocumented,
    method: 'POST',
    path: '/console/logout',
    session: true,
    cost: 'administration',
    body: { schema: Type.Unknown(), example: {} },
    bodyBytesMax: 4096,
    handle: logout,
  },
  // Answered 200 without a session too: a browser would show a refusal as an error, and the audit would have it.
  { ...undocumented, ...get, path: '/console/me', open: 'configured', handle: me },
  {
    ...undocumented,
    ...get,
    // Not beside the pages, which have their own paths.
    path: '/console/data/live',
    handle: live,
  },
  { ...page, path: '/console/{page}', tail: true },
]

/** Pages that run other people's scripts are not served where the session's cookie is. The signer runs our own scripts, and cannot call any server. */
export const consoleRoutes: readonly Route[] = [
  ...own,
  ...routes.map((route) =>
    route.tag === 'Pages' && route.path !== '/signer' ? { ...route, handle: elsewhere(route.path) } : route,
  ),
]

/** On every other host. The embedded service prints 127.0.0.1 as its address; what asks for the console there is sent to localhost. */
export const consoleElsewhere: readonly Route[] = [
  { ...page, path: '/console' },
  { ...page, path: '/console/{page}', tail: true as const },
].map((route) => ({
  ...route,
  mounted: (_params: PathParams, config: Config) => hasLocalConsole(config),
  handle: redirect(route.path, ({ header }, { origin, pagesOrigin }) => {
    const here = pagesOrigin()
    // A browser on another machine must not be redirected to a console on that machine.
    return here !== undefined && header('host') === new URL(here).host ? origin() : undefined
  }),
}))

function elsewhere(path: string): Handler {
  return redirect(path, (_request, { pagesOrigin }) => pagesOrigin())
}

/** @param originOf where the path is; undefined: it is not found */
function redirect(
  path: string,
  originOf: (request: RouteRequest, gate: ConsoleGate) => string | undefined,
): Handler {
  return async (request, { console }) => {
    const origin = originOf(request, console)
    if (origin === undefined) return failures.pathNotFound()
    return { status: 307, headers: { Location: `${origin}${filled(path, request.params)}` }, body: '' }
  }
}

function filled(path: string, params: PathParams): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodedPath(params[name] ?? ''))
}

function encodedPath(text: string): string {
  return text.split('/').map(encodeURIComponent).join('/')
}

async function login({ body, header }: RouteRequest, service: Service) {
  // Without a session there is no cookie to check this by: somebody else's page must not log anybody in.
  if (header('sec-fetch-site') !== 'same-origin' || header(PAGE_HEADER) === undefined)
    return failures.consoleRefused('a login comes from the page of the console')
  const given = parsed(body)
  if (!LoginBody.Check(given)) return failures.invalidField('key is required: the text csk_… of your key.')
  const found = service.console.sessions.callerOf(given.key)
  if (found === undefined) return failures.authenticationRequired()
  if (!readsEverything(found.caller))
    return failures.consoleRefused('the console is for humans (USER) and auditors (readAll)')
  const { callerId } = found.caller
  const { sessionId, token, pageSecret } = await service.console.sessions.open(found.caller)
  return empty(
    { 'Set-Cookie': service.console.cookie(token), 'X-Countersign-Console': pageSecret },
    {
      type: 'session.opened',
      reason: 'A session of the console was opened.',
      detail: { callerId, sessionId },
    },
  )
}

async function logout({ session }: RouteRequest, { pool, console }: Service) {
  if (session === undefined) return failures.authenticationRequired()
  await endSession(pool, session)
  console.sessions.noteEnded(session)
  return empty(
    // Not the storage: the page takes its secret out itself, and leaves the filters that the human keeps there.
    { 'Set-Cookie': console.cookie(undefined), 'Clear-Site-Data': '"cache"' },
    {
      type: 'session.ended',
      reason: 'A session of the console was ended.',
      detail: { callerId: session.caller.callerId, sessionId: session.sessionId },
    },
  )
}

async function me({ session, caller }: RouteRequest, { config }: Service) {
  if (session === undefined || caller === undefined) return json(null)
  const { callerId, credentialHolderType, readAll, approverId = null, allowedCapabilities } = caller
  const { stepUpPasskey = null } = caller
  return json({
    callerId,
    credentialHolderType,
    readAll,
    approverId,
    allowedCapabilities,
    stepUpPasskey,
    expiresAt: session.expiresAt,
    version: config.buildVersion,
    catalogue: config.catalogue !== undefined,
  })
}

/** Complete seconds behind `after`. With `Prefer: wait` the reply waits for the next one. */
async function live(request: RouteRequest, { console, dispatcher, stopping }: Service) {
  const after = Number(request.query.get('after') ?? 0)
  if (!Number.isInteger(after)) return failures.invalidQuery('after must be a whole number: Unix time.')
  const untilMs = Date.now() + waitMsOf(request)
  let seconds = console.live.since(after)
  while (seconds.length === 0 && Date.now() < untilMs && !stopping()) {
    await delay(1000 - (Date.now() % 1000))
    seconds = console.live.since(after)
  }
  const { waiting } = dispatcher.load()
  return json({
    seconds,
    queue: [...waiting.values()].reduce((sum, count) => sum + count, 0),
    inDoubt: await console.inDoubt(),
    pendingEvidence: dispatcher.pendingEvidence(),
  })
}

function empty(headers: Readonly<Record<string, string>>, audit: Audited): Answer {
  return { status: 204, headers: { 'Cache-Control': 'no-store', ...headers }, body: '', audit }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString()) as unknown
  } catch {
    return undefined
  }
}
