// Where the service keeps its files (decisions §1). Apart from config.ts: commands need no more of it, and its schemas take long to load.
import { join, resolve } from 'node:path'

type Env = Readonly<Record<string, string | undefined>>

/** @returns the absolute path of DATA_DIR */
export function dataDir(env: Env): string {
  return resolve(env['DATA_DIR'] || '.data')
}

/** @returns the absolute path of SIGNING_KEY_DIR, or of the folder that is used where it is not given */
export function signingKeyDir(env: Env): string {
  return env['SIGNING_KEY_DIR'] ? resolve(env['SIGNING_KEY_DIR']) : join(dataDir(env), 'keys')
}
