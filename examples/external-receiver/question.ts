// The journal knows what became of a release: the answer to the service's question about an execution in doubt.
import type { IncomingMessage } from 'node:http'
import type { Journal } from './journal.ts'
import { verifyQuestion, type VerifyWith } from './release.ts'

/**
 * Answers `GET ?authorizationId=…`. A 404 says that nothing was done and nothing will be: once a release has expired, nobody can have it
 * carried out. Until then the service takes a 404 for "not yet".
 */
export function answerQuestion(
  { headers }: Pick<IncomingMessage, 'headers'>,
  { journal, ...given }: VerifyWith & { readonly journal: Journal },
): { status: number; body: unknown } {
  const header = headers['countersign-question']
  const verified = verifyQuestion(Array.isArray(header) ? undefined : header, given)
  if ('refused' in verified) return { status: verified.status, body: { error: verified.refused } }
  const { businessTransactionId, authorizationId, capability } = verified.question
  const found = journal.find(authorizationId)
  if (found === undefined)
    return { status: 404, body: { businessTransactionId, capability, error: 'Never taken.' } }
  if (found.answer !== undefined) return { status: 200, body: found.answer }
  return { status: 503, body: { error: 'It was begun, and its outcome is unknown.' } }
}
