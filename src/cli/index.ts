#!/usr/bin/env node
// The countersign command: starts the service, migrates its database, makes its keys and its callers' keys (decisions §1, §2).
import { Command, Option } from 'commander'
import { errorText } from '../core/error-text.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { defineApprover } from './approver-program.ts'
import type { CallerRequest } from './callers-command.ts'
import type { AskedService } from './callers-service.ts'
import { collected } from './collected.ts'
import { defineKeys } from './keys-program.ts'
import { defineLog } from './log/index.ts'
import { definePolicy } from './policy-program.ts'
import type { SetupRequest } from './setup-command.ts'
import type { SimulateRequest } from './simulate-command.ts'
import { defineVerify } from './verify-program.ts'
import { defineWebhooks } from './webhooks-program.ts'
import { wholeNumber } from './whole-number.ts'

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

defineKeys(program.command('keys').description('signing keys'))

/** Of commands that ask a running service as somebody. */
const onService = (command: Command) =>
  command
    .addOption(
      new Option('--url <address>', 'base address of the service')
        .env('COUNTERSIGN_URL')
        .default('http://127.0.0.1:3000'),
    )
    .addOption(new Option('--key <key>', 'your API key').env('COUNTERSIGN_API_KEY').makeOptionMandatory())

const callers = program.command('callers').description('keys of calling systems')

callers
  .command('issue')
  .description(
    'make a raw key, shown this once, and its entry for SERVICE_API_KEYS or `callers propose`; nothing is stored',
  )
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
  .option('--expires-at <time>', 'RFC 3339; the key is unknown from then on (default: never)')
  .action(async (callerId: string, options: CallerRequest) => {
    const { issueCaller } = await import('./callers-command.ts')
    issueCaller(callerId, options)
  })

onService(callers.command('list'))
  .description('keys of callers that are in effect on a running service; for humans and auditors')
  .option('--all', 'revoked and expired ones too')
  .action(async ({ all, ...service }: AskedService & { all?: true }) => {
    const { listCallerKeys } = await import('./callers-service.ts')
    await listCallerKeys(service, { all: all === true })
  })

onService(callers.command('propose'))
  .description(
    'propose to issue a key without a restart, by the entry that `callers issue` printed; for a human',
  )
  .argument('<file>', "with the entry as its last line; '-' reads stdin. A raw key in it is not sent")
  .requiredOption('--reason <text>', 'for the human who approves it')
  .action(async (entry: string, { reason, ...service }: AskedService & { reason: string }) => {
    const { proposeCallerKey } = await import('./callers-service.ts')
    await proposeCallerKey(service, { entry, reason })
  })

onService(callers.command('revoke'))
  .description('propose to revoke a key, of governance or of SERVICE_API_KEYS; for a human')
  .argument('<callerId>')
  .argument('<keyId>', 'as `callers list` shows it: the first 16 characters of the SHA-256 of the raw key')
  .requiredOption('--reason <text>', 'for the human who approves it')
  .action(
    async (callerId: string, keyId: string, { reason, ...service }: AskedService & { reason: string }) => {
      const { proposeRevocation } = await import('./callers-service.ts')
      await proposeRevocation(service, { callerId, keyId, reason })
    },
  )

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

defineWebhooks(program.command('webhooks').description('deliveries of providers, and rules for them'))

defineApprover(program.command('approver').description('keys and signatures of humans who approve'))

program
  .command('setup')
  .description('make what a trial needs')
  .command('humans')
  .description(
    'for a trial, while no service runs here: two humans who govern, an approver and an agent, enrolled and ready for a first payment',
  )
  .option('--dir <folder>', 'takes all their keys; made, and not there yet', 'mine/humans')
  .option('--connector <url>', 'where payments go', 'http://127.0.0.1:8080/')
  .option('--tools <url>', "where calls of a language model's tools go", 'http://127.0.0.1:8081/')
  .option('--own-database', 'also on the database of DATABASE_URL')
  .action(async (options: SetupRequest) => {
    const { setupHumans } = await import('./setup-command.ts')
    await setupHumans(process.env, options)
  })

defineVerify(program.command('verify'), new URL('./verify/thread.ts', import.meta.url))
defineLog(program.command('log').description('copies, checks and proofs of the evidence log'))

definePolicy(program.command('policy').description('check, test and explain policies; no service is needed'))

program
  .command('simulate')
  .description(
    'say which past decisions of a running service a policy file or a change would flip, or the end of versions would have refused; changes nothing',
  )
  .argument('[policy.yaml]', 'left out: only versions of --policy end, or --change says what is simulated')
  .requiredOption('--url <address>', 'base address of the service')
  .addOption(
    new Option('--key <key>', 'API key; a human or --read-all key sees the decisions of all callers')
      .env('COUNTERSIGN_API_KEY')
      .makeOptionMandatory(),
  )
  .option('--since <time>', 'RFC 3339; nothing older (default: the oldest)')
  .option('--until <time>', 'RFC 3339; only what is older (default: now)')
  .option('--policy <name>', 'in the place of the file: the policy whose versions end')
  .option('--retires <versions...>', 'versions that end; says which executions would have been refused')
  .addOption(
    new Option(
      '--change <file>',
      "in the place of all three: the change of a policy as the service answered it, JSON; '-' reads stdin",
    ).conflicts(['policy', 'retires']),
  )
  .option('--report <file>', 'write the impact report of the change, for `approver sign-step-up --impact`')
  .action(async (file: string | undefined, options: Omit<SimulateRequest, 'file'>) => {
    const { simulateCommand } = await import('./simulate-command.ts')
    await simulateCommand({ ...options, file })
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

try {
  await program.parseAsync()
} catch (error) {
  console.error(`countersign: ${errorText(error)}`)
  process.exitCode = 1
}
