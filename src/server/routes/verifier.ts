// The offline verifier (decisions §5): GET /verifier, one page that is its own program, and GET /verifier/countersign-verify.mjs, the
// command in one file. Both are made from tools/verifier-page/ by `npm run pages`.
import { readFileSync } from 'node:fs'
import { etagOf } from '../../core/etag.ts'
import type { Handler } from './route.ts'

const PAGE_FILE = new URL('../pages/verifier.html', import.meta.url)
const COMMAND_FILE = new URL('../pages/countersign-verify.mjs', import.meta.url)

const CACHE = 'public, max-age=300'

interface Page {
  readonly body: Buffer
  readonly etag: string
  readonly policy: string
}

let page: Page | undefined

export const verifierPage: Handler = () => {
  page ??= readPage()
  return {
    status: 200,
    body: page.body,
    cache: CACHE,
    etag: page.etag,
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      // A saved copy finds its name; the page itself stays one to look at.
      'Content-Disposition': 'inline; filename="countersign-verifier.html"',
      // Framing can only be forbidden by the header: a meta element's frame-ancestors is ignored (CSP Level 3 §3.3).
      'Content-Security-Policy': `${page.policy}; frame-ancestors 'none'`,
      'Referrer-Policy': 'no-referrer',
    },
  }
}

let command: { readonly body: Buffer; readonly etag: string } | undefined

export const verifierFile: Handler = () => {
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

/** The policy is the one that the page carries: it names the hashes of this very script and style. */
function readPage(): Page {
  const body = readFileSync(PAGE_FILE)
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(body.toString())?.[1]
  if (policy === undefined) throw new Error('the verifier page carries no security policy')
  return { body, etag: etagOf(body), policy }
}
