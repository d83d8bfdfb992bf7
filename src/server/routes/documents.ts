// Documents for machines (interface §4.1): the OpenAPI document in both notations, and the manifest that names everything else.
import { Type } from 'typebox'
import { NonEmptyText } from '../../core/schemas/primitives.ts'
import { ApiManifest } from '../../core/schemas/system.ts'
import { json, openGet, type Route } from './route.ts'
import { API_VERSION, NAME } from './system.ts'

const DOCUMENT_CACHE = 'public, max-age=3600'
/** Short, because the manifest names the build, which an upgrade changes. */
const MANIFEST_CACHE = 'public, max-age=300'

/** What the manifest says of every build (decisions §5). */
const manifest = {
  openapi: { yaml: '/openapi.yaml', json: '/openapi.json' },
  documentation: {
    interactive: '/documentation',
    reference: '/reference',
    handbook: '/handbook',
    verifier: '/verifier',
  },
  authentication: { type: 'bearer', header: 'Authorization' },
  // The client packages and their own versions (interface §9.5); a test compares them with the packages.
  clients: {
    typescript: { package: '@countersign/client', version: '0.3.0' },
    python: { package: 'countersign-client', version: '0.3.0' },
  },
}

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
        cached: true,
      },
    },
    failures: ['overloaded'],
    handle: async (_request, { openapi }) => ({
      status: 200,
      headers: { 'Content-Type': 'application/yaml' },
      body: openapi.yaml,
      cache: DOCUMENT_CACHE,
    }),
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
        cached: true,
      },
    },
    failures: ['overloaded'],
    handle: async (_request, { openapi }) => ({ status: 200, body: openapi.json, cache: DOCUMENT_CACHE }),
  },
  {
    ...openGet,
    path: '/api-manifest.json',
    operationId: 'getApiManifest',
    tag: 'System',
    summary: 'What a machine reads first',
    answers: {
      200: {
        description: 'Where everything else is.',
        schema: ApiManifest,
        example: { name: 'countersign', apiVersion: 'v1', buildVersion: '0.1.0', ...manifest },
        cached: true,
      },
    },
    failures: [],
    handle: async (_request, { config: { buildVersion } }) =>
      json({ name: NAME, apiVersion: API_VERSION, buildVersion, ...manifest }, { cache: MANIFEST_CACHE }),
  },
] as const satisfies readonly Route[]
