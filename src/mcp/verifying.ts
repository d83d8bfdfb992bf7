// The evidence of a call, checked in this process with the service's published keys.
import type { CallToolResult } from '@modelcontextprotocol/server'
import { verifyEvidence } from '../formats/verifier/index.ts'

/**
 * What the offline verifier says of a record, a line for each check.
 * @param keySet the service's answer of GET /.well-known/jwks.json
 */
export function verifiedReply(record: object, keySet: unknown): CallToolResult {
  const { verdict, valid, checks } = verifyEvidence(JSON.stringify(record), keySet)
  const lines = checks.map(({ name, problem }) =>
    problem === undefined ? `holds: ${name}` : `${name}: ${problem}`,
  )
  return {
    content: [{ type: 'text', text: [`The record is ${verdict}.`, ...lines].join('\n') }],
    isError: !valid,
  }
}
