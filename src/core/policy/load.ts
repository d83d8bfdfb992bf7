// Reads the shipped policies, `<POLICY_DIR>/<name>/<version>/policy.yaml`, and checks every one of them (decisions §6).
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DocumentError, type DocumentMistake } from '../cel/mistakes.ts'
import { readYaml } from '../cel/yaml.ts'
import { canonicalize } from '../json/canonical.ts'
import type { PolicyDocument } from '../schemas/policy.ts'
import { sha256Hex } from '../signing/sha256.ts'
import { compilePolicy } from './check.ts'

interface PolicySource {
  readonly name: string
  readonly version: string
  readonly file: string
  readonly document: PolicyDocument
  /** RFC 8785 text of the document: what is stored, hashed and compiled from then on. */
  readonly content: string
  /** SHA-256 of `content`, hex. */
  readonly contentHash: string
  /** What is allowed but looks unintended, a sentence each. */
  readonly warnings: readonly string[]
}

/**
 * Reads every policy of the folder, sorted by name and version.
 * @throws DocumentError with all mistakes of all files
 */
export function readPolicies(dir: string): PolicySource[] {
  const sources: PolicySource[] = []
  const mistakes: DocumentMistake[] = []
  for (const name of foldersIn(dir)) {
    for (const version of foldersIn(join(dir, name))) {
      try {
        sources.push(readPolicy({ name, version, file: join(dir, name, version, 'policy.yaml') }))
      } catch (error) {
        if (!(error instanceof DocumentError)) throw error
        mistakes.push(...error.mistakes)
      }
    }
  }
  if (mistakes.length > 0) throw new DocumentError(mistakes)
  return sources
}

/** Follows links, as a mounted volume has them; `.git` and the like are not policies. */
function foldersIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => !name.startsWith('.') && statSync(join(dir, name)).isDirectory())
      .toSorted()
  } catch (error) {
    throw new DocumentError([{ file: dir, message: `Cannot be read: ${String(error)}.` }])
  }
}

function readPolicy({ name, version, file }: { name: string; version: string; file: string }): PolicySource {
  const { value: parsed } = readYaml(file)
  const { document, warnings } = compilePolicy(parsed, file)
  const mistakes: DocumentMistake[] = []
  if (document.policyId !== name)
    mistakes.push({ file, message: `policyId must be the folder's name, ${name}.` })
  if (document.policyVersion !== version)
    mistakes.push({ file, message: `policyVersion must be the folder's name, ${version}.` })
  if (mistakes.length > 0) throw new DocumentError(mistakes)
  const content = canonicalize(document)
  return { name, version, file, document, content, contentHash: sha256Hex(content), warnings }
}
