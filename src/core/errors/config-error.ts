// Mistakes of a configuration, and the sentences about them.
import type { TSchema } from 'typebox'

/** Every mistake of a configuration at once, each a sentence that begins with the variable's name. */
export class ConfigError extends Error {
  readonly problems: readonly string[]
  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** Describes the valid values of a name. */
export function describe(
  { properties }: { properties: Readonly<Record<string, TSchema>> },
  name: string,
): string {
  const property = properties[name]
  return property !== undefined && 'description' in property ? String(property.description) : 'text'
}
