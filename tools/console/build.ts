// Makes the console's files (docs/handbook/console.md): src/console/ bundled, names by content, beside a manifest that the service
// reads.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { build } from 'esbuild'
import type { ConsoleManifest } from '../../src/server/console/documents.ts'
import { licenceTexts } from '../licences.ts'

const ROOT = join(import.meta.dirname, '..', '..')

/** @returns the texts of the files by name */
export async function buildConsole(): Promise<ReadonlyMap<string, string>> {
  const { outputFiles, metafile } = await build({
    entryPoints: { console: 'src/console/main.tsx', verify: 'src/console/verify.ts' },
    absWorkingDir: ROOT,
    // Nothing is written: names in the metadata are relative to it.
    outdir: join(ROOT, 'console'),
    bundle: true,
    // Code that both need is a file of its own; the verifier is loaded where evidence is looked at.
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    charset: 'utf8',
    legalComments: 'none',
    // Half of the bytes: a browser reads all of it before the first page.
    minify: true,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    write: false,
  })
  const licences = `\n${licenceTexts(Object.keys(metafile.inputs)).join('')}`
  const files = new Map(
    outputFiles.map(({ path, text }) => [
      basename(path),
      `${text}${isEntry(path, 'console') ? licences : ''}`,
    ]),
  )
  const style = [
    'src/server/pages/colors.css',
    'src/server/pages/header.css',
    'node_modules/uplot/dist/uPlot.min.css',
    'src/console/console.css',
  ]
    .map((path) => readFileSync(join(ROOT, path), 'utf8'))
    .join('')
  const styleName = `console-${hash('sha256', style).slice(0, 8)}.css`
  files.set(styleName, style)
  const script = [...files.keys()].find((name) => isEntry(name, 'console') && extname(name) === '.js')
  if (script === undefined) throw new Error('esbuild made no script of src/console/main.tsx')
  const built = Object.entries(metafile.outputs).find(([path]) => basename(path) === script)
  const imports = (built?.[1].imports ?? [])
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => basename(path))
  const manifest: ConsoleManifest = {
    script,
    imports,
    style: styleName,
    integrity: Object.fromEntries(
      Array.from(files, ([name, text]) => [name, `sha384-${hash('sha384', text, 'base64')}`]),
    ),
  }
  files.set('manifest.json', `${JSON.stringify(manifest, undefined, 2)}\n`)
  return files
}

function isEntry(path: string, name: string): boolean {
  return basename(path).startsWith(`${name}-`)
}
