// Modules made into few, by esbuild: to find, read and link hundreds of them is half of what a service's start costs.
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { BuildOptions } from 'esbuild'

export const ROOT = join(import.meta.dirname, '..', '..')

/** Runs leave these for the next ones. Chunks that no entry names any more stay. */
export const CACHE = join(ROOT, '.cache')

/**
 * Arguments of a Node that loads one of the loaders beside this file. A young generation that starts at 16 MiB rather than 1 is not
 * collected again and again while modules are loaded: a tenth of a service's start.
 */
export function loadedBy(loader: string): string[] {
  return ['--min-semi-space-size=16', `--import=${pathToFileURL(join(import.meta.dirname, loader)).href}`]
}

/** Writes ES modules for Node, `<out>.mjs` for each entry. Each file is replaced whole: another run may be reading it. */
export async function bundle(options: BuildOptions & { readonly outdir: string }): Promise<void> {
  const { build } = await import('esbuild')
  const { outputFiles = [] } = await build({
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    platform: 'node',
    outExtension: { '.js': '.mjs' },
    ...options,
  })
  mkdirSync(options.outdir, { recursive: true })
  for (const { path, contents } of outputFiles) {
    const whole = join(options.outdir, `.${basename(path)}.${process.pid}`)
    writeFileSync(whole, contents)
    renameSync(whole, path)
  }
}
