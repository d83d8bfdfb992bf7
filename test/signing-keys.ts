// The key files that a service starts with: those that sign evidence, and the log's beside them.
import { generateKeys, type PublicKey } from '../src/core/signing/keys.ts'
import { generateMissingLogKeys } from '../src/core/signing/log-keys.ts'

/** @returns the keys that sign evidence */
export function makeKeys(dir: string, now = new Date()): PublicKey[] {
  const made = generateKeys({ dir, now })
  generateMissingLogKeys({ dir, now })
  return made
}
