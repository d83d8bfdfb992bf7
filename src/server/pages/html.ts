// Our HTML pages and their restrictions in a browser: no content from elsewhere, no inline script, no eval (decisions §11).
import { escapeHtml } from '../../formats/text/text.ts'
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { KeptDocument } from '../kept-document.ts'

/** A tick on a square, in the page itself: a browser would otherwise ask for /favicon.ico. */
export const ICON =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 16%22%3E' +
  '%3Crect width=%2216%22 height=%2216%22 rx=%223%22 fill=%22%231f5f5b%22/%3E' +
  '%3Cpath d=%22M4 8.5l3 3 5.5-7%22 fill=%22none%22 stroke=%22white%22 stroke-width=%222%22/%3E%3C/svg%3E'

/** Pages follow the version that runs: a cache asks each time, and is answered 304. */
const PAGE_CACHE = 'no-cache'

interface Page {
  readonly title: string
  /** HTML. */
  readonly body: string
  /** The text of the page's own style sheet, allowed by its hash. */
  readonly style: string
  /** Paths of scripts and style sheets of our own origin. */
  readonly scripts?: readonly string[]
  readonly styleSheets?: readonly string[]
  readonly modules?: readonly string[]
}

/** @returns the text of a page's style sheet, after the colours and the head that our pages share */
export function readStyle(name: 'home' | 'handbook' | 'swagger'): string {
  return ['colors', 'header', name]
    .map((sheet) => readFileSync(new URL(`./${sheet}.css`, import.meta.url), 'utf8'))
    .join('')
}

export function htmlDocument(page: Page): KeptDocument {
  const { title, body, style, scripts = [], styleSheets = [], modules = [] } = page
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${ICON}">
${styleSheets.map((path) => `<link rel="stylesheet" href="${path}">\n`).join('')}<style>${style}</style>
</head>
<body>
${body}
${scripts.map((path) => `<script src="${path}"></script>\n`).join('')}${modules.map((path) => `<script type="module" src="${path}"></script>\n`).join('')}</body>
</html>
`
  return {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': contentSecurityPolicy(hash('sha256', style, 'base64')),
      'Referrer-Policy': 'no-referrer',
    },
    body: html,
    cache: PAGE_CACHE,
  }
}

/** `connect-src 'self'` also keeps a key that is typed into a page from being sent elsewhere. */
function contentSecurityPolicy(styleHash: string): string {
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self' 'sha256-${styleHash}'`,
    `img-src 'self' data:`,
    `connect-src 'self'`,
    `font-src 'self'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ')
}
