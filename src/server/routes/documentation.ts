// The pages that show the OpenAPI document (interface §4.1): one to try requests, one to read.
import { NonEmptyText } from '../../formats/schemas/primitives.ts'
import { fileAnswer, pageAnswer } from '../openapi/answers.ts'
import { assetHandler } from '../pages/assets.ts'
import { answerKept } from '../kept-document.ts'
import { pageHeader } from '../pages/header.ts'
import { htmlDocument, readStyle } from '../pages/html.ts'
import { openGet, type Route } from '../route.ts'

/** Swagger UI, which the script `start` sets up for the page. Both pages share its files. */
const swaggerPage = (path: string, title: string, start: string) =>
  htmlDocument({
    title: `Countersign API: ${title}`,
    body: `${pageHeader(path)}
<div id="swagger-ui"></div>
<noscript>This page needs JavaScript; <a href="/openapi.yaml">/openapi.yaml</a> does not.</noscript>`,
    style: readStyle('swagger'),
    styleSheets: ['/documentation/swagger-ui.css'],
    scripts: ['/documentation/swagger-ui-bundle.js', '/documentation/adapt.js', start],
  })

const documentationPage = swaggerPage('/documentation', 'documentation', '/documentation/documentation.js')
const referencePage = swaggerPage('/reference', 'reference', '/reference/reference.js')

const documentationAsset = assetHandler(
  new Map([
    ['swagger-ui.css', { from: 'swagger-ui-dist/swagger-ui.css', type: 'text/css' }],
    ['swagger-ui-bundle.js', { from: 'swagger-ui-dist/swagger-ui-bundle.js', type: 'text/javascript' }],
    ['adapt.js', { from: './adapt.js', type: 'text/javascript' }],
    ['documentation.js', { from: './documentation.js', type: 'text/javascript' }],
  ]),
)

const referenceAsset = assetHandler(
  new Map([['reference.js', { from: './reference.js', type: 'text/javascript' }]]),
)

export const documentation = [
  {
    ...openGet,
    path: '/documentation',
    operationId: 'getDocumentation',
    tag: 'Pages',
    summary: 'Interactive documentation for trying requests',
    answers: { 200: pageAnswer('The page.') },
    failures: [],
    handle: (request) => answerKept(documentationPage, request),
  },
  {
    ...openGet,
    path: '/documentation/{asset}',
    operationId: 'getDocumentationAsset',
    tag: 'Pages',
    summary: 'A script or style sheet of that page',
    params: {
      asset: { schema: NonEmptyText, description: 'The file name.', example: 'documentation.js' },
    },
    answers: { 200: fileAnswer('text/javascript', ['text/css']) },
    failures: ['pathNotFound', 'overloaded'],
    handle: documentationAsset,
  },
  {
    ...openGet,
    path: '/reference',
    operationId: 'getReference',
    tag: 'Pages',
    summary: 'This document as a page to read',
    answers: { 200: pageAnswer('The page.') },
    failures: [],
    handle: (request) => answerKept(referencePage, request),
  },
  {
    ...openGet,
    path: '/reference/{asset}',
    operationId: 'getReferenceAsset',
    tag: 'Pages',
    summary: 'A script of that page',
    params: { asset: { schema: NonEmptyText, description: 'The file name.', example: 'reference.js' } },
    answers: { 200: fileAnswer('text/javascript') },
    failures: ['pathNotFound', 'overloaded'],
    handle: referenceAsset,
  },
] as const satisfies readonly Route[]
