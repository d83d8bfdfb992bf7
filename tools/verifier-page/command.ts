// countersign-verify.mjs: `countersign verify` in one file, for whoever has evidence and keys but no checkout. Its worker threads run the
// same file.
import { Command } from 'commander'
import { declare } from '../../src/cli/command.ts'
import { exitUsageError } from '../../src/cli/options.ts'
import { verify } from '../../src/cli/verify/spec.ts'
import { serveTasks } from '../../src/cli/verify/threads.ts'

if (!serveTasks()) {
  const program = new Command('node countersign-verify.mjs').exitOverride(exitUsageError)
  declare(program, verify, async (given) => {
    const { verifyCommand } = await import('../../src/cli/verify.ts')
    return verifyCommand(given, new URL(import.meta.url))
  })
  await program.parseAsync()
}
