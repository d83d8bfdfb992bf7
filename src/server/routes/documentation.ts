// The pages that show the OpenAPI document (interface §4.1): one to try requests, one to read.
import { NonEmptyText } from '../../formats/schemas/primitives.ts'
import { fileAnswer, pageAnswer } from '../openapi/answers.ts'
import { assetHandler } from '../pages/assets.ts'
import { pages } from '../pages/home.ts'
import { answerKept } from '../kept-document.ts'
import { htmlDocument } from '../pages/html.ts'
import { openGet, type Route } from '../route.ts'

const style = `
body { margin: 0 }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; padding: 0.75rem 1.25rem; background: #1f5f5b }
nav a { color: #fff; font: 1rem/1.4 system-ui, sans-serif; text-decoration: none }
nav a:hover, nav a[aria-current] { text-decoration: underline }
nav a:focus-visible { outline: 2px solid #fff; outline-offset: 2px }
`

/** Links to the other pages, above the content that the page's script renders. */
function navigation(current: string): string {
  const links = pages.map(
    ({ path, title }) => `<a href="${path}"${path === current ? ' aria-current="page"' : ''}>${title}</a>`,
  )
  return `<nav aria-label="Pages">\n${links.join('\n')}\n</nav>`
}

/** Swagger UI, which the script `start` sets up for the page. Both pages share its files. */
const swaggerPage = (path: string, title: string, start: string) =>
  htmlDocument({
    title: `Countersign API: ${title}`,
    body: `${navigation(path)}
<div id="swagger-ui"></div>
<noscript>This page needs JavaScript; <a href="/openapi.yaml">/openapi.yaml</a> does not.</noscript>`,
    style,
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
