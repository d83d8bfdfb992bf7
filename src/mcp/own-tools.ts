// The two tools that a gateway has itself, beside those of the server behind it.
import type { Tool } from './tools.ts'

const names = ['countersign_result', 'countersign_verify'] as const
export type OwnToolName = (typeof names)[number]

const inputSchema: Tool['inputSchema'] = {
  type: 'object',
  properties: {
    id: {
      type: 'string',
      format: 'uuid',
      description: 'The transaction id that the call was answered with.',
    },
  },
  required: ['id'],
  additionalProperties: false,
}
const annotations = { readOnlyHint: true, openWorldHint: false }

export const ownTools: readonly Tool[] = [
  {
    name: 'countersign_result',
    description:
      'Returns the outcome of a tool call that waits for a human, is running, or whose outcome was not known. It waits up to 45 seconds.',
    inputSchema,
    annotations,
  },
  {
    name: 'countersign_verify',
    description:
      'Checks the signed record and the receipt of a completed tool call with the published keys, and returns its ids and each check. Without an id it is the last call that was completed.',
    // Optional: a model sees the id of a call that waits, but a client need not show it the id of a completed call.
    inputSchema: { ...inputSchema, required: [] },
    annotations,
  },
]

export const ownToolNames: readonly string[] = names

export const isOwnTool = (name: string): name is OwnToolName => ownToolNames.includes(name)
