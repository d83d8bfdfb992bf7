// The commands about keys of callers: one makes a key, the others ask a running service.
import type { Command } from 'commander'
import type { CallerRequest } from './callers-command.ts'
import { apiKey, collected, serviceUrl } from './options.ts'
import type { ServiceAt } from './service.ts'

/** For commands that ask a running service with a key. */
const onService = (command: Command) =>
  command.addOption(serviceUrl()).addOption(apiKey('your API key').makeOptionMandatory())

export function defineCallers(callers: Command): void {
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
    .action(async ({ all, ...service }: ServiceAt & { all?: true }) => {
      const { listCallerKeys } = await import('./callers-service.ts')
      await listCallerKeys(service, { all: all === true })
    })

  onService(callers.command('propose'))
    .description(
      'propose to issue a key without a restart, by the entry that `callers issue` printed; for a human',
    )
    .argument('<file>', "with the entry as its last line; '-' reads stdin. A raw key in it is not sent")
    .requiredOption('--reason <text>', 'for the human who approves it')
    .action(async (entry: string, { reason, ...service }: ServiceAt & { reason: string }) => {
      const { proposeCallerKey } = await import('./callers-service.ts')
      await proposeCallerKey(service, { entry, reason })
    })

  onService(callers.command('revoke'))
    .description('propose to revoke a key, of governance or of SERVICE_API_KEYS; for a human')
    .argument('<callerId>')
    .argument('<keyId>', 'as `callers list` shows it: the first 16 characters of the SHA-256 of the raw key')
    .requiredOption('--reason <text>', 'for the human who approves it')
    .action(
      async (callerId: string, keyId: string, { reason, ...service }: ServiceAt & { reason: string }) => {
        const { proposeRevocation } = await import('./callers-service.ts')
        await proposeRevocation(service, { callerId, keyId, reason })
      },
    )
}
