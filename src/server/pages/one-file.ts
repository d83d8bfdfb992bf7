// Pages that are one file, which people save: the offline verifier and the offline signer. `npm run pages` makes them.
import { readFileSync } from 'node:fs'
import { etagOf } from '../http/etag.ts'
import type { Answer, Handler } from '../routes/route.ts'

export const ONE_FILE_CACHE = 'public, max-age=300'

/** @param file of this folder; it is read at its first request, then kept */
export function oneFilePage(file: string, { savedAs }: { readonly savedAs: string }): Handler {
  let answer: Answer | undefined
  return async () => (answer ??= read(file, savedAs))
}

/** Takes the policy from the page's own meta element, which names the hashes of its script and style. */
function read(file: string, savedAs: string): Answer {
  const body = readFileSync(new URL(file, import.meta.url))
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(body.toString())?.[1]
  if (policy === undefined) throw new Error(`${file} carries no security policy`)
  return {
    status: 200,
    body,
    cache: ONE_FILE_CACHE,
    etag: etagOf(body),
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      // Names a saved copy; the browser still shows the page.
      'Content-Disposition': `inline; filename="${savedAs}"`,
      // Framing can only be forbidden by the header: a meta element's frame-ancestors is ignored (CSP Level 3 §3.3).
      'Content-Security-Policy': `${policy}; frame-ancestors 'none'`,
      'Referrer-Policy': 'no-referrer',
    },
  }
}
