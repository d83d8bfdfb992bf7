// Programs and libraries that others wrote and that tests alone need: they are larger than all that a stranger installs.
import { existsSync } from 'node:fs'
import { join } from 'node:path'

export const OTHERS = join(import.meta.dirname, '..', '.ci', 'others', 'node_modules')

/** @returns whether tests with them are left out: nowhere but on a machine where `npm ci` was not run in .ci/others, and never in CI */
export function leftOut(): boolean {
  const isInstalled = existsSync(join(OTHERS, 'openid-client', 'package.json'))
  if (isInstalled || process.env['CI'] === 'true') return false
  console.log('Programs of others are not installed: run `npm ci` in .ci/others to test with them.')
  return true
}
