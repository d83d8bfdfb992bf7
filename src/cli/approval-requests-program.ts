// The commands of approvers over approval requests: their names and options.
import { Option, type Command } from 'commander'
import { apiKey } from './options.ts'
import type { Given } from './profile.ts'

/** Adds them to `countersign approver`. */
export function defineApprovalRequests(approver: Command): void {
  const command = (name: string) =>
    approver
      .command(name)
      .option('--profile <file>', 'address and keys, such as mine/humans/dana.json')
      .addOption(
        new Option('--url <address>', 'base address of the service; http://127.0.0.1:3000 by default').env(
          'COUNTERSIGN_URL',
        ),
      )
      .addOption(apiKey('your API key', '--api-key'))

  command('requests')
    .description(
      'print the approval requests that wait for you, what ends first on top: until when, id, action code, who asks, action, target, approvals missing, note',
    )
    .option('--all', 'every open one, also those that you cannot sign or have signed')
    .action(async ({ all, ...given }: Given & { all?: true }) => {
      const { listRequests } = await import('./approval-requests-command.ts')
      const { serviceOf } = await import('./profile.ts')
      await listRequests(serviceOf(given), { all: all === true })
    })

  command('sign-request')
    .description('show what an approval request asks for, ask y/N, then sign and deliver the approval')
    .argument(
      '[id]',
      'its requestId, as listed; left out, the one of those that wait for you which ends first, or the next to come',
    )
    .option('--key <file>', 'private key, PEM')
    .option('--approver <id>', 'approverId that the key is enrolled for')
    .option('--key-id <id>', 'keyId that the key is enrolled as')
    .action(async (id: string | undefined, given: Given) => {
      const { nextRequest, signRequest } = await import('./approval-requests-command.ts')
      const { serviceOf, signerOf } = await import('./profile.ts')
      const service = serviceOf(given)
      const by = signerOf(given)
      if (!(await signRequest(service, id ?? (await nextRequest(service)), by))) process.exitCode = 1
    })

  command('decline-request')
    .description('say no to an approval request, for good: approvals that were given for it count no more')
    .argument('<id>', 'its requestId, as listed')
    .requiredOption('--reason <text>', 'for whoever asks')
    .action(async (id: string, { reason, ...given }: Given & { reason: string }) => {
      const { declineRequest } = await import('./approval-requests-command.ts')
      const { serviceOf } = await import('./profile.ts')
      await declineRequest(serviceOf(given), id, reason)
    })
}
