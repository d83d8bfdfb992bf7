// The arguments of `countersign verify` and of countersign-verify.mjs (tools/verifier-page/command.ts), which are the same program.
import type { Command } from 'commander'
import { collected } from './collected.ts'

/** @param command takes the description, arguments and options of `verify`, and runs it with exit code 0, 1 or 2 */
export function defineVerify(command: Command): void {
  command
    .description('verify saved evidence offline; exits 0 valid, 1 invalid, 2 unusable')
    .argument('<file>', "evidence as the service answered it, or a page of it; '-' reads stdin")
    .requiredOption(
      '--jwks <file>',
      'saved keys: the answer of GET /.well-known/jwks.json, or of GET /keys/{keyId} for an approver; may be repeated',
      collected,
    )
    .option(
      '--log <file>',
      'for a bundle: the saved answer of GET /.well-known/countersign-log, or a C2SP tlog-policy',
    )
    .option('--json', 'print the report as JSON')
    // Commander would exit 1, which a script must be able to read as "invalid".
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2))
    .action(async (file: string, options: { jwks: string[]; log?: string; json?: true }) => {
      const { verifyCommand } = await import('./verify-command.ts')
      process.exitCode = verifyCommand({
        file,
        jwks: options.jwks,
        log: options.log,
        json: options.json === true,
      })
    })
}
