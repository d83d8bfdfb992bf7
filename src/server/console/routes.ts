// The routes of the console, on its host alone (docs/handbook/console.md). They serve our own pages and may change with them, so they are not
// in the OpenAPI document.
import { setTimeout as delay } from 'node:timers/promises'
import { Type } from 'typebox'
import type { Config } from '../../core/config/config.ts'
import { failures } from '../../core/errors/errors.ts'
import type { PathParams } from '../../core/threads/thread-messages.ts'
import { waitMsOf } from '../routes/preferences.ts'
import { get, json, openGet, type Handler, type Route, type RouteRequest } from '../route.ts'
import type { Service } from '../service.ts'
import { routes } from '../routes/index.ts'
import { hasLocalConsole, type ConsoleGate } from './gate.ts'
import { consoleAsset, consoleDocument } from './documents.ts'
import {
  challenge,
  login,
  loginByPasskey,
  loginPasskeys,
  logout,
  registerPasskey,
  removePasskey,
} from './login.ts'

/** Placeholders for the OpenAPI document, which none of these routes is in. */
const undocumented = { operationId: '', tag: 'Pages', summary: '', answers: {}, failures: [] } as const

/** A page of the console, the index included. */
const page = { ...undocumented, ...openGet, handle: consoleDocument } as const

const small = { body: { schema: Type.Unknown(), example: {} }, bodyBytesMax: 8_192 } as const

/** A POST for logging in, open to every client. */
const openPost = { ...undocumented, ...small, method: 'POST', open: true, limit: 'public' } as const

/** A POST of a human who has a session. */
const sessionPost = {
  ...undocumented,
  ...small,
  method: 'POST',
  session: true,
  cost: 'administration',
} as const

const own: readonly Route[] = [
  { ...page, path: '/console' },
  {
    ...undocumented,
    ...openGet,
    path: '/console/assets/{asset}',
    handle: consoleAsset,
  },
  { ...openPost, path: '/console/login', handle: login },
  { ...openPost, path: '/console/login/challenge', handle: challenge },
  { ...openPost, path: '/console/login/passkey', handle: loginByPasskey },
  { ...sessionPost, path: '/console/logout', handle: logout },
  { ...undocumented, ...get, path: '/console/data/login-passkeys', handle: loginPasskeys },
  { ...sessionPost, path: '/console/data/login-passkeys', handle: registerPasskey },
  { ...sessionPost, path: '/console/data/login-passkeys/{loginPasskeyId}/remove', handle: removePasskey },
  // Without a session the answer is 200 too: a browser would show a refusal as an error, and the audit would record it.
  { ...undocumented, ...get, path: '/console/me', open: 'configured', handle: me },
  {
    ...undocumented,
    ...get,
    // The prefix `data` keeps this path apart from the paths of the pages.
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

/** The routes on every other host. The embedded service prints 127.0.0.1 as its address; the console's path there redirects to localhost. */
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

/** @param originOf the origin that serves the path; undefined: the path is not found */
function redirect(
  path: string,
  originOf: (request: RouteRequest, gate: ConsoleGate) => string | undefined,
): Handler {
  return async (request, { console }) => {
    const origin = originOf(request, console)
    if (origin === undefined) return failures.pathNotFound()
    // The query is kept: a bookmarked or shared link keeps its filters.
    const query = request.query.size === 0 ? '' : `?${request.query.toString()}`
    return {
      status: 307,
      headers: { Location: `${origin}${filled(path, request.params)}${query}` },
      body: '',
    }
  }
}

function filled(path: string, params: PathParams): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodedPath(params[name] ?? ''))
}

function encodedPath(text: string): string {
  return text.split('/').map(encodeURIComponent).join('/')
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

/** Answers the complete seconds later than `after`. With `Prefer: wait` the reply waits for the next one. */
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
