// The folders of the service's files (decisions §1). Apart from config.ts: commands need only these, and its schemas take long to load.
import { join, resolve } from 'node:path'

type Env = Readonly<Record<string, string | undefined>>

/** @returns the absolute path of DATA_DIR */
export function dataDir(env: Env): string {
  return resolve(env['DATA_DIR'] || '.data')
}

/** @returns the absolute path of SIGNING_KEY_DIR, or of the default folder */
export function signingKeyDir(env: Env): string {
  return env['SIGNING_KEY_DIR'] ? resolve(env['SIGNING_KEY_DIR']) : join(dataDir(env), 'keys')
}
