// The evidence of a call, checked in this process with the published keys of the service and of its approvers.
import type { CallToolResult } from '@modelcontextprotocol/server'
import { verifyEvidence, type Verdict } from '../formats/verifier/index.ts'

const VERDICTS: Readonly<Record<Verdict, string>> = {
  valid: 'The record is valid.',
  invalid: 'The record is not valid: show this to a human.',
  unchecked: 'Nothing is wrong with the record as far as it could be checked, which is not all of it.',
}

/**
 * What the offline verifier says of a record, a line for each check.
 * @param keySets the service's answers of GET /.well-known/jwks.json and GET /.well-known/approver-keys.json
 */
export function verifiedReply(record: object, keySets: readonly unknown[]): CallToolResult {
  const { verdict, checks } = verifyEvidence(JSON.stringify(record), keySets)
  const lines = checks.map(({ name, problem }) =>
    problem === undefined ? `holds: ${name}` : `${name}: ${problem}`,
  )
  return {
    content: [{ type: 'text', text: [VERDICTS[verdict], ...lines].join('\n') }],
    isError: verdict === 'invalid',
  }
}
