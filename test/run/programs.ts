// The threads of a service run these few files, and so does the command: the service and its packages are 480 modules in the main thread and
// 300 in each worker. What an operator starts loads them as they were installed; so do the tests of `npm start`, the image, `bin/` and the demo.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'esbuild'
import { bundle, CACHE, loadedBy, ROOT } from './bundle.ts'

const MAIN = join(ROOT, 'src', 'server', 'main.ts')
const THREAD = join(ROOT, 'workers', 'thread.ts')
const OUTS = { main: MAIN, thread: THREAD }
/** Bundled apart: each module that the command shared with a service would be one more file at every start of one. */
const COMMAND_OUTS = {
  command: join(ROOT, 'src', 'cli', 'index.ts'),
  'verify-thread': join(ROOT, 'src', 'cli', 'verify', 'thread.ts'),
}
const COMMAND_FOLDER = join(CACHE, 'command')

/** Modules of both kinds find these in their scope. */
const BANNER = `
import { createRequire as requireFrom } from 'node:module'
const require = requireFrom(import.meta.url)
const resolveFrom = (url, specifier) =>
  specifier.startsWith('.') ? new URL(specifier, url).href : import.meta.resolve(specifier)
`

/** The package looks for its native part in a dozen places, in each thread, with 20 modules of its own: here it is found once. */
const sodium: Plugin = {
  name: 'sodium-native',
  setup(build) {
    build.onLoad({ filter: /sodium-native\/binding\.js$/ }, ({ path }) => {
      const host = `${process.platform}-${process.arch}`
      const found = join(dirname(path), 'prebuilds', host, 'sodium-native.node')
      // A machine with another C library has another name for its host: the package finds it.
      if (existsSync('/etc/alpine-release') || !existsSync(found)) return undefined
      return { contents: `module.exports = require(${JSON.stringify(found)})` }
    })
  },
}

/** Arguments of a Node that is to run them in place of the sources. */
export const programsArguments = loadedBy('programs-loader.ts')

/** Where a thread or a command begins, by the URL of what it begins with otherwise. @param folder has the service's */
export function programsIn(folder = join(CACHE, 'programs')): ReadonlyMap<string, string> {
  return new Map([...bundledIn(folder, OUTS), ...bundledIn(COMMAND_FOLDER, COMMAND_OUTS)])
}

function bundledIn(folder: string, outs: Readonly<Record<string, string>>): [string, string][] {
  return Object.entries(outs).map(([out, file]) => [
    pathToFileURL(file).href,
    pathToFileURL(join(folder, `${out}.mjs`)).href,
  ])
}

export const bundleCommand = () => bundlePrograms(COMMAND_FOLDER, undefined, COMMAND_OUTS)

/**
 * @param change makes the source of a module what is to run, TypeScript or JavaScript; by its path from the checkout
 * @param outs what begins a program, by the name of its file in `outdir`
 */
export function bundlePrograms(
  outdir = join(CACHE, 'programs'),
  change = (_file: string, source: string) => source,
  outs: Readonly<Record<string, string>> = OUTS,
): Promise<void> {
  const plugin: Plugin = {
    name: 'sources',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const url = JSON.stringify(pathToFileURL(path).href)
        const contents = change(path.slice(ROOT.length + 1), readFileSync(path, 'utf8'))
          // A module finds the files beside it as if it ran from where it is written.
          .replaceAll('import.meta.dirname', JSON.stringify(dirname(path)))
          .replaceAll('import.meta.url', url)
          .replaceAll('import.meta.resolve(', `resolveFrom(${url}, `)
        return { loader: 'ts', contents }
      })
    },
  }
  return bundle({
    entryPoints: Object.entries(outs).map(([out, file]) => ({ in: file, out })),
    outdir,
    // Packages with native parts, and those that look for files of their own.
    // Every thread reads and decodes all of it. The names stay, for stacks.
    minifyWhitespace: true,
    external: ['uWebSockets.js', 'piscina', 'pino', 'autocannon', 'playwright-core', '*.node'],
    banner: { js: BANNER },
    plugins: [plugin, sodium],
  })
}
