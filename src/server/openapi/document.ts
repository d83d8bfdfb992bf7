// The OpenAPI 3.1 document (interface §4.1, §9.3), made from the rows of the route table and their TypeBox schemas, so it cannot drift.
import { stringify } from 'yaml'
import type { Route } from '../route.ts'
import type { OpenApiTexts } from '../service.ts'
import { componentSchemas, schemaOf } from './components.ts'
import { headers } from './headers.ts'
import { tags } from './operation.ts'
import { parametersOf } from './operation-parameters.ts'
import { componentName, responsesOf } from './responses.ts'
import { sharedParameters, sharedResponses, type Shared } from './shared.ts'

/** @returns the document in both notations, each rendered when it is first read */
export function openapiTexts(routes: readonly Route[]): OpenApiTexts {
  let json: string | undefined
  let yaml: string | undefined
  return {
    // Not rendered at the start: rendering both was a third of the main thread's work then.
    get json() {
      return (json ??= JSON.stringify(openapiDocument(routes)))
    },
    get yaml() {
      // `compat` quotes timestamps and words like `on`, which YAML 1.1 readers (PyYAML, js-yaml) turn into dates and booleans.
      return (yaml ??= stringify(openapiDocument(routes), {
        aliasDuplicateObjects: false,
        lineWidth: 110,
        compat: 'yaml-1.1',
      }))
    },
  }
}

/** The document is the same for every deployment; GET /version names the build. */
export function openapiDocument(routes: readonly Route[]) {
  const shared = { parameters: sharedParameters(routes), responses: sharedResponses(routes) }
  const { parameters, responses } = shared
  const operations = paths(routes, shared)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Countersign',
      version: '1.0.0',
      summary:
        'Executes business transactions under policy and human authority, and proves it with signed receipts.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that serves this document.' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    security: [{ bearer: [] }],
    paths: operations,
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, `csk_…`, issued by an operator for one calling system.',
        },
      },
      headers: headerComponents(JSON.stringify([operations, responses])),
      parameters,
      responses,
      schemas: componentSchemas(),
    },
  }
}

const DESCRIPTION = `A caller submits a Business Transaction. The service decides it under a named, versioned policy, executes it through a
connector, and seals what happened in a signed Execution Trust Record with a verification and a receipt.

- Every failure is \`{error}\`, with a \`code\` where it has one. Branch on the status, then on the code, never on the text.
- \`businessTransactionId\` is the idempotency key: a repeat answers 409, and the first result is read back.
- A caller reads what it submitted; anything else is the same 404 as an unknown id.
- Within v1 routes, fields and codes are added, never removed: ignore what you do not know.
- An unknown path answers 404 \`{"error":"Not Found"}\`, a wrong method 405 with \`Allow\`. HEAD is answered wherever GET is.
- A body needs a \`Content-Length\`. Requests with \`Transfer-Encoding\` (chunked, 411), without \`Host\` or with an absolute target, \`OPTIONS *\` and
  CONNECT end the connection.
- The examples of POST /execute and POST /transactions are for the caller \`local-dev\` that \`npm start\` makes, and their ids work
  once. With another key put your own \`callerId\` for \`authority.principalId\`.
`

function paths(
  routes: readonly Route[],
  shared: Readonly<Record<'parameters' | 'responses', Shared>>,
): Record<string, Record<string, unknown>> {
  const byPath = Map.groupBy(routes, ({ path }) => path)
  return Object.fromEntries(
    [...byPath].map(([path, ofPath]) => [
      path,
      Object.fromEntries(ofPath.map((route) => [route.method.toLowerCase(), operationObject(route, shared)])),
    ]),
  )
}

function operationObject(
  route: Route,
  shared: Readonly<Record<'parameters' | 'responses', Shared>>,
): Record<string, unknown> {
  const { operationId, tag, summary, description, body } = route
  const parameters = parametersOf(route).map((parameter) =>
    parameter.name in shared.parameters ? { $ref: `#/components/parameters/${parameter.name}` } : parameter,
  )
  return {
    operationId,
    tags: [tag],
    summary,
    ...(description === undefined ? {} : { description }),
    ...(route.open === undefined ? {} : { security: route.open === true ? [] : [{ bearer: [] }, {}] }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(body.schema), example: body.example } },
          },
        }),
    responses: Object.fromEntries(
      responsesOf(route).map(({ status, name, response }) => [
        status,
        name !== undefined && name in shared.responses
          ? { $ref: `#/components/responses/${name}` }
          : response,
      ]),
    ),
  }
}

/** The header components that a response refers to. */
function headerComponents(responses: string): Record<string, unknown> {
  const components = Object.entries(headers).flatMap(([name, header]): [string, unknown][] => [
    [componentName(name, true), { ...header, required: true }],
    [componentName(name, false), header],
  ])
  return Object.fromEntries(
    components.filter(([name]) => responses.includes(`"#/components/headers/${name}"`)),
  )
}
