// The commands about executions that were released to a connector.
import type { Command } from 'commander'
import { limitOption } from './options.ts'

export function defineIntents(intents: Command): void {
  intents
    .command('list')
    .description('print those in doubt: id, since when, caller, action, target')
    .addOption(limitOption())
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
}
