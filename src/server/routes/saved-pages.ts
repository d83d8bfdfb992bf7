// Files that people save and use without this service: the offline verifier (decisions §5), as one web page and as a command in one file, and
// the offline signer, a page for keys that never meet a network. `npm run pages` makes them from tools/verifier-page/ and tools/signer-page/.
import { fileAnswer, pageAnswer } from '../openapi/answers.ts'
import { oneFilePage, oneFileProgram } from '../pages/one-file.ts'
import { openGet, type Route } from '../route.ts'

export const savedPages = [
  {
    ...openGet,
    path: '/verifier',
    operationId: 'getVerifier',
    tag: 'Pages',
    summary: 'A page that checks evidence offline',
    answers: { 200: pageAnswer('The page; the checked evidence does not leave the browser.') },
    failures: ['pageNotBuilt', 'overloaded'],
    handle: oneFilePage('verifier.html', { savedAs: 'countersign-verifier.html' }),
  },
  {
    ...openGet,
    path: '/verifier/countersign-verify.mjs',
    operationId: 'getVerifierCommand',
    tag: 'Pages',
    summary: 'A program that checks evidence offline',
    description:
      'One file for Node 20 or newer, without dependencies: `node countersign-verify.mjs record.json --jwks keys.json`.',
    answers: { 200: fileAnswer('text/javascript') },
    failures: ['pageNotBuilt', 'overloaded'],
    handle: oneFileProgram('countersign-verify.mjs'),
  },
  {
    ...openGet,
    path: '/signer',
    operationId: 'getSigner',
    tag: 'Pages',
    summary: 'A page that signs approvals offline',
    answers: { 200: pageAnswer('The page; a private key that is given to it leaves no browser.') },
    failures: ['pageNotBuilt', 'overloaded'],
    handle: oneFilePage('signer.html', { savedAs: 'countersign-signer.html' }),
  },
] as const satisfies readonly Route[]
