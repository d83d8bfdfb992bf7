// `countersign approver`: the keys and signatures of humans who approve.
import { Option, type Command } from 'commander'
import { defineApprovalRequests } from './approval-requests-program.ts'
import type { ApprovalToSign, StepUpRequest } from './approver-command.ts'
import type { EndpointToSign } from './endpoint-command.ts'
import { collected } from './options.ts'

/** Adds the commands of `countersign approver`. */
export function defineApprover(approver: Command): void {
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
    .action(async (options: ApprovalToSign) => {
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
    .option('--impact <file>', 'the report of `simulate --report`, which your signature then covers too')
    .action(async (options: StepUpRequest) => {
      const { signStepUp } = await import('./approver-command.ts')
      signStepUp(options, new Date())
    })

  approver
    .command('sign-endpoint')
    .description(
      'sign that an event endpoint skips events, or gets a further secret; prints the body to POST, which holds for two minutes',
    )
    .requiredOption('--key <file>', 'private half of your step-up key, PEM')
    .requiredOption('--endpoint <id>', 'its endpointId')
    .addOption(
      new Option('--action <action>', 'what you do').choices(['redeliver', 'secret']).makeOptionMandatory(),
    )
    .option('--after <cursor>', 'of redeliver: the place in the feed, or now')
    .option('--key-id <id>', 'a name for the key; informative', 'step-up')
    .action(async (options: EndpointToSign) => {
      const { signEndpoint } = await import('./endpoint-command.ts')
      signEndpoint(options, new Date())
    })

  defineApprovalRequests(approver)
}
