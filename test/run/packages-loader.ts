// Loaded by `node --import`: from then on packages.ts's packages are read from one file each.
import { registerHooks } from 'node:module'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { packageFile, packages } from './packages.ts'

/** By the name that a module imports, and by the path that the test runner makes of it. */
const files = new Map(
  packages.flatMap((name) => {
    const { href } = pathToFileURL(packageFile(name))
    return [name, fileURLToPath(import.meta.resolve(name))].map((specifier) => [specifier, href])
  }),
)

registerHooks({
  resolve(specifier, context, next) {
    const url = files.get(specifier)
    return url === undefined ? next(specifier, context) : { url, format: 'module', shortCircuit: true }
  },
})
