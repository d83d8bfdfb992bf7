// Reads the rule files of a folder, `<WEBHOOK_DIR>/<provider>.yaml`, and checks each of them.
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DocumentError, type DocumentMistake } from '../cel/mistakes.ts'
import { readYaml } from '../cel/yaml.ts'
import { errorText } from '../../formats/text/error-text.ts'
import { CASES_SUFFIX } from './cases.ts'
import { compileWebhookRules, type CompiledWebhookRules } from './parse.ts'

const SUFFIX = '.yaml'

/** The name of the rule file of a provider, within `WEBHOOK_DIR`. */
export const fileNameOf = (provider: string): string => `${provider}${SUFFIX}`

export interface WebhookRulesFile extends CompiledWebhookRules {
  readonly provider: string
  readonly file: string
}

/**
 * Reads and compiles a file.
 * @throws DocumentError with every mistake: file, line, rule
 */
export function readWebhookRules(file: string): CompiledWebhookRules {
  const { value, positionOf } = readYaml(file)
  return compileWebhookRules(value, file, positionOf)
}

/**
 * Reads every file of rules, sorted by provider. Their cases, `<provider>.cases.yaml`, are not read.
 * @param options.required whether the folder must exist; if not, a missing folder counts as an empty folder
 * @throws DocumentError with all mistakes of all files
 */
export function readWebhookRulesFolder(
  dir: string,
  { required }: { readonly required: boolean },
): WebhookRulesFile[] {
  if (!required && !existsSync(dir)) return []
  const files: WebhookRulesFile[] = []
  const mistakes: DocumentMistake[] = []
  for (const name of namesIn(dir)) {
    const file = join(dir, name)
    try {
      const read = readWebhookRules(file)
      const { provider } = read.document
      if (name === fileNameOf(provider)) files.push({ ...read, provider, file })
      else
        mistakes.push({
          file,
          message: `provider must be the file's name, ${name.slice(0, -SUFFIX.length)}.`,
        })
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error
      mistakes.push(...error.mistakes)
    }
  }
  if (mistakes.length > 0) throw new DocumentError(mistakes)
  return files
}

/** A file with another ending would hold rules that are never applied. Names that begin with a dot belong to an editor or a mount. */
function namesIn(dir: string): string[] {
  let names: string[]
  try {
    names = readdirSync(dir).filter((name) => !name.startsWith('.'))
  } catch (error) {
    throw new DocumentError([{ file: dir, message: `Cannot be read: ${errorText(error)}.` }])
  }
  const yml = names.filter((name) => name.endsWith('.yml'))
  if (yml.length > 0)
    throw new DocumentError(yml.map((name) => ({ file: join(dir, name), message: 'Must end in .yaml.' })))
  return names.filter((name) => name.endsWith(SUFFIX) && !name.endsWith(CASES_SUFFIX)).toSorted()
}
