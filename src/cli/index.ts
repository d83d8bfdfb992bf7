#!/usr/bin/env node
// The countersign command: starts the service, migrates its database, makes its keys and its callers' keys (decisions §1, §2).
// A module is imported when its command runs: making a key must not need the server's parts.
import { Command } from 'commander'
import { errorText } from '../formats/text/error-text.ts'
import packageJson from '../../package.json' with { type: 'json' }
import * as changes from './changes/commands.ts'
import { define } from './command.ts'
import * as commands from './commands.ts'
import * as logs from './log/commands.ts'
import { exitUsageError } from './options.ts'
import { verify } from './verify/spec.ts'

const { env } = process

const program = new Command('countersign')
  .description(packageJson.description)
  .version(packageJson.version)
  // Before the commands are made: they inherit it.
  .exitOverride(exitUsageError)
  // Options after `bench` belong to the bench.
  .enablePositionalOptions()

define(program, commands.serve, async () => {
  const { main } = await import('../server/main.ts')
  process.exit(await main(env))
})
define(program, commands.migrate, async () => {
  const { DATABASE_URL: url } = env
  if (!url) throw new Error('DATABASE_URL is not set; the embedded database migrates itself at every start.')
  const { migrate } = await import('../store/postgres/migrate.ts')
  const applied = await migrate(url, { warn: (sentence) => console.error(`countersign: ${sentence}`) })
  console.log(applied.length === 0 ? 'The schema is up to date.' : `Applied ${applied.join(', ')}.`)
})

const keys = program.command('keys').description('signing keys')
const keysFile = () => import('./keys.ts')
define(keys, commands.keys.generate, async (given) => (await keysFile()).generate(given))
define(keys, commands.keys.rotate, async (given) => (await keysFile()).rotate(given))
define(keys, commands.keys.revoke, async (given) => (await keysFile()).revoke(given))
define(keys, commands.keys.list, async (given) => (await keysFile()).list(given))

const callers = program.command('callers').description('API keys of calling systems')
const callersFile = () => import('./callers.ts')
define(callers, commands.callers.issue, async (given) => (await callersFile()).issueCaller(given))
define(callers, commands.callers.list, async (given) => (await callersFile()).listCallerKeys(given))
define(callers, commands.callers.propose, async (given) => (await callersFile()).proposeCallerKey(given))
define(callers, commands.callers.revoke, async (given) => (await callersFile()).proposeRevocation(given))

define(program, commands.fsck, async (given) => (await import('./fsck.ts')).fsckCommand(env, given))

const intents = program.command('intents').description('executions that were released to a connector')
const intentsFile = () => import('./intents.ts')
define(intents, commands.intents.list, async (given) => (await intentsFile()).listIntents(env, given))
define(intents, commands.intents.show, async (given) => (await intentsFile()).showIntent(env, given))
define(intents, commands.intents.resolve, async (given) =>
  (await import('./resolve-intent.ts')).resolveIntent(given),
)

const webhooks = program
  .command('webhooks')
  .description('webhook deliveries of providers, and the rules for them')
const webhooksFile = () => import('./webhooks.ts')
define(webhooks, commands.webhooks.list, async (given) => (await webhooksFile()).listWebhooks(env, given))
define(webhooks, commands.webhooks.show, async (given) => (await webhooksFile()).showWebhook(env, given))
define(webhooks, commands.webhooks.retry, async ({ all, provider, eventId }, retry) => {
  const { retryAllWebhooks, retryWebhook } = await webhooksFile()
  if (all && provider === undefined) return retryAllWebhooks(env)
  if (all || provider === undefined || eventId === undefined)
    return retry.error('error: Name a provider and an event id, or give --all.')
  return retryWebhook(env, { provider, eventId })
})
define(webhooks, commands.webhooks.check, async ({ file }) =>
  (await import('./webhook-rules.ts')).checkWebhookRules(file),
)

const approver = program.command('approver').description('keys and signatures of humans who approve')
const approverFile = () => import('./approver.ts')
const requestsFile = () => import('./approval-requests.ts')
define(approver, commands.approver.keygen, async (given) => (await approverFile()).approverKeygen(given))
define(approver, commands.approver.signApproval, async (given) =>
  (await approverFile()).signApproval(given, new Date()),
)
define(approver, commands.approver.signStepUp, async (given) =>
  (await approverFile()).signStepUp(given, new Date()),
)
define(approver, commands.approver.signEndpoint, async (given) =>
  (await import('./endpoint.ts')).signEndpoint(given, new Date()),
)
const standInsFile = () => import('./stand-ins.ts')
define(approver, commands.approver.groups, async (given) => (await standInsFile()).listGroups(given))
define(approver, commands.approver.standIns, async (given) => (await standInsFile()).listStandIns(given))
define(approver, commands.approver.requests, async (given) => (await requestsFile()).listRequests(given))
define(approver, commands.approver.signRequest, async (given) => (await requestsFile()).signRequest(given))
define(approver, commands.approver.noteRequest, async (given) => (await requestsFile()).noteRequest(given))
define(approver, commands.approver.declineRequest, async (given) =>
  (await requestsFile()).declineRequest(given),
)

const catalogue = program.command('catalogue').description('what executions are found by')
define(catalogue, commands.catalogue.rebuild, async () => (await import('./catalogue.ts')).rebuild(env))

const receiver = program
  .command('receiver')
  .description('programs that carry out what a service has released, ready to run')
const receivers = () => import('../receivers/index.ts')
define(receiver, commands.receiver.http, async (given) => (await receivers()).receiveByHttp(env, given))
define(receiver, commands.receiver.stripe, async (given) => (await receivers()).receiveForStripe(env, given))

const gateway = () => import('./mcp.ts')
const serving = define(program, commands.mcp.serve, async (given) => (await gateway()).serveMcp(env, given))
define(serving, commands.mcp.pin, async (given) => (await gateway()).pinMcp(env, given))

const setup = program.command('setup').description('make what a trial needs')
define(setup, commands.setup.humans, async (given) => (await import('./setup.ts')).setupHumans(env, given))

define(program, verify, async (given) => {
  const { verifyCommand } = await import('./verify.ts')
  return verifyCommand(given, new URL('./verify/thread.ts', import.meta.url))
})

define(program, commands.auditPack, async (given) => {
  const { auditPackCommand } = await import('./audit-pack/index.ts')
  return auditPackCommand(given, new URL('./verify/thread.ts', import.meta.url))
})

const log = program.command('log').description('copies, checks and proofs of the evidence log')
define(log, logs.exportLog, async (given) => (await import('./log/export.ts')).exportCommand(given))
define(log, logs.fsck, async (given) => (await import('./log/fsck.ts')).fsckCommand(given))
define(log, logs.proof, async (given) => (await import('./log/proof.ts')).proofCommand(given))
define(log, logs.absent, async (given) => (await import('./log/absent.ts')).absentCommand(given))
define(log, logs.complete, async (given) => (await import('./log/complete.ts')).completeCommand(given))
define(log, logs.audit, async (given) => (await import('./log/audit.ts')).auditCommand(env, given))
define(log, logs.backfill, async () => (await import('./log/backfill.ts')).backfill(env))
define(log, logs.reopen, async (given) => (await import('./log/reopen.ts')).reopen(env, given))

const policy = program
  .command('policy')
  .description('check, test and explain policies, and propose them to a service')
const policyFile = () => import('./policy.ts')
define(policy, commands.policy.check, async ({ path }) => (await policyFile()).checkPolicies(path))
define(policy, commands.policy.test, async ({ path }) => (await policyFile()).testPolicies(path))
define(policy, commands.policy.explain, async (given) => (await policyFile()).explainPolicy(given))

const proposing = () => import('./changes/propose.ts')
define(policy, changes.proposePolicy, async (given) => (await proposing()).proposePolicy(given))
define(policy, changes.retirePolicy, async (given) => (await proposing()).retirePolicy(given))

const ofChanges = program.command('changes').description('changes that two humans make: propose and resolve')
const resolving = () => import('./changes/resolve.ts')
define(ofChanges, changes.list, async (given) => (await resolving()).listChanges(given))
define(ofChanges, changes.show, async (given) => (await resolving()).showChange(given))
define(ofChanges, changes.approve, async (given) => (await resolving()).approveChange(given))
define(ofChanges, changes.reject, async (given) => (await resolving()).rejectChange(given))
define(ofChanges, changes.propose, async (given) => (await proposing()).proposeFromFile(given))

define(program, commands.simulate, async (given) => (await import('./simulate.ts')).simulateCommand(given))

define(program, commands.bench, async ({ args }) => {
  // Imported late: no other command needs the modules of the bench.
  const { main } = await import('../../bench/index.ts')
  process.exit(await main(args, 'countersign bench'))
})
  // The bench parses its own options.
  .helpOption(false)
  .allowUnknownOption()
  .passThroughOptions()

try {
  await program.parseAsync()
} catch (error) {
  console.error(`countersign: ${errorText(error)}`)
  process.exitCode = 1
}
