// Reads a YAML file that a person wrote: a policy, webhook rules, or the test cases of either.
import { readFileSync, statSync } from 'node:fs'
import { isMap, isNode, isScalar, LineCounter, parseDocument, visit, type YAMLError } from 'yaml'
import { errorText } from '../../formats/text/error-text.ts'
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import { DocumentError, type PositionOf } from './mistakes.ts'

const FILE_BYTES_MAX = 262_144

export interface YamlFile {
  /** The name of the file in mistakes. */
  readonly file: string
  readonly value: unknown
  readonly positionOf: PositionOf
}

/**
 * Reads one YAML 1.2 document that JSON could carry: no duplicate keys, aliases or tags, at most 256 KiB of UTF-8.
 * @throws DocumentError with the first mistake: the problems after a wrong indentation mostly repeat the same mistake
 */
export function readYaml(file: string): YamlFile {
  return yamlOf(readText(file), file)
}

/**
 * Reads the text of a document, as `readYaml` does.
 * @param file name of the document in mistakes
 * @throws DocumentError as `readYaml`
 */
export function yamlOf(text: string, file: string): YamlFile {
  const lineCounter = new LineCounter()
  const document = parseDocument(text, {
    lineCounter,
    schema: 'core',
    stringKeys: true,
    resolveKnownTags: false,
  })
  const placeOf = (offset: number) => {
    const { line, col } = lineCounter.linePos(offset)
    return { line, column: col }
  }
  // Warnings are unknown tags, whose values would silently become text.
  const [problem] = [...document.errors, ...document.warnings].toSorted((a, b) => a.pos[0] - b.pos[0])
  if (problem !== undefined)
    throw new DocumentError([{ file, ...placeOf(problem.pos[0]), message: sentenceOf(problem) }])
  try {
    visit(document, {
      Alias(_key, { source, range }) {
        const message = `The alias *${source} cannot be used: write the value again.`
        throw new DocumentError([{ file, ...placeOf(range?.[0] ?? 0), message }])
      },
    })
    const value: Json = document.toJS({ maxAliasCount: 0 })
    canonicalize(value)
    return { file, value, positionOf }
  } catch (error) {
    if (error instanceof DocumentError) throw error
    throw new DocumentError([{ file, message: `${String(error)}.` }])
  }

  function positionOf(
    path: readonly (string | number)[],
    at?: number,
  ): { line: number; column: number } | undefined {
    const node = document.getIn(path, true)
    if (at !== undefined && isScalar(node) && typeof node.value === 'string' && node.range)
      return placeOf(offsetIn(text, { start: node.range[0], end: node.range[1], value: node.value, at }))
    const holder = path.length === 0 ? undefined : document.getIn(path.slice(0, -1), true)
    const pair = isMap(holder)
      ? holder.items.find(({ key }) => isScalar(key) && key.value === path.at(-1))
      : undefined
    const named = pair?.key ?? node
    return isNode(named) && named.range ? placeOf(named.range[0]) : undefined
  }
}

/**
 * The position of a character of a text in its file: lines may be folded, and the text may be in quotes. If the text has escapes, the position
 * of its start.
 */
function offsetIn(
  source: string,
  { start, end, value, at }: { start: number; end: number; value: string; at: number },
): number {
  const isBlock = source[start] === '|' || source[start] === '>'
  const isQuoted = source[start] === "'" || source[start] === '"'
  let offset = isBlock ? source.indexOf('\n', start) + 1 : isQuoted ? start + 1 : start
  const skipSpace = () => {
    while (offset < end && /\s/.test(source[offset] ?? '')) offset++
  }
  if (isBlock) skipSpace()
  for (const letter of value.slice(0, at)) {
    if (/\s/.test(letter)) skipSpace()
    else if (source.startsWith(letter, offset))
      offset += letter === "'" && source[start] === "'" ? 2 : letter.length
    else return start
  }
  return Math.min(offset, Math.max(start, end - 1))
}

/** The most frequent causes of the library's errors. */
const MEANINGS: Readonly<Record<string, string>> = {
  BAD_INDENT: 'The indentation does not fit the lines around it.',
  MISSING_CHAR: 'The indentation does not fit the lines around it.',
  BLOCK_AS_IMPLICIT_KEY:
    'The indentation does not fit, or a text that contains ": " does not stand in quotes.',
  MULTIPLE_DOCS: 'The file must hold one document, and --- begins another.',
  TAB_AS_INDENT: 'Tabs cannot indent a line.',
  RESOURCE_EXHAUSTION: 'It is nested too deeply.',
  UNEXPECTED_TOKEN: 'A text that begins with a quote must stand in quotes as a whole.',
}

function sentenceOf({ code, message }: YAMLError): string {
  const [first = ''] = message.replace(/ at line \d+, column \d+:?\n[^]*/, '').split('\n')
  const tag = /^Unresolved tag: (.*)$/.exec(first)?.[1]
  if (tag !== undefined && !tag.startsWith('tag:') && tag.length > 1)
    return `A text that begins with ! must stand in quotes (${tag} is read as a tag).`
  return MEANINGS[code] ?? `${first}.`
}

function readText(file: string): string {
  try {
    const { size } = statSync(file)
    if (size > FILE_BYTES_MAX) throw new Error(`${size} bytes are more than ${FILE_BYTES_MAX}`)
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    throw new DocumentError([{ file, message: `Cannot be read: ${errorText(error)}.` }])
  }
}
