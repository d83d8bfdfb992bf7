// The offline verifier (decisions §5), as one web page and as a command in one file. `npm run pages` makes both from
// tools/verifier-page/.
import { readFileSync } from 'node:fs'
import { etagOf } from '../etag.ts'
import { fileAnswer, pageAnswer } from '../openapi/answers.ts'
import { openGet, type Answer, type Route } from './route.ts'

const PAGE_FILE = new URL('../pages/verifier.html', import.meta.url)
const COMMAND_FILE = new URL('../pages/countersign-verify.mjs', import.meta.url)

const CACHE = 'public, max-age=300'

export const verifier = [
  {
    ...openGet,
    path: '/verifier',
    operationId: 'getVerifier',
    tag: 'Pages',
    summary: 'A page that checks evidence offline',
    answers: { 200: pageAnswer('The page; what is checked on it leaves no browser.') },
    failures: ['overloaded'],
    handle: verifierPage,
  },
  {
    ...openGet,
    path: '/verifier/countersign-verify.mjs',
    operationId: 'getVerifierCommand',
    tag: 'Pages',
    summary: 'A program that checks evidence offline',
    description:
      'One file for Node 20 or newer, which installs nothing: `node countersign-verify.mjs record.json --jwks keys.json`.',
    answers: { 200: fileAnswer('text/javascript') },
    failures: ['overloaded'],
    handle: verifierCommand,
  },
] as const satisfies readonly Route[]

interface Page {
  readonly body: Buffer
  readonly etag: string
  readonly policy: string
}

let page: Page | undefined

async function verifierPage(): Promise<Answer> {
  page ??= readPage()
  return {
    status: 200,
    body: page.body,
    cache: CACHE,
    etag: page.etag,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      // Names a saved copy; the browser still shows the page.
      'Content-Disposition': 'inline; filename="countersign-verifier.html"',
      // Framing can only be forbidden by the header: a meta element's frame-ancestors is ignored (CSP Level 3 §3.3).
      'Content-Security-Policy': `${page.policy}; frame-ancestors 'none'`,
      'Referrer-Policy': 'no-referrer',
    },
  }
}

let command: { readonly body: Buffer; readonly etag: string } | undefined

async function verifierCommand(): Promise<Answer> {
  if (command === undefined) {
    const body = readFileSync(COMMAND_FILE)
    command = { body, etag: etagOf(body) }
  }
  return {
    status: 200,
    ...command,
    cache: CACHE,
    headers: {
      'Content-Type': 'text/javascript; charset=utf-8',
      'Content-Disposition': 'attachment; filename="countersign-verify.mjs"',
    },
  }
}

/** Takes the policy from the page's own meta element, which names the hashes of its script and style. */
function readPage(): Page {
  const body = readFileSync(PAGE_FILE)
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(body.toString())?.[1]
  if (policy === undefined) throw new Error('the verifier page carries no security policy')
  return { body, etag: etagOf(body), policy }
}
