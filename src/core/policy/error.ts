// What is wrong with policy documents: every mistake of every file at once, so that an author fixes them in one go (decisions §6).

export interface PolicyMistake {
  readonly file: string
  /** The rule's id where the mistake stands in a rule. */
  readonly rule?: string
  /** Where in the rule's `when`, counted from 1. */
  readonly column?: number
  /** One sentence. */
  readonly message: string
}

export class PolicyError extends Error {
  readonly mistakes: readonly PolicyMistake[]

  constructor(mistakes: readonly PolicyMistake[]) {
    super(mistakes.map(line).join('\n'))
    this.name = 'PolicyError'
    this.mistakes = mistakes
  }
}

function line({ file, rule, column, message }: PolicyMistake): string {
  const place = [file, rule && `rule ${rule}`, column && `column ${column}`].filter(Boolean).join(', ')
  return `${place}: ${message}`
}
