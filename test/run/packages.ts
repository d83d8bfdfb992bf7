// Packages of very many files, each made into one, for the tests' own processes: `typebox` alone is 683 modules.
import { join } from 'node:path'
import { bundle, CACHE, loadedBy } from './bundle.ts'

export const packages = ['typebox', 'typebox/compile', 'typebox/value', 'pg-boss']

const FOLDER = join(CACHE, 'packages')

/** Arguments of a Node that is to load them. */
export const packagesArguments = loadedBy('packages-loader.ts')

/** Where the one file of a package is. */
export function packageFile(name: string): string {
  return join(FOLDER, `${fileName(name)}.mjs`)
}

function fileName(name: string): string {
  return name.replace('/', '-')
}

export function bundlePackages(): Promise<void> {
  return bundle({
    entryPoints: packages.map((name) => ({ in: name, out: fileName(name) })),
    outdir: FOLDER,
    external: ['pg'],
  })
}
