// The pages that `npm run pages` makes in built/ (tools/pages.ts): the verifier, the signer and the console. Git holds only their sources.
import { existsSync } from 'node:fs'
import { failures } from '../../core/errors/errors.ts'
import type { Handler } from '../route.ts'

export const BUILT = new URL('built/', import.meta.url)

/** @returns false where the packages were installed without `prepare`, as by `npm ci --ignore-scripts` */
export function arePagesBuilt(): boolean {
  return existsSync(BUILT)
}

/** @returns a handler that answers how the pages are made where they are missing */
export function ofBuiltPage(handle: Handler): Handler {
  return async (request, service) => (arePagesBuilt() ? handle(request, service) : failures.pageNotBuilt())
}
