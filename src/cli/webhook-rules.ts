// countersign webhooks check: checks the rules of a provider, and their cases, before they are proposed. Works without a service.
import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { printable } from '../formats/text/printable.ts'
import { CASES_SUFFIX, runCases } from '../core/webhook-rules/cases.ts'
import { fileNameOf, readWebhookRules } from '../core/webhook-rules/load.ts'
import { counted } from '../formats/text/text.ts'

/**
 * Compiles a file of rules and runs the cases beside it, `<provider>.cases.yaml`.
 *
 * @returns the exit code: 1 where a case does not hold
 * @throws DocumentError with every mistake of a file
 */
export function checkWebhookRules(file: string): 0 | 1 {
  const { document, rulesHash, rules, warnings } = readWebhookRules(file)
  for (const warning of warnings) console.error(printable(`warning: ${warning}`))
  if (basename(file) !== fileNameOf(document.provider))
    console.error(
      printable(
        `warning: in WEBHOOK_DIR the rules of ${document.provider} must be called ${fileNameOf(document.provider)}.`,
      ),
    )
  const compiled = `${counted(rules.length, 'rule')} of ${document.provider} compiled, rulesHash ${rulesHash}`
  const casesFile = file.replace(/\.yaml$/, CASES_SUFFIX)
  if (casesFile === file || !existsSync(casesFile)) {
    console.log(`${compiled}.`)
    console.error(`warning: no cases were run: ${printable(casesFile)} is not there.`)
    return 0
  }
  const { count, failures } = runCases(rules, casesFile)
  for (const failure of failures) console.error(printable(`${casesFile}: ${failure}`))
  const held = failures.length === 0 ? ' hold' : `: ${counted(failures.length, 'problem')}`
  console.log(`${compiled}; ${counted(count, 'case')}${held}.`)
  return failures.length === 0 ? 0 : 1
}
