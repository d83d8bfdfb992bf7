// Checks the arguments of a call against the tool's schema before a human is asked: a human must not sign a call that the server can only refuse, and
// a refusal after the release leaves the execution in doubt.
import type { JsonSchemaType } from '@modelcontextprotocol/server'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/server/validators/ajv'
import type { Json } from '../formats/json/canonical.ts'
import { cut } from '../formats/text/text.ts'
import type { Lock } from './lock.ts'
import { BadArguments, type Tool } from './tools.ts'

const PROBLEM_CHARACTERS_MAX = 500

type Arguments = { readonly [name: string]: Json }
type Check = ReturnType<AjvJsonSchemaValidator['getValidator']>

/**
 * @returns a function that throws BadArguments, naming the members, where arguments do not match the tool's schema. It skips a tool whose hash is not
 *   pinned: the policy refuses that tool, and its untrusted schema must not run
 */
export function openArgumentsCheck({ tools }: Lock) {
  const validator = new AjvJsonSchemaValidator()
  const checks = new Map<string, Check | undefined>()

  return ({ tool, toolHash }: { readonly tool: Tool; readonly toolHash: string }, args: Arguments): void => {
    const { name, inputSchema } = tool
    if (!Object.hasOwn(tools, name) || tools[name]?.toolHash !== toolHash) return
    if (!checks.has(toolHash)) checks.set(toolHash, compiled(inputSchema))
    const problem = checks.get(toolHash)?.(args).errorMessage
    if (problem === undefined) return
    const said = cut(problem.replaceAll(/(?<=^|, )data\b/g, 'arguments'), PROBLEM_CHARACTERS_MAX)
    throw new BadArguments(`the tool ${name} does not take these arguments: ${said}.`)
  }

  /** @returns undefined for a schema that cannot be compiled, such as a schema of another dialect: then only the server checks */
  function compiled(schema: Tool['inputSchema']): Check | undefined {
    try {
      return validator.getValidator(schema as JsonSchemaType)
    } catch {
      return undefined
    }
  }
}
