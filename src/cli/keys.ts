// `countersign keys`: makes, rotates and lists the signing keys, those of the evidence log and those of a witness.
import { resolve } from 'node:path'
import { signingKeyDir } from '../core/config/folders.ts'
import { generateKeys, generateMissingKeys, keyIds, readPublicKeys } from '../core/signing/keys.ts'
import { algorithms } from '../formats/schemas/signature.ts'
import { revocationFile, revokeKey } from '../core/signing/revocation.ts'
import {
  generateLogKeys,
  generateMissingLogKeys,
  logKeyDir,
  publishedLogKeys,
} from '../core/signing/log-keys.ts'
import { generateMissingWitnessKeys, witnessKeyDir } from '../core/signing/witness-keys.ts'
import type { Given } from './command.ts'
import type { keys } from './commands.ts'

const folder = (dir: string | undefined) => (dir === undefined ? signingKeyDir(process.env) : resolve(dir))

/** Makes the keys that are missing. */
export function generate({ dir: given, log, witness }: Given<typeof keys.generate>): void {
  const dir = folder(given)
  const now = new Date()
  if (witness) {
    const madeForWitness = generateMissingWitnessKeys({ dir, now })
    printMade(madeForWitness, witnessKeyDir(dir))
    if (madeForWitness.length === 0) console.log(`${witnessKeyDir(dir)} has a key of each algorithm.`)
    return
  }
  const made = log ? [] : generateMissingKeys({ dir, now })
  printMade(made, dir)
  const madeForLog = generateMissingLogKeys({ dir, now })
  printMade(madeForLog, logKeyDir(dir))
  if (made.length + madeForLog.length > 0) return
  if (log) console.log(`${logKeyDir(dir)} has a key of each algorithm.`)
  else console.log(`${dir} has a key of each algorithm. To add new ones: countersign keys rotate`)
}

/** Adds new keys. */
export function rotate({ dir: given, algorithm, log }: Given<typeof keys.rotate>): void {
  const dir = folder(given)
  const now = new Date()
  if (!log) {
    if (keyIds(dir, 'private').length === 0) throw noKeys(dir)
    const only = algorithm === undefined ? algorithms : [algorithm]
    printMade(generateKeys({ dir, now, algorithms: only }), dir)
  }
  const hasLog = keyIds(logKeyDir(dir), 'private').length > 0
  if (log && !hasLog) throw noKeys(logKeyDir(dir), `--log --dir ${dir}`)
  if (hasLog && algorithm === undefined) printMade(generateLogKeys({ dir, now }), logKeyDir(dir))
  console.log('Running services publish them at once and sign with them from their next start.')
}

/** Records the time since which a signing key no longer counts. */
export function revoke({ keyId, dir: given, at }: Given<typeof keys.revoke>): void {
  const dir = folder(given)
  const key = readPublicKeys(dir).get(keyId)
  if (key === undefined)
    throw new Error(
      `No signing key ${keyId} in ${dir}. To see them: countersign keys list --dir ${dir}. Keys of the log cannot be revoked.`,
    )
  const now = new Date()
  const revokedAt = revokeKey(dir, key, { at: at ?? now.toISOString(), now })
  console.log(`Revoked ${keyId}: signatures that it made from ${revokedAt} on do not count.`)
  console.log(
    `Running services publish that within a second. Where instances have folders of their own, copy ${revocationFile(dir, keyId)} to each.`,
  )
  if (signs(key, { held: keyIds(dir, 'private'), signing: 1 }))
    console.log(
      `It is the newest ${key.algorithm} key, and an instance that signs with it executes nothing: countersign keys rotate --dir ${dir}, then restart each instance.`,
    )
}

/** Prints a line for each key. */
export function list({ dir: given }: Given<typeof keys.list>): void {
  const dir = folder(given)
  if (keyIds(dir, 'public').length === 0) throw noKeys(dir)
  printListed([...readPublicKeys(dir).values()], { dir, signing: 1 })
  // The previous key signs too, for readers who saved the description before the rotation.
  printListed(publishedLogKeys(dir)(), { dir: logKeyDir(dir), prefix: 'log/', signing: 2 })
}

function noKeys(dir: string, how = `--dir ${dir}`): Error {
  return new Error(`No keys in ${dir}. To make them: countersign keys generate ${how}`)
}

interface Listed {
  readonly keyId: string
  readonly algorithm: string
  readonly revokedAt?: string | undefined
}

function printListed(
  published: readonly Listed[],
  { dir, prefix = '', signing }: { readonly dir: string; readonly prefix?: string; readonly signing: number },
): void {
  const held = keyIds(dir, 'private')
  for (const key of published) {
    const revoked = key.revokedAt === undefined ? '' : `\trevoked since ${key.revokedAt}`
    console.log(`${prefix}${key.keyId}\t${signs(key, { held, signing }) ? 'signs' : 'published'}${revoked}`)
  }
}

/** Whether a key signs: it has one of the greatest key ids of its algorithm, of those whose private halves are there. */
function signs(
  { keyId, algorithm }: Listed,
  { held, signing }: { readonly held: readonly string[]; readonly signing: number },
): boolean {
  return held
    .filter((other) => other.endsWith(`-${algorithm}`))
    .slice(-signing)
    .includes(keyId)
}

function printMade(made: readonly { readonly keyId: string }[], dir: string): void {
  for (const { keyId } of made) console.log(`Made ${keyId} in ${dir}`)
}
