// The offline verifier (decisions §5), as one web page and as a command in one file. `npm run pages` makes both from
// tools/verifier-page/.
import { readFileSync } from 'node:fs'
import { etagOf } from '../http/etag.ts'
import { fileAnswer, pageAnswer } from '../openapi/answers.ts'
import { oneFilePage, ONE_FILE_CACHE } from '../pages/one-file.ts'
import { openGet, type Answer, type Route } from './route.ts'

const COMMAND_FILE = new URL('../pages/countersign-verify.mjs', import.meta.url)

export const verifier = [
  {
    ...openGet,
    path: '/verifier',
    operationId: 'getVerifier',
    tag: 'Pages',
    summary: 'A page that checks evidence offline',
    answers: { 200: pageAnswer('The page; what is checked on it leaves no browser.') },
    failures: ['overloaded'],
    handle: oneFilePage('verifier.html', { savedAs: 'countersign-verifier.html' }),
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

let command: { readonly body: Buffer; readonly etag: string } | undefined

async function verifierCommand(): Promise<Answer> {
  if (command === undefined) {
    const body = readFileSync(COMMAND_FILE)
    command = { body, etag: etagOf(body) }
  }
  return {
    status: 200,
    ...command,
    cache: ONE_FILE_CACHE,
    headers: {
      'Content-Type': 'text/javascript; charset=utf-8',
      'Content-Disposition': 'attachment; filename="countersign-verify.mjs"',
    },
  }
}
