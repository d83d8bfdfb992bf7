// Loaded by `node --import`: from then on programs.ts's programs are run in place of the sources, or those in the folder TEST_PROGRAMS.
import { registerHooks } from 'node:module'
import { programsIn } from './programs.ts'

const programs = programsIn(process.env['TEST_PROGRAMS'])

registerHooks({
  resolve(specifier, context, next) {
    const resolved = next(specifier, context)
    const url = programs.get(resolved.url)
    return url === undefined ? resolved : { url, format: 'module' }
  },
})
