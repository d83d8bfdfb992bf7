// countersign-verify.mjs: `countersign verify` in one file, for whoever has evidence and keys but no checkout. Its worker threads run the
// same file.
import { Command } from 'commander'
import { exitUsageError } from '../../src/cli/options.ts'
import { defineVerify } from '../../src/cli/verify-program.ts'
import { serveTasks } from '../../src/cli/verify/threads.ts'

if (!serveTasks()) {
  const program = new Command('node countersign-verify.mjs').exitOverride(exitUsageError)
  defineVerify(program, new URL(import.meta.url))
  await program.parseAsync()
}
