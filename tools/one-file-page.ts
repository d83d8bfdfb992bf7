// Makes a page that is one file: template, style, script, and the security policy that it runs under. A saved copy keeps all of them, so
// that it cannot talk to anyone either.
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { build, type BuildOptions } from 'esbuild'
import { licenceTexts } from './licences.ts'

const ROOT = join(import.meta.dirname, '..')

/**
 * @param sources.page HTML with `%policy%`, `%header%`, an empty `<style>` and an empty `<script>`, each once
 * @param sources.header HTML; a saved copy has no service behind its links, and removes it
 * @param sources.entry path of the script's entry, from the project's folder
 * @returns the same bytes for the same sources
 */
export async function buildOneFilePage(sources: {
  readonly page: string
  readonly header: string
  readonly style: string
  readonly entry: string
}): Promise<string> {
  const style = `\n${sources.style}`
  const script = `\n${await bundle({
    entryPoints: [sources.entry],
    format: 'iife',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
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
    ['%header%', sources.header],
    ['<style></style>', `<style>${style}</style>`],
    ['<script></script>', `<script>${script}</script>`],
  ].reduce((page, [place, text]) => replaceOnce(page, place as string, text as string), sources.page)
}

/** Not minified: an auditor reads what runs. The licences of the packages in it stand at its end, as they ask. */
export async function bundle(options: BuildOptions): Promise<string> {
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
  if (parts.length !== 2) throw new Error(`${place} must stand in the page exactly once`)
  return parts.join(text)
}
