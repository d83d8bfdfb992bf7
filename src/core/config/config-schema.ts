// The parts of the schemas of the configuration.
import { Type } from 'typebox'

/** A text of this pattern; the description ends the sentence "NAME must be …". */
export const text = (pattern: string, description: string) => Type.String({ pattern, description })

export const oneOf = <const Values extends string[]>(...values: Values) =>
  Type.Enum<Values>([...values], { description: `one of: ${values.join(' | ')}` })

export const wholeNumber = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` })

/** No upper bound (decisions §1) except the range of a double. */
export const rate = () => Type.Integer({ minimum: 1, description: 'a whole number, 1 or more' })
