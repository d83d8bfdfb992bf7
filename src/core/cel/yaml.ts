// Reads a YAML file that a person wrote: a policy, rules, their cases.
import { readFileSync, statSync } from 'node:fs'
import { isNode, LineCounter, parseDocument } from 'yaml'
import { canonicalize, type Json } from '../json/canonical.ts'
import { DocumentError } from './mistakes.ts'

const FILE_BYTES_MAX = 262_144

export interface YamlFile {
  readonly value: unknown
  /** The line, counted from 1, of what stands at a path of keys and indexes; undefined where nothing does. */
  readonly lineOf: (path: readonly (string | number)[]) => number | undefined
}

/**
 * Reads one YAML 1.2 document that JSON could carry: no duplicate keys, aliases or tags, at most 256 KiB of UTF-8.
 * @throws DocumentError with every mistake
 */
export function readYaml(file: string): YamlFile {
  const lineCounter = new LineCounter()
  const document = parseDocument(readText(file), {
    lineCounter,
    schema: 'core',
    stringKeys: true,
    resolveKnownTags: false,
  })
  // Warnings are unknown tags, whose values would silently become text.
  const mistakes = [...document.errors, ...document.warnings].map(({ message }) =>
    message.replace(/:?\n[^]*/, ''),
  )
  if (mistakes.length > 0)
    throw new DocumentError(mistakes.map((message) => ({ file, message: `${message}.` })))
  try {
    const value: Json = document.toJS({ maxAliasCount: 0 })
    canonicalize(value)
    return {
      value,
      lineOf(path) {
        const node = document.getIn(path, true)
        return isNode(node) && node.range ? lineCounter.linePos(node.range[0]).line : undefined
      },
    }
  } catch (error) {
    throw new DocumentError([{ file, message: `${String(error)}.` }])
  }
}

function readText(file: string): string {
  try {
    const { size } = statSync(file)
    if (size > FILE_BYTES_MAX) throw new Error(`${size} bytes are more than ${FILE_BYTES_MAX}`)
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    throw new DocumentError([{ file, message: `Cannot be read: ${String(error)}.` }])
  }
}
