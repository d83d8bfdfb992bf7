// The content of tool results, as people and records read it.
import type { CallToolResult } from '@modelcontextprotocol/client'

const TEXT_CHARACTERS_MAX = 500

/** The texts of a result, shortened to a sentence or two. */
export function textIn({ content }: CallToolResult): string {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(' ')
  if (text === '') return 'an error without words'
  return text.length > TEXT_CHARACTERS_MAX ? `${text.slice(0, TEXT_CHARACTERS_MAX)}…` : text
}

/** Whether a value in evidence is a complete result. */
export function isResult(value: unknown): value is CallToolResult {
  return typeof value === 'object' && value !== null && 'content' in value && Array.isArray(value.content)
}
