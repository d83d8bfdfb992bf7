// Packages of very many files, each made into one: `typebox` alone is 683 modules, and loading these was a quarter of a service's start.
// What an operator starts loads them as they were installed; so do the tests of `npm start`, the image, the command and the demo.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const packages = ['typebox', 'typebox/compile', 'typebox/value', 'pg-boss']

const FOLDER = join(import.meta.dirname, '..', '..', '.cache', 'packages')

/**
 * Arguments of a Node that is to load them. A young generation that starts at 16 MiB rather than 1 is not collected again and again
 * while modules are loaded: a tenth of a service's start.
 */
export const packagesArguments = [
  '--min-semi-space-size=16',
  `--import=${pathToFileURL(join(import.meta.dirname, 'packages-loader.ts')).href}`,
]

/** Where the one file of a package is. */
export function packageFile(name: string): string {
  return join(FOLDER, `${fileName(name)}.mjs`)
}

function fileName(name: string): string {
  return name.replace('/', '-')
}

/** Writes them. Each file is replaced whole: another run may be reading it. */
export async function bundlePackages(): Promise<void> {
  const { build } = await import('esbuild')
  const { outputFiles } = await build({
    entryPoints: packages.map((name) => ({ in: name, out: fileName(name) })),
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    platform: 'node',
    external: ['pg'],
    outdir: FOLDER,
    outExtension: { '.js': '.mjs' },
  })
  mkdirSync(FOLDER, { recursive: true })
  for (const { path, contents } of outputFiles) {
    const whole = join(FOLDER, `.${basename(path)}.${process.pid}`)
    writeFileSync(whole, contents)
    renameSync(whole, path)
  }
}
