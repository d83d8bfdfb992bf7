// Reads the shipped policies, `<POLICY_DIR>/<name>/<version>/policy.yaml`, and checks every one of them (decisions §6).
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { canonicalize, type Json } from '../json/canonical.ts'
import type { PolicyDocument } from '../schemas/policy.ts'
import { sha256Hex } from '../signing/sha256.ts'
import { compilePolicy } from './check.ts'
import { PolicyError, type PolicyMistake } from './error.ts'

const FILE_BYTES_MAX = 262_144

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
 * @throws PolicyError with all mistakes of all files
 */
export function readPolicies(dir: string): PolicySource[] {
  const sources: PolicySource[] = []
  const mistakes: PolicyMistake[] = []
  for (const name of foldersIn(dir)) {
    for (const version of foldersIn(join(dir, name))) {
      try {
        sources.push(readPolicy({ name, version, file: join(dir, name, version, 'policy.yaml') }))
      } catch (error) {
        if (!(error instanceof PolicyError)) throw error
        mistakes.push(...error.mistakes)
      }
    }
  }
  if (mistakes.length > 0) throw new PolicyError(mistakes)
  return sources
}

/** Follows links, as a mounted volume has them; `.git` and the like are not policies. */
function foldersIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => !name.startsWith('.') && statSync(join(dir, name)).isDirectory())
      .toSorted()
  } catch (error) {
    throw new PolicyError([{ file: dir, message: `Cannot be read: ${String(error)}.` }])
  }
}

function readPolicy({ name, version, file }: { name: string; version: string; file: string }): PolicySource {
  const parsed = readYaml(file)
  const { document, warnings } = compilePolicy(parsed, file)
  const mistakes: PolicyMistake[] = []
  if (document.policyId !== name)
    mistakes.push({ file, message: `policyId must be the folder's name, ${name}.` })
  if (document.policyVersion !== version)
    mistakes.push({ file, message: `policyVersion must be the folder's name, ${version}.` })
  if (mistakes.length > 0) throw new PolicyError(mistakes)
  const content = canonicalize(document)
  return { name, version, file, document, content, contentHash: sha256Hex(content), warnings }
}

/**
 * Reads one YAML 1.2 document that JSON could carry: no duplicate keys, aliases or tags, at most 256 KiB of UTF-8.
 * @throws PolicyError with every mistake
 */
export function readYaml(file: string): unknown {
  const document = parseDocument(readText(file), {
    schema: 'core',
    stringKeys: true,
    resolveKnownTags: false,
  })
  // Warnings are unknown tags, whose values would silently become text.
  const mistakes = [...document.errors, ...document.warnings].map(({ message }) =>
    message.replace(/:?\n[^]*/, ''),
  )
  if (mistakes.length > 0)
    throw new PolicyError(mistakes.map((message) => ({ file, message: `${message}.` })))
  try {
    const value: Json = document.toJS({ maxAliasCount: 0 })
    canonicalize(value)
    return value
  } catch (error) {
    throw new PolicyError([{ file, message: `${String(error)}.` }])
  }
}

function readText(file: string): string {
  try {
    const { size } = statSync(file)
    if (size > FILE_BYTES_MAX) throw new Error(`${size} bytes are more than ${FILE_BYTES_MAX}`)
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    throw new PolicyError([{ file, message: `Cannot be read: ${String(error)}.` }])
  }
}
