#!/usr/bin/env node
// The countersign command: starts the service, migrates its database, makes its keys and its callers' keys (decisions §1, §2).
import { Command, Option } from 'commander'
import { errorText } from '../formats/text/error-text.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { defineApprover } from './approver-program.ts'
import { defineCallers } from './callers-program.ts'
import { defineIntents } from './intents-program.ts'
import { defineKeys } from './keys-program.ts'
import { defineLog } from './log/index.ts'
import { definePolicy } from './policy-program.ts'
import type { SetupRequest } from './setup-command.ts'
import type { SimulateRequest } from './simulate-command.ts'
import { defineVerify } from './verify-program.ts'
import { defineWebhooks } from './webhooks-program.ts'
import { apiKey, exitUsageError, problemsAsJson, serviceUrl } from './options.ts'

const program = new Command('countersign')
  .description(packageJson.description)
  .version(packageJson.version)
  // Before the commands are made: they inherit it.
  .exitOverride(exitUsageError)
  // Options that stand behind `bench` are for the bench.
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
    const { migrate } = await import('../store/postgres/migrate.ts')
    const applied = await migrate(url, { warn: (sentence) => console.error(`countersign: ${sentence}`) })
    console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`)
  })

defineKeys(program.command('keys').description('signing keys'))

defineCallers(program.command('callers').description('keys of calling systems'))

program
  .command('fsck')
  .description(
    'verify everything that is stored, beside running services; exits 0 clean, 1 something is wrong, 2 could not check',
  )
  .addOption(problemsAsJson())
  .action(async (options: { json?: true }) => {
    const { fsckCommand } = await import('./fsck-command.ts')
    process.exitCode = await fsckCommand(process.env, { json: options.json === true })
  })

defineIntents(program.command('intents').description('executions that were released to a connector'))

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
  .addHelpText(
    'after',
    '\nHOST, PORT and DATA_DIR of the environment say where the service will be, as they do at its start; the profiles name that address.',
  )
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
  .addOption(serviceUrl())
  .addOption(
    apiKey('API key; a human or --read-all key sees the decisions of all callers').makeOptionMandatory(),
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
    // It is installed with the command, and no other command needs its modules.
    const { main } = await import('../../bench/index.ts')
    process.exit(await main(args, 'countersign bench'))
  })

try {
  await program.parseAsync()
} catch (error) {
  console.error(`countersign: ${errorText(error)}`)
  process.exitCode = 1
}
