// countersign policy: check, test and explain policies before anybody proposes them. Works without a service.
import type { Command } from 'commander'

export function definePolicy(policy: Command): void {
  policy
    .command('check')
    .description('name every mistake in policies by file, line, column and rule; exits 1 where there is one')
    .argument('<path>', 'a policy.yaml, the folder of a version or of a policy, or a POLICY_DIR')
    .action(async (path: string) => {
      const { checkPolicies } = await import('./policy-command.ts')
      process.exitCode = checkPolicies(path)
    })

  policy
    .command('test')
    .description(
      'run the cases.yaml beside each policy; exits 1 where a case does not hold or a rule decides no case',
    )
    .argument('<path>', 'as for check')
    .action(async (path: string) => {
      const { testPolicies } = await import('./policy-command.ts')
      process.exitCode = testPolicies(path)
    })

  policy
    .command('explain')
    .description('say in words how a policy decides a transaction, signal by signal and rule by rule')
    .argument('<policy.yaml>')
    .argument('<transaction.json>', 'the body of POST /execute, or of it what the policy reads')
    .option('--at <time>', 'RFC 3339; when it is decided (default: now)')
    .action(async (file: string, transaction: string, { at }: { at?: string }) => {
      const { explainPolicy } = await import('./policy-command.ts')
      explainPolicy(file, transaction, at)
    })
}
