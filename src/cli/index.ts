#!/usr/bin/env node
// The countersign command: starts the service, migrates its database, makes its keys and its callers' keys (decisions §1, §2).
import { resolve } from 'node:path'
import { Command, InvalidArgumentError, Option } from 'commander'
import { errorText } from '../core/error-text.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { defineApprovalRequests } from './approval-requests-program.ts'
import type { ApprovalRequest, StepUpRequest } from './approver-command.ts'
import type { CallerRequest } from './callers-command.ts'
import { collected } from './collected.ts'
import { signingKeyDir } from '../core/folders.ts'
import {
  algorithms,
  generateKeys,
  generateMissingKeys,
  keyIds,
  readPublicKeys,
} from '../core/signing/keys.ts'
import type { Algorithm } from '../core/signing/keys.ts'
import {
  generateLogKeys,
  publishedLogKeys,
  generateMissingLogKeys,
  logKeyDir,
} from '../core/signing/log-keys.ts'
import { generateMissingWitnessKeys, witnessKeyDir } from '../core/signing/witness-keys.ts'
import { deliveryOutcomes, type DeliveryOutcome } from '../core/webhooks/outcomes.ts'
import { defineLog } from './log/index.ts'
import type { SetupRequest } from './setup-command.ts'
import { defineVerify } from './verify-program.ts'

const program = new Command('countersign')
  .description(packageJson.description)
  .version(packageJson.version)
  // What stands behind `bench` is for the bench.
  .enablePositionalOptions()

program
  .command('serve')
  .description('start the service; its configuration is the environment')
  .action(async () => {
    // Imported here: making a key must not need the server's parts.
    const { main } = await import('../server/main.ts')
    process.exit(await main(process.env))
  })

program
  .command('migrate')
  .description('bring the database of DATABASE_URL to the newest schema')
  .action(async () => {
    const url = process.env['DATABASE_URL']
    if (!url)
      throw new Error('DATABASE_URL is not set; the embedded database migrates itself at every start.')
    const { migrate } = await import('../core/tables/migrate.ts')
    const applied = await migrate(url, { warn: (sentence) => console.error(`countersign: ${sentence}`) })
    console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`)
  })

const keys = program.command('keys').description('signing keys')
const dirOption = [
  '--dir <folder>',
  'folder of the keys (default: SIGNING_KEY_DIR, else $DATA_DIR/keys)',
] as const
const folder = (dir: string | undefined) => (dir === undefined ? signingKeyDir(process.env) : resolve(dir))

keys
  .command('generate')
  .description('make the signing keys and the keys of the evidence log: one of each algorithm that has none')
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
  .command('list')
  .description('name the keys and say which of them sign; those of the log are named `log/<key id>`')
  .option(...dirOption)
  .action((options: { dir?: string }) => {
    const dir = folder(options.dir)
    if (keyIds(dir, 'public').length === 0) throw noKeys(dir)
    printListed([...readPublicKeys(dir).values()], { dir, signing: 1 })
    // The one before signs too, for those who saved the description before the rotation.
    printListed(publishedLogKeys(dir)(), { dir: logKeyDir(dir), prefix: 'log/', signing: 2 })
  })

program
  .command('callers')
  .description('keys of calling systems')
  .command('issue')
  .description('make a raw key, shown this once, and its entry for SERVICE_API_KEYS; nothing is stored')
  .argument('<callerId>')
  .option(
    '--capability <action>',
    "an action it may invoke, '*' for all; repeatable (default: none, it may invoke nothing)",
    collected,
  )
  .option(
    '--principal <id>',
    'a principal it may assert, by its name; repeatable (default: its callerId)',
    collected,
  )
  .option('--holder-type <type>', 'USER (a human), ROLE, SERVICE or ORGANIZATION (default: SERVICE)')
  .option('--approver <approverId>', 'for a USER: the approver that this human is')
  .option('--read-all', 'may read what others submitted')
  .option('--step-up-public-key <file>', 'PEM Ed25519 public key of a human who approves changes')
  .action(async (callerId: string, options: CallerRequest) => {
    const { issueCaller } = await import('./callers-command.ts')
    issueCaller(callerId, options)
  })

program
  .command('fsck')
  .description(
    'verify everything that is stored, beside running services; exits 0 clean, 1 something is wrong, 2 could not check',
  )
  .option('--json', 'print each problem and the summary as a line of JSON')
  // Commander would exit 1, which a script must be able to read as "something is wrong".
  .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
  .action(async (options: { json?: true }) => {
    const { fsckCommand } = await import('./fsck-command.ts')
    process.exitCode = await fsckCommand(process.env, { json: options.json === true })
  })

const intents = program.command('intents').description('executions that were released to a connector')

intents
  .command('list')
  .description('print those in doubt: id, since when, caller, action, target')
  .option('--limit <count>', 'at most so many', wholeNumber, 100)
  .action(async (options: { limit: number }) => {
    const { listIntents } = await import('./intents-command.ts')
    await listIntents(process.env, options)
  })

intents
  .command('show')
  .description('print what happened to one: its release, what providers said of it, how it was closed')
  .argument('<id>', 'its businessTransactionId')
  .action(async (id: string) => {
    const { showIntent } = await import('./intents-command.ts')
    await showIntent(process.env, id)
  })

const webhooks = program.command('webhooks').description('deliveries of providers, and rules for them')

webhooks
  .command('list')
  .description(
    'print those that are not processed, oldest first: status, age, failures, provider, event id, reason',
  )
  .addOption(new Option('--status <status>', 'only these').choices(['pending', 'failed', 'dead']))
  .addOption(
    new Option(
      '--outcome <outcome>',
      'those that ended so instead, newest first: outcome, time, provider, event id, rule, transaction, reason',
    )
      .choices([...deliveryOutcomes])
      .conflicts('status'),
  )
  .option('--limit <count>', 'at most so many', wholeNumber, 100)
  .action(
    async (options: { status?: 'pending' | 'failed' | 'dead'; outcome?: DeliveryOutcome; limit: number }) => {
      const { listEnded, listWebhooks } = await import('./webhooks-command.ts')
      const { outcome, limit } = options
      if (outcome !== undefined) return listEnded({ env: process.env, outcome, limit })
      return listWebhooks({ env: process.env, ...options })
    },
  )

webhooks
  .command('show')
  .description('print one with its headers and its body, as JSON')
  .argument('<provider>')
  .argument('<eventId>', "the provider's id, as listed")
  .action(async (provider: string, eventId: string) => {
    const { showWebhook } = await import('./webhooks-command.ts')
    await showWebhook(process.env, { provider, eventId })
  })

webhooks
  .command('retry')
  .description('process a dead or a processed one again, or all dead ones')
  .argument('[provider]')
  .argument('[eventId]', "the provider's id, as listed")
  .option('--all', 'every dead one')
  .action(async (provider: string | undefined, eventId: string | undefined, { all }: { all?: true }) => {
    const { retryAllWebhooks, retryWebhook } = await import('./webhooks-command.ts')
    if (all === true && provider === undefined) return retryAllWebhooks(process.env)
    if (all === true || provider === undefined || eventId === undefined)
      throw new Error('Name a provider and an event id, or give --all.')
    return retryWebhook(process.env, { provider, eventId })
  })

webhooks
  .command('check')
  .description(
    'compile the rules of a provider, and run the cases beside them; exits 1 where one does not hold',
  )
  .argument('<file>', '<provider>.yaml; its cases are <provider>.cases.yaml')
  .action(async (file: string) => {
    const { checkWebhookRules } = await import('./webhook-rules-command.ts')
    process.exitCode = checkWebhookRules(file)
  })

const approver = program.command('approver').description('keys and signatures of humans who approve')

approver
  .command('keygen')
  .description('make an Ed25519 key pair; prints the public key')
  .requiredOption('--dir <folder>', 'folder of the two files; made if it is not there')
  .option('--name <name>', 'of the files', 'approver')
  .action(async (options: { dir: string; name: string }) => {
    const { approverKeygen } = await import('./approver-command.ts')
    approverKeygen(options)
  })

approver
  .command('sign-approval')
  .description('sign an approval of one action; prints it, for POST /approvals')
  .requiredOption('--key <file>', 'private key, PEM')
  .requiredOption('--approver <id>', 'approverId that the key is enrolled for')
  .requiredOption('--key-id <id>', 'keyId that the key is enrolled as')
  .requiredOption('--capability <action>', 'intent.action')
  .requiredOption('--target <target>', 'intent.target')
  .option('--parameters <file>', "exactly these: intent.parameters as a JSON file; '-' reads stdin")
  .option(
    '--limit <path=max>',
    'any where this number is at most max, such as amount=500; repeatable',
    collected,
  )
  .option('--expires-in <time>', 'such as 90s, 15m, 2h or 1d', '15m')
  .action(async (options: ApprovalRequest) => {
    const { signApproval } = await import('./approver-command.ts')
    signApproval(options, new Date())
  })

approver
  .command('sign-step-up')
  .description(
    'sign the approval or rejection of a change; prints the body to POST, which holds for two minutes',
  )
  .requiredOption('--key <file>', 'private half of your step-up key, PEM')
  .requiredOption('--change <file>', "the change as the service answered it, JSON; '-' reads stdin")
  .addOption(
    new Option('--action <action>', 'what you do').choices(['approve', 'reject']).makeOptionMandatory(),
  )
  .option('--key-id <id>', 'a name for the key; informative', 'step-up')
  .option('--reason <text>', 'of a rejection')
  .action(async (options: StepUpRequest) => {
    const { signStepUp } = await import('./approver-command.ts')
    signStepUp(options, new Date())
  })

defineApprovalRequests(approver)

program
  .command('setup')
  .description('make what a trial needs')
  .command('humans')
  .description(
    'for a trial, while no service runs here: two humans who govern, an approver and an agent, enrolled and ready for a first payment',
  )
  .option('--dir <folder>', 'takes all their keys; made, and not there yet', 'mine/humans')
  .option('--connector <url>', 'where payments go', 'http://127.0.0.1:8080/')
  .option('--own-database', 'also on the database of DATABASE_URL')
  .action(async (options: SetupRequest) => {
    const { setupHumans } = await import('./setup-command.ts')
    await setupHumans(process.env, options)
  })

defineVerify(program.command('verify'))
defineLog(program.command('log').description('copies, checks and proofs of the evidence log'))

program
  .command('simulate')
  .description('say which past decisions of a running service a policy file would flip; changes nothing')
  .argument('<policy.yaml>')
  .requiredOption('--url <address>', 'base address of the service')
  .addOption(
    new Option('--key <key>', 'API key; a human or --read-all key sees the decisions of all callers')
      .env('COUNTERSIGN_API_KEY')
      .makeOptionMandatory(),
  )
  .option('--since <time>', 'RFC 3339; nothing older (default: the oldest)')
  .option('--until <time>', 'RFC 3339; only what is older (default: now)')
  .action(async (file: string, options: { url: string; key: string; since?: string; until?: string }) => {
    const { simulateCommand } = await import('./simulate-command.ts')
    const { url, key, since, until } = options
    await simulateCommand({ file, url, key, since, until })
  })

program
  .command('bench')
  .description('load-test a deployment (--url, --key) or a fresh local service; --help says more')
  .argument('[arguments...]', 'scenarios and options of the bench')
  // Its options are its own program's.
  .helpOption(false)
  .allowUnknownOption()
  .passThroughOptions()
  .action(async (args: string[]) => {
    const { benchCommand } = await import('./bench-command.ts')
    process.exit(await benchCommand(args))
  })

function wholeNumber(value: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(value)) throw new InvalidArgumentError('It must be from 1 to 999999.')
  return Number(value)
}

function noKeys(dir: string, how = `--dir ${dir}`): Error {
  return new Error(`No keys in ${dir}. To make them: countersign keys generate ${how}`)
}

/** The greatest key id of an algorithm whose private half is there signs. */
function printListed(
  published: readonly { readonly keyId: string; readonly algorithm: string }[],
  { dir, prefix = '', signing }: { readonly dir: string; readonly prefix?: string; readonly signing: number },
): void {
  const held = keyIds(dir, 'private')
  for (const { keyId, algorithm } of published) {
    const ofAlgorithm = held.filter((other) => other.endsWith(`-${algorithm}`))
    const signs = ofAlgorithm.slice(-signing).includes(keyId)
    console.log(`${prefix}${keyId}\t${signs ? 'signs' : 'published'}`)
  }
}

function printMade(made: readonly { readonly keyId: string }[], dir: string): void {
  for (const { keyId } of made) console.log(`Made ${keyId} in ${dir}`)
}

try {
  await program.parseAsync()
} catch (error) {
  console.error(`countersign: ${errorText(error)}`)
  process.exitCode = 1
}
