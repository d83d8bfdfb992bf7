// Makes the two offline verifiers that the service hands out (decisions §5), each one file. Run by `npm run pages`.
//   src/server/pages/verifier.html          GET /verifier: template, style, script and the security policy that it runs under, so that a
//                                    saved copy cannot talk to anyone either
//   src/server/pages/countersign-verify.mjs GET /verifier/countersign-verify.mjs: the command, for Node 20 or newer
import { hash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { licenceTexts } from '../licences.ts'

const ROOT = join(import.meta.dirname, '..', '..')
export const PAGE_FILE = join(ROOT, 'src', 'server', 'pages', 'verifier.html')
export const VERIFIER_FILE = join(ROOT, 'src', 'server', 'pages', 'countersign-verify.mjs')

/** The text of the page. The same sources give the same bytes: a test compares them with the committed file. */
export async function buildPage(): Promise<string> {
  const style = `\n${read('style.css')}`
  const script = `\n${await bundle({
    entryPoints: ['tools/verifier-page/page.ts'],
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
  })}`
  // The end of the element would come early, and the rest of the script would be read as HTML.
  if (/<\/script|<!--/i.test(script)) throw new Error('the script cannot stand in an HTML page')
  const policy = [
    "default-src 'none'",
    `script-src '${digest(script)}'`,
    `style-src '${digest(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return [
    ['%policy%', policy],
    ['<style></style>', `<style>${style}</style>`],
    ['<script></script>', `<script>${script}</script>`],
  ].reduce((page, [place, text]) => replaceOnce(page, place as string, text as string), read('page.html'))
}

const HEAD = `#!/usr/bin/env node
// Verifies Countersign evidence offline, like \`countersign verify\`. One file: it needs Node 20 or newer, reads the files that it is
// given, opens no connection and starts no program. Made from tools/verifier-page/command.ts and what that imports.
//   node countersign-verify.mjs record.json --jwks keys.json
//   node countersign-verify.mjs --help
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
`

/** The text of countersign-verify.mjs. The same sources give the same bytes, as of the page. */
export function buildVerifier(): Promise<string> {
  return bundle({
    entryPoints: ['tools/verifier-page/command.ts'],
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: { js: HEAD },
    plugins: [withoutChildProcesses],
  })
}

/** Commander can start programs for commands of several words. There is none here, and a reader need not wonder. */
const withoutChildProcesses: Plugin = {
  name: 'without child processes',
  setup(bundling) {
    bundling.onResolve({ filter: /^node:child_process$/ }, () => ({ path: 'none', namespace: 'none' }))
    bundling.onLoad({ filter: /./, namespace: 'none' }, () => ({ contents: 'module.exports = {}' }))
  },
}

function read(name: string): string {
  return readFileSync(join(import.meta.dirname, name), 'utf8')
}

/** Not minified: an auditor reads what runs. The licences of the packages in it stand at its end, as they ask. */
async function bundle(options: BuildOptions): Promise<string> {
  const { outputFiles, metafile } = await build({
    ...options,
    // Paths in the output's comments are relative to it: the same on every machine.
    absWorkingDir: ROOT,
    bundle: true,
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    write: false,
  })
  const [output] = outputFiles
  if (output === undefined) throw new Error('esbuild made no output')
  return [output.text, ...licenceTexts(Object.keys(metafile.inputs))].join('')
}

/** The source expression of an inline element's text (CSP Level 3 §2.3.1). */
function digest(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`
}

function replaceOnce(page: string, place: string, text: string): string {
  const parts = page.split(place)
  if (parts.length !== 2) throw new Error(`${place} must stand in page.html exactly once`)
  return parts.join(text)
}

if (import.meta.main) {
  writeFileSync(PAGE_FILE, await buildPage())
  writeFileSync(VERIFIER_FILE, await buildVerifier())
}
