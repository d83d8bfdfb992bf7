// Checks of answered requests before a figure is printed, besides their number (bench/left.ts): a sample of the evidence verifies
// offline, with the published keys and the code that any reader uses (src/formats/verifier, an implementation other than the service's),
// and its executions are closed.
import { verifyEvidence } from '../src/formats/verifier/index.ts'
import { call, type Target } from './calls.ts'

const ROUTES = { 'trust-record': 'GET /trust-records/{id}', 'refusal-record': 'GET /refusal/{id}' } as const

/**
 * Fetches evidence by its id and verifies it with what GET /.well-known/jwks.json publishes.
 *
 * @param sample ids with the key that may read them, where it is not the subject's
 * @returns how many pieces were checked, each record with its receipt
 */
export async function checkSample(
  subject: Target,
  sample: readonly { readonly id: string; readonly evidence: keyof typeof ROUTES; readonly key?: string }[],
): Promise<{ verified: number; problems: string[] }> {
  const { status, text: keys } = await call(subject, 'GET /.well-known/jwks.json', { expect: 'any' })
  if (status !== 200) return { verified: 0, problems: [`the published keys answered ${status}: ${keys}`] }
  const problems: string[] = []
  for (const { id, evidence, ...of } of sample) {
    const reply = await call(subject, ROUTES[evidence], { params: { id }, expect: 'any', ...of })
    const found =
      reply.status === 200
        ? checkEvidence({ id, evidence, text: reply.text }, keys)
        : [`answered ${reply.status}`]
    if (evidence === 'trust-record') found.push(...(await notFinalized(subject, { id, ...of })))
    problems.push(...found.map((problem) => `${evidence} ${id}: ${problem}`))
  }
  return { verified: sample.length, problems }
}

/** @returns the service's answer for an execution that is not closed by its evidence */
async function notFinalized(subject: Target, { id, ...of }: { id: string; key?: string }): Promise<string[]> {
  const route = 'GET /execution-intents/{id}'
  const { status, text, json } = await call(subject, route, { params: { id }, expect: 'any', ...of })
  const state = status === 200 ? json()['state'] : text
  return state === 'FINALIZED' ? [] : [`its intent is not FINALIZED: ${status} ${String(state)}`]
}

/** @returns the problems of one piece of evidence */
export function checkEvidence(
  { id, evidence, text }: { id: string; evidence: keyof typeof ROUTES; text: string },
  keys: string,
): string[] {
  try {
    const report = verifyEvidence(text, keys)
    const { businessTransactionId, receipts } = JSON.parse(text) as Record<string, unknown>
    const hasReceipt = evidence === 'refusal-record' || (Array.isArray(receipts) && receipts.length > 0)
    return [
      ...report.checks.flatMap(({ name, problem }) => (problem === undefined ? [] : [`${name}: ${problem}`])),
      ...(businessTransactionId === id ? [] : ['it is for another transaction']),
      ...(hasReceipt ? [] : ['it carries no receipt']),
    ]
  } catch (error) {
    return [String(error)]
  }
}
