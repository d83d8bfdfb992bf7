// Pages that people save as one file: the offline verifier, as a page and as a program, and the offline signer. `npm run pages` makes them.
import { readFileSync } from 'node:fs'
import { keepDocuments } from '../kept-document.ts'
import type { Handler } from '../route.ts'
import { BUILT, ofBuiltPage } from './built.ts'

/** @param file name of a built file */
export function oneFilePage(file: string, { savedAs }: { readonly savedAs: string }): Handler {
  return oneFile(file, (body) => ({
    'Content-Type': 'text/html; charset=utf-8',
    // Names a saved copy; the browser still shows the page.
    'Content-Disposition': `inline; filename="${savedAs}"`,
    // Framing can only be forbidden by the header: a meta element's frame-ancestors is ignored (CSP Level 3 §3.3).
    'Content-Security-Policy': `${policyOf(body, file)}; frame-ancestors 'none'`,
    'Referrer-Policy': 'no-referrer',
  }))
}

/** @param file name of a built file */
export function oneFileProgram(file: string): Handler {
  return oneFile(file, () => ({
    'Content-Type': 'text/javascript; charset=utf-8',
    'Content-Disposition': `attachment; filename="${file}"`,
  }))
}

function oneFile(file: string, headersOf: (body: Buffer) => Readonly<Record<string, string>>): Handler {
  const answer = keepDocuments((name) => {
    const body = readFileSync(new URL(name, BUILT))
    return { body, cache: 'public, max-age=300', headers: headersOf(body) }
  })
  return ofBuiltPage((request) => answer(file, request))
}

/** The page's own meta element names the hashes of its script and style. */
function policyOf(page: Buffer, file: string): string {
  const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(page.toString())?.[1]
  if (policy === undefined) throw new Error(`${file} carries no security policy`)
  return policy
}
