// `countersign keys`: makes, rotates and lists the signing keys, those of the evidence log and those of a witness.
import { resolve } from 'node:path'
import { Option, type Command } from 'commander'
import { signingKeyDir } from '../core/config/folders.ts'
import { generateKeys, generateMissingKeys, keyIds, readPublicKeys } from '../core/signing/keys.ts'
import { algorithms, type Algorithm } from '../formats/schemas/signature.ts'
import { revocationFile, revokeKey } from '../core/signing/revocation.ts'
import {
  generateLogKeys,
  generateMissingLogKeys,
  logKeyDir,
  publishedLogKeys,
} from '../core/signing/log-keys.ts'
import { generateMissingWitnessKeys, witnessKeyDir } from '../core/signing/witness-keys.ts'

const dirOption = [
  '--dir <folder>',
  'folder of the keys (default: SIGNING_KEY_DIR, else $DATA_DIR/keys)',
] as const
const folder = (dir: string | undefined) => (dir === undefined ? signingKeyDir(process.env) : resolve(dir))

/** Adds the commands of `countersign keys`. */
export function defineKeys(keys: Command): void {
  keys
    .command('generate')
    .description(
      'make the signing keys and the keys of the evidence log: one of each algorithm that has none',
    )
    .option(...dirOption)
    .option('--log', "only the log's keys, in the folder `log` within")
    .option(
      '--witness',
      'only the keys by which this service witnesses other logs, in the folder `witness` within',
    )
    .action((options: { dir?: string; log?: true; witness?: true }) => {
      const dir = folder(options.dir)
      const now = new Date()
      if (options.witness === true) {
        const madeForWitness = generateMissingWitnessKeys({ dir, now })
        printMade(madeForWitness, witnessKeyDir(dir))
        if (madeForWitness.length === 0) console.log(`${witnessKeyDir(dir)} has a key of each algorithm.`)
        return
      }
      const made = options.log === true ? [] : generateMissingKeys({ dir, now })
      printMade(made, dir)
      const madeForLog = generateMissingLogKeys({ dir, now })
      printMade(madeForLog, logKeyDir(dir))
      if (made.length + madeForLog.length > 0) return
      if (options.log === true) console.log(`${logKeyDir(dir)} has a key of each algorithm.`)
      else console.log(`${dir} has a key of each algorithm. To add new ones: countersign keys rotate`)
    })

  keys
    .command('rotate')
    .description('add new keys, which sign from the next start; the old ones stay published')
    .option(...dirOption)
    .addOption(new Option('--algorithm <name>', 'only this one of the signing keys').choices(algorithms))
    .addOption(new Option('--log', "only the log's keys, in the folder `log` within").conflicts('algorithm'))
    .action((options: { dir?: string; algorithm?: Algorithm; log?: true }) => {
      const dir = folder(options.dir)
      const now = new Date()
      if (options.log !== true) {
        if (keyIds(dir, 'private').length === 0) throw noKeys(dir)
        const only = options.algorithm === undefined ? algorithms : [options.algorithm]
        printMade(generateKeys({ dir, now, algorithms: only }), dir)
      }
      const hasLog = keyIds(logKeyDir(dir), 'private').length > 0
      if (options.log === true && !hasLog) throw noKeys(logKeyDir(dir), `--log --dir ${dir}`)
      if (hasLog && options.algorithm === undefined) printMade(generateLogKeys({ dir, now }), logKeyDir(dir))
      console.log('Running services publish them at once and sign with them from their next start.')
    })

  keys
    .command('revoke')
    .description('say since when a signing key counts no more, because somebody else may have it')
    .argument('<keyId>', 'as `keys list` names it')
    .option(...dirOption)
    .option('--at <time>', 'since when, such as 2026-11-21T01:00:00Z (default: now)')
    .action((keyId: string, options: { dir?: string; at?: string }) => {
      const dir = folder(options.dir)
      const key = readPublicKeys(dir).get(keyId)
      if (key === undefined)
        throw new Error(
          `No signing key ${keyId} in ${dir}. To see them: countersign keys list --dir ${dir}. Keys of the log cannot be revoked.`,
        )
      const now = new Date()
      const revokedAt = revokeKey(dir, key, { at: options.at ?? now.toISOString(), now })
      console.log(`Revoked ${keyId}: what it signed from ${revokedAt} on counts nowhere.`)
      console.log(
        `Running services publish that within a second. Where instances have folders of their own, copy ${revocationFile(dir, keyId)} to each.`,
      )
      if (signs(key, { held: keyIds(dir, 'private'), signing: 1 }))
        console.log(
          `It is the newest ${key.algorithm} key, and an instance that signs with it executes nothing: countersign keys rotate --dir ${dir}, then restart each instance.`,
        )
    })

  keys
    .command('list')
    .description(
      'name the keys and say which of them sign and which are revoked; those of the log are named `log/<key id>`',
    )
    .option(...dirOption)
    .action((options: { dir?: string }) => {
      const dir = folder(options.dir)
      if (keyIds(dir, 'public').length === 0) throw noKeys(dir)
      printListed([...readPublicKeys(dir).values()], { dir, signing: 1 })
      // The one before signs too, for those who saved the description before the rotation.
      printListed(publishedLogKeys(dir)(), { dir: logKeyDir(dir), prefix: 'log/', signing: 2 })
    })
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

/** The greatest key ids of an algorithm whose private halves are there sign. */
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
