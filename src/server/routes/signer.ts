// The offline signer: a page that approvers save, for keys that never meet a network. `npm run pages` makes it from tools/signer-page/.
import { pageAnswer } from '../openapi/answers.ts'
import { oneFilePage } from '../pages/one-file.ts'
import { openGet, type Route } from '../route.ts'

export const signer = [
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
