// The documents and pages of interface §4.1 and decisions §5, §9.
import { Type } from 'typebox'
import { NonEmptyText } from '../../../core/schemas/primitives.ts'
import { ApiManifest } from '../../../core/schemas/system.ts'
import type { AnswerShape, Operation } from '../operation.ts'

const Html = Type.String({ description: 'HTML' })
const Code = Type.String({ description: 'the text of a file' })

const page = (description: string): AnswerShape => ({
  description,
  schema: Html,
  example: '<!doctype html>',
  contentType: 'text/html',
  headers: ['Content-Security-Policy'],
  cached: true,
})

const asset = (contentType: 'text/css' | 'text/javascript', other: readonly string[] = []): AnswerShape => ({
  description: 'The file.',
  schema: Code,
  example: '/* … */',
  contentType,
  otherContentTypes: other,
  cached: true,
})

export const documents = {
  'GET /openapi.yaml': {
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
  },
  'GET /openapi.json': {
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
  },
  'GET /api-manifest.json': {
    operationId: 'getApiManifest',
    tag: 'System',
    summary: 'What a machine reads first',
    answers: {
      200: {
        description: 'Where everything else is.',
        schema: ApiManifest,
        example: {
          name: 'countersign',
          apiVersion: 'v1',
          buildVersion: '0.1.0',
          openapi: { yaml: '/openapi.yaml', json: '/openapi.json' },
          documentation: {
            interactive: '/documentation',
            reference: '/reference',
            handbook: '/handbook',
            verifier: '/verifier',
          },
          authentication: { type: 'bearer', header: 'Authorization' },
          clients: {
            typescript: { package: '@countersign/client', version: '0.2.0' },
            python: { package: 'countersign-client', version: '0.2.0' },
          },
        },
        cached: true,
      },
    },
    failures: [],
  },
  'GET /documentation': {
    operationId: 'getDocumentation',
    tag: 'Pages',
    summary: 'Interactive documentation, to try requests',
    answers: { 200: page('The page.') },
    failures: [],
  },
  'GET /documentation/{asset}': {
    operationId: 'getDocumentationAsset',
    tag: 'Pages',
    summary: 'A script or style sheet of that page',
    params: {
      asset: { schema: NonEmptyText, description: 'Its file name.', example: 'documentation.js' },
    },
    answers: { 200: asset('text/javascript', ['text/css']) },
    failures: ['pathNotFound', 'overloaded'],
  },
  'GET /reference': {
    operationId: 'getReference',
    tag: 'Pages',
    summary: 'This document as a page to read',
    answers: { 200: page('The page.') },
    failures: [],
  },
  'GET /reference/{asset}': {
    operationId: 'getReferenceAsset',
    tag: 'Pages',
    summary: 'A script of that page',
    params: { asset: { schema: NonEmptyText, description: 'Its file name.', example: 'reference.js' } },
    answers: { 200: asset('text/javascript') },
    failures: ['pathNotFound', 'overloaded'],
  },
  'GET /handbook': {
    operationId: 'getHandbook',
    tag: 'Pages',
    summary: "The operator's and caller's handbook",
    answers: { 200: page('Its contents.') },
    failures: [],
  },
  'GET /handbook/{page}': {
    operationId: 'getHandbookPage',
    tag: 'Pages',
    summary: 'A chapter of the handbook',
    params: { page: { schema: NonEmptyText, description: 'Its name.', example: 'callers' } },
    answers: { 200: page('The chapter.') },
    failures: ['pathNotFound'],
  },
  'GET /verifier': {
    operationId: 'getVerifier',
    tag: 'Pages',
    summary: 'A page that checks evidence offline',
    answers: { 200: page('The page; what is checked on it leaves no browser.') },
    failures: ['overloaded'],
  },
  'GET /verifier/countersign-verify.mjs': {
    operationId: 'getVerifierCommand',
    tag: 'Pages',
    summary: 'A program that checks evidence offline',
    description:
      'One file for Node 20 or newer, which installs nothing: `node countersign-verify.mjs record.json --jwks keys.json`.',
    answers: { 200: asset('text/javascript') },
    failures: ['overloaded'],
  },
} as const satisfies Record<string, Operation>
