// The arguments of a call are held to the tool's schema before anything is asked for: a human must not sign what the server can only refuse, and a
// server that refuses it after the release leaves a doubt.
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
 * @returns a function that throws BadArguments, naming the members, where arguments are not what the tool takes. A tool that is not pinned in these
 *   words is the policy's to refuse: its schema is a stranger's, and is not run
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

  /** @returns undefined for a schema that cannot be run, such as one of another dialect: then the server alone checks */
  function compiled(schema: Tool['inputSchema']): Check | undefined {
    try {
      return validator.getValidator(schema as JsonSchemaType)
    } catch {
      return undefined
    }
  }
}
