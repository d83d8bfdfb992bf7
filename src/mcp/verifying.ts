// The evidence of a call, checked in this process with the published keys of the service and of its approvers.
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Schemas } from '../../clients/typescript/src/index.ts'
import { verifyEvidence, type Verdict } from '../formats/verifier/index.ts'

type TrustRecord = Schemas['ExecutionTrustRecord']

const VERDICTS: Readonly<Record<Verdict, string>> = {
  valid: 'The record is valid.',
  invalid: 'The record is not valid: show this to a human.',
  unchecked: 'No check failed, but a part of the record could not be checked.',
}

/**
 * The offline verifier's report on a record: its ids, and a line for each check.
 * @param keySets the service's answers of GET /.well-known/jwks.json and GET /.well-known/approver-keys.json
 */
export function verifiedReply(record: TrustRecord, keySets: readonly unknown[]): CallToolResult {
  const { verdict, checks } = verifyEvidence(JSON.stringify(record), keySets)
  const lines = checks.map(({ name, problem }) =>
    problem === undefined ? `holds: ${name}` : `${name}: ${problem}`,
  )
  const ids = [
    `transaction: ${record.businessTransactionId}`,
    ...record.receipts.map(({ receiptId }) => `receipt: ${receiptId}`),
  ]
  return {
    content: [{ type: 'text', text: [VERDICTS[verdict], ...ids, ...lines].join('\n') }],
    isError: verdict === 'invalid',
  }
}
