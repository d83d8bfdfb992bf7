// `countersign webhooks`: the deliveries of providers, and rules for them.
import { Option, type Command } from 'commander'
import { deliveryOutcomes, type DeliveryOutcome } from '../formats/schemas/webhook-outcomes.ts'
import { limitOption } from './options.ts'

/** Adds the commands of `countersign webhooks`. */
export function defineWebhooks(webhooks: Command): void {
  webhooks
    .command('list')
    .description(
      'print recent deliveries, newest first: outcome, time, provider, event id, rule, transaction, reason',
    )
    .option('--provider <name>', 'of this one alone')
    .addOption(new Option('--outcome <outcome>', 'those that ended so').choices([...deliveryOutcomes]))
    .addOption(
      new Option(
        '--status <status>',
        'those that wait to be processed instead, oldest first: status, age, failures, provider, event id, reason',
      )
        .choices(['waiting', 'pending', 'failed', 'dead'])
        .conflicts(['outcome', 'provider', 'cursor']),
    )
    .option('--cursor <text>', 'older ones: what the list before ended with')
    .addOption(limitOption())
    .action(
      async ({
        status,
        ...recent
      }: {
        status?: 'waiting' | 'pending' | 'failed' | 'dead'
        provider?: string
        outcome?: DeliveryOutcome
        cursor?: string
        limit: number
      }) => {
        const { listRecent, listWaiting } = await import('./webhooks-command.ts')
        const env = process.env
        if (status === undefined) return listRecent({ env, ...recent })
        return listWaiting({ env, status: status === 'waiting' ? null : status, limit: recent.limit })
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
    .action(
      async (
        provider: string | undefined,
        eventId: string | undefined,
        { all }: { all?: true },
        retry: Command,
      ) => {
        const { retryAllWebhooks, retryWebhook } = await import('./webhooks-command.ts')
        if (all === true && provider === undefined) return retryAllWebhooks(process.env)
        if (all === true || provider === undefined || eventId === undefined)
          retry.error('error: Name a provider and an event id, or give --all.')
        return retryWebhook(process.env, { provider, eventId })
      },
    )

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
}
