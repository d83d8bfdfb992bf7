// `countersign webhooks`: the deliveries of providers, and rules for them.
import { Option, type Command } from 'commander'
import { deliveryOutcomes, type DeliveryOutcome } from '../core/webhooks/outcomes.ts'
import { limitOption } from './options.ts'

/** Adds the commands of `countersign webhooks`. */
export function defineWebhooks(webhooks: Command): void {
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
    .addOption(limitOption())
    .action(
      async (options: {
        status?: 'pending' | 'failed' | 'dead'
        outcome?: DeliveryOutcome
        limit: number
      }) => {
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
