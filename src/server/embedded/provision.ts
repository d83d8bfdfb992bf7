// The first embedded start makes one local caller, and one key of each algorithm for evidence and for the log (decisions §1 "Embedded start").
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeRawKey, parseCallers } from '../../core/callers/callers.ts'
import type { Caller } from '../../formats/people/caller.ts'
import type { Config } from '../../core/config/config.ts'
import { LOCAL_CALLER, type FirstKey } from '../first-steps.ts'
import { generateMissingKeys } from '../../core/signing/keys.ts'
import { generateMissingLogKeys } from '../../core/signing/log-keys.ts'
import { generateMissingWitnessKeys } from '../../core/signing/witness-keys.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { writeWholeFile } from '../../core/files/whole-file.ts'

interface Provisioned {
  /** Empty when authentication is disabled. */
  readonly callers: readonly Caller[]
  /** The file of the local caller; undefined if callers are configured or authentication is off. */
  readonly callersFile?: string
  /** A key that this very start made: it must be shown now, because only its hash is kept. */
  readonly printed?: FirstKey
}

/**
 * Uses the configured keys and callers, and makes the missing ones once, in DATA_DIR. Each file is written whole or not at all, so a start
 * after a crash completes the rest. If the crash came before the raw key was shown, delete `callers.json`: the next start makes another.
 * @throws ConfigError that names `callers.json` when it was damaged; the file system's errors
 */
export function provision(config: Config): Provisioned {
  const { dataDir } = config
  if (!config.signingKeyDirGiven) {
    const made = { dir: config.signingKeyDir, now: new Date() }
    generateMissingKeys(made)
    if (config.evidenceLog !== undefined) generateMissingLogKeys(made)
    if (config.witness !== undefined) generateMissingWitnessKeys(made)
  }
  if (config.callers !== undefined) return { callers: config.callers }
  if (config.authDisabled) return { callers: [] }

  const callersFile = join(dataDir, 'callers.json')
  const printed = existsSync(callersFile) ? undefined : makeLocalCaller(callersFile, dataDir)
  const callers = parseCallers(readFileSync(callersFile, 'utf8'), callersFile)
  return { callers, callersFile, ...(printed && { printed }) }
}

function makeLocalCaller(file: string, dataDir: string): FirstKey | undefined {
  const rawKey = makeRawKey()
  const caller = { callerId: LOCAL_CALLER, keyHash: sha256Hex(rawKey), allowedCapabilities: ['*'] }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const written = writeWholeFile(file, `${JSON.stringify([caller], null, 2)}\n`, 0o600)
  return written ? { rawKey, callerId: caller.callerId } : undefined
}
