// The parts of the schemas of the configuration, and the sentences about mistakes in it.
import { Type, type TSchema } from 'typebox'

/** Every mistake of a configuration at once, each a sentence that begins with the variable's name. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** A text of this pattern; the description ends the sentence "NAME must be …". */
export const text = (pattern: string, description: string) => Type.String({ pattern, description })

export const oneOf = <const Values extends string[]>(...values: Values) =>
  Type.Enum<Values>([...values], { description: `one of: ${values.join(' | ')}` })

export const wholeNumber = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` })

/** No upper bound (decisions §1); what a double can count is the only one. */
export const rate = () => Type.Integer({ minimum: 1, description: 'a whole number, 1 or more' })

/** Describes what a value of this name must be. */
export function describe(
  { properties }: { properties: Readonly<Record<string, TSchema>> },
  name: string,
): string {
  const property = properties[name]
  return property !== undefined && 'description' in property ? String(property.description) : 'text'
}
