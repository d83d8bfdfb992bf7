// A policy document in a request body, compiled or refused with what is wrong with it (decisions §6).
import { isObject } from '../json/body.ts'
import { failures, type Failure } from '../errors.ts'
import { compilePolicy, type Compiled } from './check.ts'
import { PolicyError } from './error.ts'

/** A document of 100 KB can hold thousands. */
const MISTAKES_SHOWN_MAX = 20

/**
 * Compiles a policy that a request carries.
 * @param name the body's member that holds the policy
 * @returns the policy, or a 400 with a line for each mistake
 */
export function compiledOr400(document: unknown, name: string): Compiled | Failure {
  if (!isObject(document)) return failures.invalidField(`${name} must be a policy document.`)
  try {
    return compilePolicy(document, name)
  } catch (error) {
    if (!(error instanceof PolicyError)) throw error
    const lines = error.message.split('\n')
    const hidden = lines.length - MISTAKES_SHOWN_MAX
    const more = hidden > 0 ? [`and ${hidden} more mistakes.`] : []
    return failures.invalidField([...lines.slice(0, MISTAKES_SHOWN_MAX), ...more].join('\n'))
  }
}
