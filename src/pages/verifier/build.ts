// Makes src/pages/verifier.html, the page of GET /verifier (decisions §5): template, style and script in one file that carries
// the security policy it runs under, so that a saved copy cannot talk to anyone either. Run by `npm run pages`.
import { hash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

export const PAGE_FILE = join(import.meta.dirname, '..', 'verifier.html')
const ROOT = join(import.meta.dirname, '..', '..', '..')

/** The text of the page. The same sources give the same bytes: a test compares them with the committed file. */
export async function buildPage(): Promise<string> {
  const style = `\n${read('style.css')}`
  const script = `\n${await bundle()}`
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

function read(name: string): string {
  return readFileSync(join(import.meta.dirname, name), 'utf8')
}

/** Not minified: who audits the page reads what it runs. The licences of the packages in it stand at its end, as they ask. */
async function bundle(): Promise<string> {
  const { outputFiles, metafile } = await build({
    // Paths in the output's comments are relative to it: the same on every machine.
    absWorkingDir: ROOT,
    entryPoints: ['src/pages/verifier/page.ts'],
    bundle: true,
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    metafile: true,
    write: false,
  })
  const [output] = outputFiles
  if (output === undefined) throw new Error('esbuild made no output')
  const packages = Object.keys(metafile.inputs).flatMap((input) => {
    const [folder] = /^node_modules\/(@[^/]+\/)?[^/]+/.exec(input) ?? []
    return folder ?? []
  })
  return [output.text, ...[...new Set(packages)].toSorted().map(licence)].join('')
}

function licence(folder: string): string {
  const text = readFileSync(join(ROOT, folder, 'LICENSE'), 'utf8').trim()
  if (text.includes('*/')) throw new Error(`the licence of ${folder} cannot stand in a comment`)
  return `\n/*\n${folder}\n\n${text}\n*/\n`
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

if (import.meta.main) writeFileSync(PAGE_FILE, await buildPage())
