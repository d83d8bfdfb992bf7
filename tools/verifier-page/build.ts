// Makes the two offline verifiers that the service hands out (decisions §5), each one file.
//   verifier.html          GET /verifier: template, style, script and the security policy that it runs under, so that a saved copy cannot
//                          talk to anyone either
//   countersign-verify.mjs GET /verifier/countersign-verify.mjs: the command, for Node 20 or newer
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'
import { pageHeader } from '../../src/server/pages/header.ts'
import { buildOneFilePage, bundle } from '../one-file-page.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** @returns the text of the page */
export function buildPage(): Promise<string> {
  return buildOneFilePage({
    page: readFileSync(join(import.meta.dirname, 'page.html'), 'utf8'),
    header: pageHeader('/verifier', '', ' data-served'),
    style: ['src/server/pages/colors.css', 'src/server/pages/header.css', 'tools/verifier-page/style.css']
      .map((path) => readFileSync(join(ROOT, path), 'utf8'))
      .join(''),
    entry: 'tools/verifier-page/page.ts',
  })
}

const HEAD = `#!/usr/bin/env node
// Verifies Countersign evidence offline, like \`countersign verify\`. One file: it needs Node 20 or newer, reads the files that it is
// given, opens no connection and starts no program. Made from tools/verifier-page/command.ts and what that imports.
//   node countersign-verify.mjs record.json --jwks keys.json
//   node countersign-verify.mjs --help
import { createRequire } from 'node:module'
const require = createRequire(import.meta.url)
`

/** @returns the text of countersign-verify.mjs */
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
