// The arguments of `countersign verify` and of countersign-verify.mjs (tools/verifier-page/command.ts), which are the same program.
import type { Command } from 'commander'
import { collected } from './options.ts'

/**
 * @param command takes the description, arguments and options of `verify`, and runs it with exit code 0, 1 or 2
 * @param threadFile the program of a worker thread
 */
export function defineVerify(command: Command, threadFile: URL): void {
  command
    .description(
      'verify saved evidence offline; exits 0 all valid, 1 any invalid, 2 any cannot be checked or an export cut short',
    )
    .argument(
      '<file...>',
      "evidence as the service answered it: pieces, pages, exports as NDJSON, folders of them; '-' reads stdin",
    )
    .requiredOption(
      '--jwks <file>',
      'saved keys: the answers of GET /.well-known/jwks.json, GET /.well-known/approver-keys.json or GET /keys/{keyId}; may be repeated',
      collected,
    )
    .option(
      '--log <file>',
      'for a bundle: the saved answer of GET /.well-known/countersign-log, or a C2SP tlog-policy',
    )
    .option('--json', 'print the report as JSON; of several pieces {reports, summary}')
    .option('--quiet', 'print only what is not valid, and the summary')
    .option(
      '--report <file.html>',
      'write a page for people: who asked for what, who approved, what was done',
    )
    .action(async (files: string[], options: VerifyOptions) => {
      const { verifyCommand } = await import('./verify-command.ts')
      const { jwks, log, report, json, quiet } = options
      process.exitCode = await verifyCommand({
        files,
        jwks,
        log,
        report,
        json: json === true,
        quiet: quiet === true,
        threadFile,
      })
    })
}

interface VerifyOptions {
  readonly jwks: string[]
  readonly log?: string
  readonly report?: string
  readonly json?: true
  readonly quiet?: true
}
