// Arguments and options of `countersign verify`; countersign-verify.mjs (tools/verifier-page/command.ts) is the same program.
import { argument, command, flag, mandatory, optional, repeated } from '../command.ts'

export const verify = command('verify', {
  about:
    'verify saved evidence offline; exits 0 all valid, 1 any is invalid, 2 any cannot be checked or an export is cut short',
  args: {
    files: argument(
      '<file...>',
      "saved answers of the service: single artifacts, pages of lists, NDJSON exports, folders with such files; '-' reads stdin",
    ),
  },
  options: {
    jwks: mandatory(
      repeated(
        '<file>',
        'saved keys: the answer of GET /.well-known/jwks.json, GET /.well-known/approver-keys.json or GET /keys/{keyId}; repeatable',
      ),
    ),
    log: optional(
      '<file>',
      'for a bundle: the saved answer of GET /.well-known/countersign-log, or a C2SP tlog-policy',
    ),
    json: flag('print the report as JSON; for several artifacts {reports, summary}'),
    quiet: flag('print only the invalid artifacts and the summary'),
    report: optional(
      '<file.html>',
      'write an HTML report for people: who asked for what, who approved it, what was done',
    ),
  },
})
