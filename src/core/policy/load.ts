// Reads the shipped policies, `<POLICY_DIR>/<name>/<version>/policy.yaml`, and checks each of them (decisions §6).
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { DocumentError, type DocumentMistake, type PositionOf } from '../cel/mistakes.ts'
import { readYaml, type YamlFile } from '../cel/yaml.ts'
import { errorText } from '../../formats/text/error-text.ts'
import { canonicalize } from '../../formats/json/canonical.ts'
import { isPolicyVersion, type PolicyDocument } from '../../formats/schemas/policy.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { compilePolicy, type CompiledPolicy } from './check.ts'

export interface PolicySource {
  readonly name: string
  readonly version: string
  readonly file: string
  readonly document: PolicyDocument
  readonly policy: CompiledPolicy
  readonly positionOf: PositionOf
  /** RFC 8785 text of the document, which is stored, hashed and compiled from then on. */
  readonly content: string
  /** SHA-256 of `content`, hex. */
  readonly contentHash: string
  /** Sentences about content that is allowed but looks unintended. */
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

/** Follows links, because mounted volumes use them; `.git` and similar folders are not policies. */
function foldersIn(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => !name.startsWith('.') && statSync(join(dir, name)).isDirectory())
      .toSorted()
  } catch (error) {
    throw new DocumentError([{ file: dir, message: `Cannot be read: ${errorText(error)}.` }])
  }
}

/**
 * The policy files that a path names: a file itself, or the file or files of a version, of a policy's versions, or of a whole POLICY_DIR.
 * @throws DocumentError when there is no such file
 */
export function policyFilesAt(path: string): string[] {
  if (existsSync(path) && !statSync(path).isDirectory()) return [path]
  const own = join(path, 'policy.yaml')
  if (existsSync(own)) return [own]
  const files = foldersIn(path).flatMap((name) => filesBelow(join(path, name), 1))
  if (files.length === 0)
    throw new DocumentError([
      { file: path, message: 'There is no policy.yaml here, nor in the folders below.' },
    ])
  return files
}

function filesBelow(folder: string, levels: number): string[] {
  const own = join(folder, 'policy.yaml')
  if (existsSync(own)) return [own]
  return levels === 0 ? [] : foldersIn(folder).flatMap((name) => filesBelow(join(folder, name), levels - 1))
}

/**
 * Reads and checks one file. In a folder that is named like a version, the folders determine policy and version, as in POLICY_DIR.
 * @throws DocumentError with every mistake
 */
export function readPolicyFile(file: string): PolicySource {
  const version = basename(dirname(file))
  if (!isPolicyVersion(version)) return compileSource(readYaml(file))
  return readPolicy({ name: basename(dirname(dirname(file))), version, file })
}

function readPolicy({ name, version, file }: { name: string; version: string; file: string }): PolicySource {
  const source = compileSource(readYaml(file))
  const { document, positionOf } = source
  const mistakes: DocumentMistake[] = []
  const compare = (member: 'policyId' | 'policyVersion', folder: string) => {
    if (document[member] === folder) return
    const message = `${member} must be the folder's name, ${folder}.`
    mistakes.push({ file, ...positionOf([member]), message })
  }
  compare('policyId', name)
  compare('policyVersion', version)
  if (mistakes.length > 0) throw new DocumentError(mistakes)
  return source
}

/** @throws DocumentError with every mistake */
export function compileSource({ file, value, positionOf }: YamlFile): PolicySource {
  const { document, policy, warnings } = compilePolicy(value, file, { positionOf })
  const { policyId: name, policyVersion: version } = document
  const content = canonicalize(document)
  return {
    name,
    version,
    file,
    document,
    policy,
    positionOf,
    content,
    contentHash: sha256Hex(content),
    warnings,
  }
}
