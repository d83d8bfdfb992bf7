// What is wrong with documents that hold expressions (policies, webhook rules): every mistake of every file at once, so that an author
// fixes them in one go (decisions §6).
import { failures, type Failure } from '../errors.ts'

export interface DocumentMistake {
  readonly file: string
  /** Where in the file, counted from 1. */
  readonly line?: number
  /** The rule's id where the mistake stands in a rule. */
  readonly rule?: string
  /** Which of the rule's expressions, where it has several. */
  readonly part?: string
  /** Where in the expression, counted from 1. */
  readonly column?: number
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

function lineOf({ file, line, rule, part, column, message }: DocumentMistake): string {
  const place = [file, line && `line ${line}`, rule && `rule ${rule}`, part, column && `column ${column}`]
  return `${place.filter(Boolean).join(', ')}: ${message}`
}

/** A document of 100 KB can hold thousands. */
const MISTAKES_SHOWN_MAX = 20

/**
 * Runs what compiles a document that a request carries.
 * @returns what it returns, or a 400 with a line for each mistake
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
