// Every reply that an HTTP test gets is held against the OpenAPI document: status, content type, headers, body and error row.
import { appendFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import type * as ResponseValidator from 'openapi-response-validator'
import { expect, inject } from 'vitest'
import { openMatching } from '../../src/server/http/match.ts'
import { openapiDocument } from '../../src/server/openapi/document.ts'
import { failuresOf } from '../../src/server/openapi/responses.ts'
import { routes } from '../../src/server/routes/index.ts'
import type { Route } from '../../src/server/route.ts'
import { rowOf } from './failure-row.ts'

// A CommonJS module whose class is its `default`: an import would give one thing to the compiler and another to the test runner.
const { default: OpenAPIResponseValidator } = createRequire(import.meta.url)(
  'openapi-response-validator',
) as { default: typeof ResponseValidator.default.default }

export interface Replied {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: unknown
}

interface Response {
  readonly headers?: Readonly<Record<string, { $ref: string }>>
  readonly content?: Readonly<Record<string, { schema: object }>>
}

const document = openapiDocument(routes)
const match = openMatching(routes)
const components = closed(document.components) as typeof document.components

/** @throws with the route, the status and the part of the reply that differs from the document */
export function expectConforming(asked: { method: string; path: string }, replied: Replied): void {
  if (asked.method === 'HEAD') return
  const matched = match(asked.method, asked.path)
  // Other paths and methods are not in the document; its description says what they answer.
  if (matched.kind !== 'route') return expectNoRoute(asked, replied)
  const problems = problemsOf(matched.route, replied)
  const row = rowSeen(matched.route, replied)
  if (row === undefined && replied.status >= 400 && !isAnswer(matched.route, replied.status))
    problems.push('no listed error row has this message and code')
  const { method, path } = matched.route
  if (problems.length > 0)
    throw new Error(
      `${method} ${path} answered ${replied.status} not as documented: ${problems.join('; ')}\n${replied.text.slice(0, 500)}`,
    )
  const seen = `${method} ${path} ${replied.status}${row === undefined ? '' : ` ${row}`}\n`
  appendFileSync(join(inject('seenReplies'), basename(expect.getState().testPath ?? 'unknown')), seen)
}

function expectNoRoute({ method, path }: { method: string; path: string }, { status, body }: Replied): void {
  const { error, ...more } = (body ?? {}) as { error?: unknown }
  if (![404, 405].includes(status) || typeof error !== 'string' || Object.keys(more).length > 0)
    throw new Error(`${method} ${path} is no route and answered ${status}: ${JSON.stringify(body)}`)
}

function problemsOf(route: Route, { status, headers, text, body }: Replied): string[] {
  const response = responses(route)[status]
  if (response === undefined) return ['the status is not listed']
  const problems = Object.entries(response.headers ?? {}).flatMap(([name, { $ref }]) =>
    headerProblem(name, $ref, headers.get(name)),
  )
  if (response.content === undefined) return text === '' ? problems : [...problems, 'it has a body']
  const type = headers.get('content-type')?.split(';')[0] ?? 'none'
  if (!(type in response.content)) problems.push(`content type ${type} is not listed`)
  const isJson = type === 'application/json' || type.endsWith('+json')
  const invalid = validatorOf(route, type).validateResponse(String(status), isJson ? body : text)
  // oxlint-disable-next-line typescript/no-unsafe-assignment -- the package types its errors as any
  const errors: { path?: string; message: string }[] = invalid?.errors ?? []
  return [...problems, ...errors.map(({ path, message }) => `${path ?? ''} ${message}`)]
}

function headerProblem(name: string, reference: string, value: string | null): string[] {
  const component = reference.split('/').at(-1) ?? ''
  const { required, schema } = document.components.headers[component] as {
    required?: boolean
    schema: { pattern?: string; enum?: string[] }
  }
  if (value === null) return required ? [`header ${name} is missing`] : []
  const fits = new RegExp(schema.pattern ?? '').test(value) && (schema.enum?.includes(value) ?? true)
  return fits ? [] : [`header ${name} is ${value}`]
}

/** The row of src/core/errors/errors.ts that a failure is of; undefined for answers. */
function rowSeen(route: Route, { status, body }: Replied): string | undefined {
  if (status < 400 || isAnswer(route, status)) return undefined
  const { error, code, errors } = body as { error?: string; code?: string; errors?: string[] }
  const rows = failuresOf(route)
  return errors === undefined
    ? rowOf(rows, { status, error: error ?? '', code })
    : rowOf(rows, { status, error: errors[0] ?? '', code: null })
}

/** As the 503 of GET /ready. */
function isAnswer(route: Route, status: number): boolean {
  return status in route.answers
}

function responses({ method, path }: Route): Readonly<Record<string, Response>> {
  const operation = document.paths[path]?.[method.toLowerCase()] as {
    responses: Record<string, Response | { $ref: string }>
  }
  return Object.fromEntries(
    Object.entries(operation.responses).map(([status, stated]) => [status, referred(stated)]),
  )
}

function referred(stated: Response | { $ref: string }): Response {
  return '$ref' in stated
    ? (document.components.responses[stated.$ref.slice('#/components/responses/'.length)] as Response)
    : stated
}

const validators = new Map<string, ResponseValidator.IOpenAPIResponseValidator>()

/** Makes a validator for answers of one content type, where they have it: the package looks at the first one only. */
function validatorOf(route: Route, type: string): ResponseValidator.IOpenAPIResponseValidator {
  const key = `${route.method} ${route.path} ${type}`
  const known = validators.get(key)
  if (known !== undefined) return known
  // Its types are of OpenAPI 3.0; it reads every keyword of JSON Schema that the document uses, type null included.
  const typed = closed(ofType(responses(route), type)) as Readonly<Record<string, Response>>
  const args = { responses: typed, components: usedBy(Object.values(typed).map(({ content }) => content)) }
  const validator = new OpenAPIResponseValidator(
    args as unknown as ResponseValidator.OpenAPIResponseValidatorArgs,
  )
  validators.set(key, validator)
  return validator
}

type Components = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** The components that a part of the document refers to, over others too: to compile all of them for each route took 60 ms. */
function usedBy(part: unknown, found: Record<string, Record<string, unknown>> = {}): Components {
  for (const [, kind = '', name = ''] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/([\w-]+)"/g)) {
    const ofKind = (found[kind] ??= {})
    if (name in ofKind) continue
    const component = (components as Components)[kind]?.[name]
    if (component === undefined) throw new Error(`the document has no ${kind} ${name}`)
    ofKind[name] = component
    usedBy(component, found)
  }
  return found
}

function ofType(all: Readonly<Record<string, Response>>, type: string): Readonly<Record<string, Response>> {
  return Object.fromEntries(
    Object.entries(all).map(([status, response]) => {
      const { [type]: content } = response.content ?? {}
      return [status, content === undefined ? response : { ...response, content: { [type]: content } }]
    }),
  )
}

/** Clients ignore members they do not know; a test must not: a member that no schema has is one that the document lacks. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  const isOpenObject = members['type'] === 'object' && 'properties' in members
  return isOpenObject ? { additionalProperties: false, ...members } : members
}
