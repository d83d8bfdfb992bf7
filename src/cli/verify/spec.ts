// What `countersign verify` takes; countersign-verify.mjs (tools/verifier-page/command.ts) is the same program.
import { argument, command, flag, mandatory, optional, repeated } from '../command.ts'

export const verify = command('verify', {
  about:
    'verify saved evidence offline; exits 0 all valid, 1 any invalid, 2 any cannot be checked or an export cut short',
  args: {
    files: argument(
      '<file...>',
      "evidence as the service answered it: pieces, pages, exports as NDJSON, folders of them; '-' reads stdin",
    ),
  },
  options: {
    jwks: mandatory(
      repeated(
        '<file>',
        'saved keys: the answers of GET /.well-known/jwks.json, GET /.well-known/approver-keys.json or GET /keys/{keyId}; may be repeated',
      ),
    ),
    log: optional(
      '<file>',
      'for a bundle: the saved answer of GET /.well-known/countersign-log, or a C2SP tlog-policy',
    ),
    json: flag('print the report as JSON; of several pieces {reports, summary}'),
    quiet: flag('print only what is not valid, and the summary'),
    report: optional(
      '<file.html>',
      'write a page for people: who asked for what, who approved, what was done',
    ),
  },
})
