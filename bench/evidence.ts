// These must be true before a figure is printed: every answer is stored, and a sample of it verifies offline, with the published
// keys and the code that any reader uses (src/formats/verifier, an implementation other than the service's).
import type { Client } from 'pg'
import { verifyEvidence } from '../src/formats/verifier/index.ts'
import { call, type Target } from './calls.ts'
import { sum } from './figures.ts'
import type { Replies } from './load.ts'
import type { RequestKind } from './request.ts'

/** The tables that requests of the bench write to. */
const TABLES = [
  'business_transactions',
  'execution_intents',
  'trust_records',
  'verifications',
  'receipts',
  'refusal_records',
] as const

/** And those that only some of them write to. */
function tablesOf(kinds: readonly RequestKind[]): string[] {
  return [...new Set([...TABLES, ...kinds.flatMap(({ stores = {} }) => Object.keys(stores))])]
}

type Rows = Readonly<Record<string, number>>

export async function countRows(database: Client, kinds: readonly RequestKind[]): Promise<Rows> {
  const counts = tablesOf(kinds).map((table) => `(SELECT count(*)::integer FROM ${table}) AS ${table}`)
  const finalized = `(SELECT count(*)::integer FROM execution_intents WHERE state = 'FINALIZED') AS finalized`
  const { rows } = await database.query<Rows>(`SELECT ${[...counts, finalized].join(', ')}`)
  return rows[0] ?? {}
}

/** @returns every table that has grown by another number of rows than the acknowledged replies say */
export function miscounted(
  { from, to }: { from: Rows; to: Rows },
  kinds: readonly RequestKind[],
  runs: readonly Replies[],
): string[] {
  const answered = (name: string, status: number) => sum(runs.map((replies) => replies[name]?.[status] ?? 0))
  const must: Record<string, number> = {}
  for (const { name, status, stores = {} } of kinds)
    for (const [table, rows] of Object.entries(stores))
      must[table] = (must[table] ?? 0) + rows * answered(name, status)
  // An intent that is not finalized is in doubt.
  must['finalized'] = must['execution_intents'] ?? 0
  return [...tablesOf(kinds), 'finalized'].flatMap((table) => {
    const grown = (to[table] ?? 0) - (from[table] ?? 0)
    const expected = must[table] ?? 0
    const what = table === 'finalized' ? 'intents were finalized' : `rows were stored in ${table}`
    return grown === expected ? [] : [`${grown} ${what}, but the acknowledged replies make ${expected}`]
  })
}

const ROUTES = { 'trust-record': 'GET /trust-records/{id}', 'refusal-record': 'GET /refusal/{id}' } as const

/**
 * Fetches evidence by its id and verifies it with what GET /.well-known/jwks.json publishes.
 *
 * @param sample with the key of who may read it, where that is not the subject's
 * @returns how many pieces were looked at, each record with its receipt
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
    problems.push(...found.map((problem) => `${evidence} ${id}: ${problem}`))
  }
  return { verified: sample.length, problems }
}

/** @returns what does not hold of one piece of evidence */
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
