// The console's document and the files that it loads. `npm run pages` makes them from src/console/ (tools/console/build.ts).
import { readFileSync } from 'node:fs'
import { keepDocuments, type KeptDocument } from '../kept-document.ts'
import { BUILT, ofBuiltPage } from '../pages/built.ts'
import { ICON } from '../pages/html.ts'

const FOLDER = new URL('console/', BUILT)

/** The manifest that the build writes beside the files. Names hold the hash of the content; `integrity` is for SRI. */
export interface ConsoleManifest {
  readonly script: string
  /** The files that the script imports at once: the browser need not read the script to know them. */
  readonly imports: readonly string[]
  readonly style: string
  readonly integrity: Readonly<Record<string, string>>
}

/** No content from elsewhere, no inline content, and no text that becomes markup: Trusted Types without any policy. */
const POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
  `require-trusted-types-for 'script'`,
  `trusted-types 'none'`,
].join('; ')

const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
}

const TYPES = { js: 'text/javascript', css: 'text/css' } as const

let manifest: ConsoleManifest | undefined

function readManifest(): ConsoleManifest {
  manifest ??= JSON.parse(readFileSync(new URL('manifest.json', FOLDER), 'utf8')) as ConsoleManifest
  return manifest
}

const answerDocument = keepDocuments(() => makeDocument(readManifest()))
/** Names come from the manifest's list; no path is made from the request. */
const answerAsset = keepDocuments((name) =>
  Object.hasOwn(readManifest().integrity, name) ? readAsset(name) : undefined,
)

/** The same document for every page. It holds no data, so everybody may read it. */
export const consoleDocument = ofBuiltPage((request) => answerDocument('', request))
export const consoleAsset = ofBuiltPage((request) => answerAsset(request.params['asset'] ?? '', request))

function makeDocument({ script, imports, style, integrity }: ConsoleManifest): KeptDocument {
  const preloads = imports.map(
    (name) => `<link rel="modulepreload" href="/console/assets/${name}" integrity="${integrity[name]}">\n`,
  )
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Countersign console</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="/console/assets/${style}" integrity="${integrity[style]}">
<script type="module" src="/console/assets/${script}" integrity="${integrity[script]}"></script>
${preloads.join('')}</head>
<body>
<noscript>The console needs JavaScript. What it shows can be read with <code>countersign</code> on the command line too.</noscript>
</body>
</html>
`
  return {
    headers: {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': POLICY,
      'Permissions-Policy':
        'camera=(), microphone=(), geolocation=(), publickey-credentials-get=(self), publickey-credentials-create=(self)',
      'X-Frame-Options': 'DENY',
      ...ISOLATION,
    },
    body,
    cache: 'no-cache',
  }
}

function readAsset(name: string): KeptDocument {
  return {
    headers: {
      'Content-Type': `${TYPES[name.endsWith('.css') ? 'css' : 'js']}; charset=utf-8`,
      ...ISOLATION,
    },
    body: readFileSync(new URL(name, FOLDER)),
    // Changed content has another name.
    cache: 'public, max-age=31536000, immutable',
  }
}
