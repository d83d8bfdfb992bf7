// The page at GET / for browsers, with links to the pages of the service (docs/design-notes.md "A browser at GET /").
import type { KeptDocument } from '../kept-document.ts'
import type { People } from '../service.ts'
import { pageHeader } from './header.ts'
import { htmlDocument, readStyle } from './html.ts'
import { pages } from './pages.ts'

/** The console, where there is one, has a host of its own. */
export const CONSOLE = {
  title: 'Console',
  about: 'See what waits for you, what was executed, and under which authority.',
} as const

let rendered: { readonly origin: string | undefined; readonly page: KeptDocument } | undefined

/** Rendered again once the console's origin has become known. */
export function homePage({ console }: Pick<People, 'console'>): KeptDocument {
  const origin = console.origin()
  if (rendered?.origin !== origin || rendered === undefined) rendered = { origin, page: render(origin) }
  return rendered.page
}

function render(consoleOrigin: string | undefined): KeptDocument {
  const listed = [
    ...(consoleOrigin === undefined ? [] : [{ ...CONSOLE, path: `${consoleOrigin}/console` }]),
    ...pages,
  ]
  return htmlDocument({
    title: 'Countersign',
    style: readStyle('home'),
    body: `${pageHeader('/')}
<main>
<h1>Countersign</h1>
<p>This service executes business transactions of automated systems under policy, and proves with signed receipts what was done and
under which authority.</p>
<ul>
${listed.map(({ path, title, about }) => `<li><a href="${path}"><strong>${title}</strong>${about}</a></li>`).join('\n')}
</ul>
<footer>
<p>For programs: <a href="/openapi.yaml">OpenAPI document</a>, <a href="/api-manifest.json">manifest</a>,
<a href="/.well-known/jwks.json">public keys</a>, <a href="/verifier/countersign-verify.mjs">verifier for Node</a>. At this address they get JSON and
need a key: <code>Authorization: Bearer csk_…</code></p>
</footer>
</main>`,
  })
}
