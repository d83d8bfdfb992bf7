// Documents that hold expressions (policies, webhook rules) are searched for every mistake of every file at once, so that an author
// fixes them in one go (decisions §6).
import type { Static, TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { failures, type Failure } from '../errors/errors.ts'
import { isObject } from '../../formats/json/fields.ts'
import { sentenceOf, shapeMistakes, type Path } from './shape.ts'

export interface DocumentMistake {
  readonly file: string
  /** Line in the file, counted from 1. */
  readonly line?: number
  /** Column in that line, or in the expression when no line is known; counted from 1. */
  readonly column?: number
  /** The rule's id if the mistake is in a rule. */
  readonly rule?: string
  /** The one of the rule's expressions, if it has several. */
  readonly part?: string
  /** One sentence. */
  readonly message: string
}

export class DocumentError extends Error {
  readonly mistakes: readonly DocumentMistake[]

  constructor(mistakes: readonly DocumentMistake[]) {
    super(mistakes.map(lineOf).join('\n'))
    this.name = 'DocumentError'
    this.mistakes = mistakes
  }
}

/** A mistake as a person reads it: its place and its message. */
export function lineOf({ file, line, rule, part, column, message }: DocumentMistake): string {
  const columnText = column && `column ${column}`
  const inFile = line ? [`line ${line}`, columnText] : []
  const place = [file, ...inFile, rule && `rule ${rule}`, part, line ? undefined : columnText]
  return `${place.filter(Boolean).join(', ')}: ${message}`
}

/** Finds the line and column, counted from 1, of the key or item at a path, or of a character of its text; undefined without a file. */
export type PositionOf = (
  path: Path,
  at?: number,
) => { readonly line: number; readonly column: number } | undefined

/** A mistake by its place in the document. */
export interface Found {
  /** Keys and indexes. */
  readonly path: Path
  /** Offset into the expression that stands there. */
  readonly at?: number
  readonly part?: string
  readonly message: string
}

/**
 * Adds to each mistake its line in the file and its rule.
 * @param given.document has its rules as `rules`, if it has any
 */
export function placed(
  found: readonly Found[],
  { file, document, positionOf }: { file: string; document: unknown; positionOf: PositionOf },
): DocumentMistake[] {
  return found.map(({ path, at, part, message }) => {
    const rule = ruleAt(document, path)
    return {
      file,
      ...(at === undefined ? {} : { column: at + 1 }),
      ...positionOf(path, at),
      ...(rule === undefined ? {} : { rule }),
      ...(part === undefined ? {} : { part }),
      message,
    }
  })
}

/**
 * @returns a function that checks that a document has the schema's type, or throws DocumentError with every mistake in its shape; a message
 *   about a member of a rule does not repeat the rule
 */
export function documentOf<Schema extends TSchema>(
  schema: Schema,
): (document: unknown, where: { file: string; positionOf: PositionOf }) => Static<Schema> {
  const validator = Compile(schema)
  return (document, where) => {
    if (validator.Check(document)) return document
    const found = shapeMistakes(schema, document).map((mistake) => {
      const inRule = ruleAt(document, mistake.path) !== undefined
      const path = mistake.key === undefined ? mistake.path : [...mistake.path, mistake.key]
      return { path, message: inRule ? sentenceOf(mistake, 2, 'the rule') : sentenceOf(mistake) }
    })
    throw new DocumentError(placed(found, { ...where, document }))
  }
}

/** The id of the rule that a path leads into, or else its number. */
function ruleAt(document: unknown, [first, index]: Path): string | undefined {
  const rules = isObject(document) ? document['rules'] : undefined
  if (first !== 'rules' || typeof index !== 'number' || !Array.isArray(rules)) return undefined
  const rule: unknown = rules[index]
  const id = isObject(rule) ? rule['id'] : undefined
  return typeof id === 'string' ? id : `number ${index + 1}`
}

/** A document of 100 KB can hold thousands of mistakes. */
const MISTAKES_SHOWN_MAX = 20

/**
 * Compiles a document that a request contains.
 * @returns the result of `compile`, or a 400 with a line for each mistake
 */
export function mistakesAs400<T>(compile: () => T): T | Failure {
  try {
    return compile()
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    const lines = error.message.split('\n')
    const hidden = lines.length - MISTAKES_SHOWN_MAX
    const more = hidden > 0 ? [`and ${hidden} more mistakes.`] : []
    return failures.invalidField([...lines.slice(0, MISTAKES_SHOWN_MAX), ...more].join('\n'))
  }
}
