// The responses of a route: its answers and its failures, including those that the HTTP front end adds (decisions §3 order, §11
// headers).
import type { Route } from '../route.ts'
import { ErrorBody, PolicyValidity } from '../../formats/schemas/error.ts'
import { schemaOf } from './components.ts'
import { shownFailures, type FailureRow } from './failure-rows.ts'
import type { AnswerShape } from './operation.ts'

/** Every failure that a route can answer. */
export function failuresOf(route: Route): FailureRow[] {
  const body: FailureRow[] = [
    ...(route.body?.anyBytes ? [] : ['malformedJson' as const]),
    'payloadTooLarge',
    'overloaded',
  ]
  const database: FailureRow[] = ['internal', 'databaseUnavailable']
  const rows: FailureRow[] = [
    ...route.failures,
    ...(route.open !== true ? ['authenticationRequired' as const] : []),
    ...(route.human || route.readers ? ['nonHumanCaller' as const] : []),
    ...(route.appends ? ['readOnlyCaller' as const] : []),
    ...(route.query === undefined ? [] : ['invalidQuery' as const]),
    ...(route.limit === undefined && route.cost === undefined ? [] : ['rateLimited' as const]),
    ...(route.body === undefined ? [] : body),
    ...(route.readsDatabase ? database : []),
  ]
  return [...new Set(rows)]
}

export interface ShownResponse {
  readonly status: string
  /** The name of a component, where other routes answer the same; undefined for an answer of one route alone. */
  readonly name?: string
  readonly response: object
}

/** The `responses` of an operation, in the order of their statuses. */
export function responsesOf(route: Route): ShownResponse[] {
  const answers = Object.entries(route.answers).flatMap(([status, shape]): ShownResponse[] => [
    { status, response: answer(route, shape) },
    ...(isCached(shape) ? [notModified(route, shape)] : []),
  ])
  const rows = Map.groupBy(failuresOf(route), (row) => shownFailures[row].status)
  const failed = [...rows].map(([status, ofStatus]): ShownResponse => ({
    status: String(status),
    name: nameOf(route, status, ofStatus.join('-or-')),
    response: failure(route, status, ofStatus),
  }))
  return [...answers, ...failed].toSorted((one, other) => Number(one.status) - Number(other.status))
}

/** Routes with the same name for a status answer it alike. */
function nameOf(route: Route, status: number, said: string): string {
  const { open, limit, cost, page, failureBody } = route
  const isLimited = !isBeforeLimits(route, status)
  const how = Object.entries({
    open: open === true,
    executing: isLimited && limit === 'execute',
    unlimited: isLimited && limit === undefined && cost === undefined,
    unmounted: isUnmounted(route, status),
    paged: page !== undefined,
    listed: failureBody !== undefined,
  })
  return [said, ...how.flatMap(([word, holds]) => (holds ? [word] : []))].join('.')
}

function answer(route: Route, shape: AnswerShape) {
  const content = { schema: schemaOf(shape.schema), example: shape.example }
  const types = [shape.contentType ?? 'application/json', ...(shape.otherContentTypes ?? [])]
  return {
    description: shape.description,
    headers: headersOf([
      ...always,
      ...pageHeaders(route),
      ...limitHeaders(route),
      ...(isCached(shape) ? cacheHeaders : notKept(route)),
      ...(shape.kept ? codingHeaders : []),
      ...(shape.headers ?? []).map((name) => ({ name, required: true })),
      ...(shape.optionalHeaders ?? []).map((name) => ({ name, required: false })),
    ]),
    content: {
      ...Object.fromEntries(types.map((type) => [type, content])),
      ...Object.fromEntries(
        Object.entries(shape.alternatives ?? {}).map(([type, { schema, example }]) => [
          type,
          { schema: schemaOf(schema), example },
        ]),
      ),
      ...pageContent(route),
    },
  }
}

/** A route with a page answers HTML, too, to a client whose `Accept` prefers it. */
function pageContent({ page }: Route) {
  return page === undefined ? {} : { 'text/html': { schema: { type: 'string', description: 'HTML' } } }
}

const pageHeaders = ({ page }: Route): Header[] => (page === undefined ? [] : [required('Vary')])

/** Whether the answer has an ETag. */
export function isCached({ cached, kept }: AnswerShape): boolean {
  return cached === true || kept === true
}

function notModified(route: Route, { kept }: AnswerShape): ShownResponse {
  return {
    status: '304',
    name: nameOf(route, 304, kept ? 'notModified-encoded' : 'notModified'),
    response: {
      description: 'Unchanged: If-None-Match names the current ETag.',
      headers: headersOf([
        ...always,
        ...limitHeaders(route),
        ...cacheHeaders,
        ...(kept ? codingHeaders : []),
      ]),
    },
  }
}

function failure(route: Route, status: number, rows: readonly FailureRow[]) {
  const render = status === 401 ? undefined : route.failureBody
  const examples = rows.map((row) => {
    const shown = shownFailures[row]
    return [row, { summary: shown.message, value: JSON.parse(render?.(shown) ?? shown.body()) as unknown }]
  })
  return {
    description: rows.map((row) => shownFailures[row].message).join(' · '),
    headers: headersOf([
      ...always,
      ...notKept(route, !isUnmounted(route, status)),
      ...pageHeaders(route),
      ...(isBeforeLimits(route, status) ? [] : limitHeaders(route, status === 429)),
      ...ownHeaders(rows),
      ...(status === 401 ? [{ name: 'DPoP-Nonce', required: false }] : []),
    ]),
    content: {
      'application/json': {
        schema: schemaOf(render === undefined ? ErrorBody : PolicyValidity),
        examples: Object.fromEntries(examples) as Record<string, unknown>,
      },
      ...pageContent(route),
    },
  }
}

/** 401, 413 and the 404 of a path that this configuration does not serve are answered before the limiter. */
function isBeforeLimits(route: Route, status: number): boolean {
  return status === 401 || status === 413 || isUnmounted(route, status)
}

function isUnmounted({ mounted }: Route, status: number): boolean {
  return status === 404 && mounted !== undefined
}

interface Header {
  readonly name: string
  readonly required: boolean
}

const always: readonly Header[] = ['X-Request-Id', 'X-Content-Type-Options'].map(required)
const cacheHeaders: readonly Header[] = ['ETag', 'Cache-Control'].map(required)
const codingHeaders: readonly Header[] = [required('Vary'), { name: 'Content-Encoding', required: false }]

/** Every reply of a route that needs a key is `private, no-store`, except evidence that a cache may keep. */
function notKept({ open }: Route, certain = true): Header[] {
  return open === true ? [] : [{ name: 'Cache-Control', required: certain }]
}

/** Where authentication is disabled there is no execute limiter (interface §8), so its headers may be missing. */
function limitHeaders({ limit, cost }: Route, certain = false): Header[] {
  if (limit === undefined && cost === undefined) return []
  return ['RateLimit-Policy', 'RateLimit'].map((name) => ({ name, required: certain || limit !== 'execute' }))
}

/** Headers of the failures themselves, required where each failure has it. `Connection` concerns the connection, not the reply. */
function ownHeaders(rows: readonly FailureRow[]): Header[] {
  const names = rows.flatMap((row) => Object.keys(shownFailures[row].headers))
  return [...new Set(names)]
    .filter((name) => name !== 'Connection')
    .map((name) => ({ name, required: rows.every((row) => name in shownFailures[row].headers) }))
}

function required(name: string): Header {
  return { name, required: true }
}

function headersOf(used: readonly Header[]): Record<string, { $ref: string }> {
  return Object.fromEntries(
    used.map(({ name, required: certain }) => [
      name,
      { $ref: `#/components/headers/${componentName(name, certain)}` },
    ]),
  )
}

/** `required` is a member of the component, so a header that may be missing is a component of its own. */
export function componentName(name: string, certain: boolean): string {
  return certain ? name : `Optional-${name}`
}
