// Documents for machines (interface §4.1): the OpenAPI document in both notations, and the manifest that names all other documents.
import { Type } from 'typebox'
import { NonEmptyText } from '../../formats/schemas/primitives.ts'
import { ApiManifest } from '../../formats/schemas/system.ts'
import { answerKept, onceFor, type KeptDocument } from '../kept-document.ts'
import { openGet, type Route } from '../route.ts'
import type { OpenApiTexts, Service } from '../service.ts'
import { API_VERSION, NAME } from './system.ts'

const DOCUMENT_CACHE = 'public, max-age=3600'
/** Short, because an upgrade changes the build that the manifest names. */
const MANIFEST_CACHE = 'public, max-age=300'

/** The members of the manifest that are the same for every build (decisions §5). */
const manifest = {
  openapi: { yaml: '/openapi.yaml', json: '/openapi.json' },
  documentation: {
    interactive: '/documentation',
    reference: '/reference',
    handbook: '/handbook',
    verifier: '/verifier',
  },
  authentication: { type: 'bearer', header: 'Authorization' },
  // The client packages and their own versions (interface §9.5); a test compares them with the packages. No registry has the packages: they
  // are installed from a file or folder of the project, and `GET /handbook` says how.
  clients: {
    typescript: { package: 'countersign-client', version: '0.4.0' },
    python: { package: 'countersign-client', version: '0.4.0' },
  },
}

const openapiYaml = onceFor(({ yaml }: OpenApiTexts): KeptDocument => ({
  headers: { 'Content-Type': 'application/yaml' },
  body: yaml,
  cache: DOCUMENT_CACHE,
}))
const openapiJson = onceFor(({ json }: OpenApiTexts): KeptDocument => ({ body: json, cache: DOCUMENT_CACHE }))
const manifestOf = onceFor(({ buildVersion }: Service['config']): KeptDocument => ({
  body: JSON.stringify({ name: NAME, apiVersion: API_VERSION, buildVersion, ...manifest }),
  cache: MANIFEST_CACHE,
}))

export const documents = [
  {
    ...openGet,
    path: '/openapi.yaml',
    operationId: 'getOpenApiYaml',
    tag: 'System',
    summary: 'This document',
    answers: {
      200: {
        description: 'Complete and self-contained.',
        schema: Type.String({ description: 'OpenAPI 3.1 in YAML' }),
        example: 'openapi: 3.1.0',
        contentType: 'application/yaml',
        kept: true,
      },
    },
    failures: ['overloaded'],
    handle: (request, { openapi }) => answerKept(openapiYaml(openapi), request),
  },
  {
    ...openGet,
    path: '/openapi.json',
    operationId: 'getOpenApiJson',
    tag: 'System',
    summary: 'This document as JSON',
    answers: {
      200: {
        description: 'The same document.',
        schema: Type.Object({ openapi: NonEmptyText }, { additionalProperties: true }),
        example: { openapi: '3.1.0' },
        kept: true,
      },
    },
    failures: ['overloaded'],
    handle: (request, { openapi }) => answerKept(openapiJson(openapi), request),
  },
  {
    ...openGet,
    path: '/api-manifest.json',
    operationId: 'getApiManifest',
    tag: 'System',
    summary: 'Machine-readable index of the API',
    answers: {
      200: {
        description: 'Links to the documents, the keys and the routes.',
        schema: ApiManifest,
        example: { name: 'countersign', apiVersion: 'v1', buildVersion: '0.2.0', ...manifest },
        kept: true,
      },
    },
    failures: [],
    handle: (request, { config }) => answerKept(manifestOf(config), request),
  },
] as const satisfies readonly Route[]
