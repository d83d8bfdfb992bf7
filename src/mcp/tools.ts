// The tools of an upstream server, and the hash that identifies them: a tool whose description or schema changes is another tool.
import { createHash } from 'node:crypto'
import type { Tool } from '@modelcontextprotocol/client'
import { canonicalize, type Json } from '../formats/json/canonical.ts'

export type { Tool }

/** Longer arguments are refused before anything is sent to the service, which accepts bodies of 100 KiB. */
const ARGUMENTS_BYTES_MAX = 64 * 1024

/** The arguments of a call that cannot be hashed and sent as they are. */
export class BadArguments extends Error {
  override readonly name = 'BadArguments'
}

/** The members of a tool that a model may read. A title, icons and `_meta` are not hashed, so they are not shown either. */
export function shownOf({ name, description, inputSchema, outputSchema, annotations }: Tool): Tool {
  return {
    name,
    inputSchema,
    ...(description !== undefined && { description }),
    ...(outputSchema !== undefined && { outputSchema }),
    ...(annotations !== undefined && { annotations }),
  }
}

/**
 * The hash of everything that a model reads of a tool.
 * @returns SHA-256 in lowercase hex of the RFC 8785 text of name, description, inputSchema, outputSchema and annotations
 */
export const toolHash = (tool: Tool) => sha256Hex(canonicalize(shownOf(tool) as unknown as Json))

/** Whether the server says that the tool changes nothing. This counts only where humans approve the policy that says the same. */
export const isReadOnly = ({ annotations }: Tool) => annotations?.readOnlyHint === true

/**
 * The arguments as they are hashed, approved and sent upstream.
 * @returns the same value in canonical order
 * @throws BadArguments with a sentence that names the member
 */
export function canonicalArguments(given: unknown): { readonly [name: string]: Json } {
  assertExact(given, 'arguments')
  let text
  try {
    text = canonicalize((given ?? {}) as Json)
  } catch (error) {
    throw new BadArguments(`arguments have no canonical form: ${(error as Error).message}.`)
  }
  const bytes = Buffer.byteLength(text)
  if (bytes > ARGUMENTS_BYTES_MAX)
    throw new BadArguments(`arguments have ${bytes} bytes, and ${ARGUMENTS_BYTES_MAX} are possible.`)
  return JSON.parse(text) as { readonly [name: string]: Json }
}

/** Refuses integers beyond 2^53 - 1: parsing may have changed them, and the tool would get a value that the client did not send. */
function assertExact(value: unknown, path: string): void {
  if (typeof value === 'number' && Math.abs(value) > Number.MAX_SAFE_INTEGER)
    throw new BadArguments(`${path} is beyond 2^53 - 1: send it as a string.`)
  if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) assertExact(member, `${path}.${name}`)
}

export const sha256Hex = (text: string) => createHash('sha256').update(text).digest('hex')
