// The two views of the OpenAPI document (interface §4.1): GET /documentation, to try requests, and GET /reference, to read.
import { assetHandler } from '../pages/assets.ts'
import { htmlAnswer } from '../pages/html.ts'
import type { Handler } from './route.ts'

const style = 'body { margin: 0 }'

const documentationPage = htmlAnswer({
  title: 'Countersign API: documentation',
  body: '<div id="documentation"></div>\n<noscript>This page needs JavaScript; <a href="/openapi.yaml">/openapi.yaml</a> does not.</noscript>',
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
  body: '<div id="reference"></div>\n<noscript>This page needs JavaScript; <a href="/openapi.yaml">/openapi.yaml</a> does not.</noscript>',
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
