// The two views of the OpenAPI document (interface §4.1): GET /documentation, to try requests, and GET /reference, to read.
import { assetHandler } from '../pages/assets.ts'
import { pages } from '../pages/home.ts'
import { htmlAnswer } from '../pages/html.ts'
import type { Handler } from './route.ts'

const style = `
body { margin: 0 }
nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; padding: 0.75rem 1.25rem; background: #1f5f5b }
nav a { color: #fff; font: 1rem/1.4 system-ui, sans-serif; text-decoration: none }
nav a:hover, nav a[aria-current] { text-decoration: underline }
nav a:focus-visible { outline: 2px solid #fff; outline-offset: 2px }
`

/** Links to the other pages, above what the page's script makes. */
function navigation(current: string): string {
  const links = pages.map(
    ({ path, title }) => `<a href="${path}"${path === current ? ' aria-current="page"' : ''}>${title}</a>`,
  )
  return `<nav aria-label="Pages">\n${links.join('\n')}\n</nav>`
}

const documentationPage = htmlAnswer({
  title: 'Countersign API: documentation',
  body: `${navigation('/documentation')}
<div id="documentation"></div>
<noscript>This page needs JavaScript; <a href="/openapi.yaml">/openapi.yaml</a> does not.</noscript>`,
  style,
  styleSheets: ['/documentation/swagger-ui.css'],
  scripts: ['/documentation/swagger-ui-bundle.js', '/documentation/documentation.js'],
})

export const documentation: Handler = () => documentationPage

export const documentationAsset = assetHandler(
  new Map([
    ['swagger-ui.css', { from: 'swagger-ui-dist/swagger-ui.css', type: 'text/css' }],
    ['swagger-ui-bundle.js', { from: 'swagger-ui-dist/swagger-ui-bundle.js', type: 'text/javascript' }],
    ['documentation.js', { from: './documentation.js', type: 'text/javascript' }],
  ]),
)

/** The two style elements that Redoc makes; another version may need others, which test/browser would tell. */
const REDOC_STYLE_HASHES = [
  // Empty; its rules come through the CSSOM, which no policy concerns.
  '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  // Of perfect-scrollbar.
  'QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc=',
]

const referencePage = htmlAnswer({
  title: 'Countersign API: reference',
  body: `${navigation('/reference')}
<div id="reference"></div>
<noscript>This page needs JavaScript; <a href="/openapi.yaml">/openapi.yaml</a> does not.</noscript>`,
  style,
  styleHashes: REDOC_STYLE_HASHES,
  scripts: ['/reference/redoc.standalone.js', '/reference/reference.js'],
})

export const reference: Handler = () => referencePage

/** Redoc shows this image below its menu, and leaves it out when it does not load. */
const REDOC_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg'

export const referenceAsset = assetHandler(
  new Map([
    [
      'redoc.standalone.js',
      {
        from: 'redoc/bundles/redoc.standalone.js',
        type: 'text/javascript',
        // Asking for it would tell a third party who reads this page; the page's policy would refuse with an error in the console.
        edit: (text: string) => text.replaceAll(REDOC_LOGO, 'data:,'),
      },
    ],
    ['reference.js', { from: './reference.js', type: 'text/javascript' }],
  ]),
)
