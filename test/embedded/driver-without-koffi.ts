// The driver (driver.ts) on a machine for which there is no koffi.
import { registerHooks } from 'node:module'

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === 'koffi') throw new Error('there is no koffi')
    return next(specifier, context)
  },
})
await import('./driver.ts')
