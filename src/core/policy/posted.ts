// A policy document in a request body, compiled or refused with what is wrong with it (decisions §6).
import { mistakesAs400 } from '../cel/mistakes.ts'
import { isObject } from '../../formats/json/fields.ts'
import { failures, type Failure } from '../errors/errors.ts'
import { compilePolicy, type Compiled } from './check.ts'

/**
 * Compiles a policy that a request carries.
 * @param name the body's member that holds the policy
 * @returns the policy, or a 400 with a line for each mistake
 */
export function compiledOr400(document: unknown, name: string): Compiled | Failure {
  if (!isObject(document)) return failures.invalidField(`${name} must be a policy document.`)
  return mistakesAs400(() => compilePolicy(document, name))
}
