// The bench executes a transaction with places for its ids (bench/request.ts), by default a transaction that `sandbox-echo` 1.0.0
// approves.
import { readFileSync } from 'node:fs'
import { errorText } from '../src/formats/text/error-text.ts'

/** The caller's own transaction, for a deployment that has no sandbox or is to be measured with its real work. */
export interface TransactionOptions {
  readonly action?: string | undefined
  readonly target?: string | undefined
  readonly policy?: string | undefined
  readonly policyVersion?: string | undefined
  readonly parameters?: object | undefined
  readonly signals?: object | undefined
  readonly principal?: string | undefined
  /** Whole transactions; the values of the other options replace those in the file. */
  readonly transaction?: TransactionFile | undefined
}

interface TransactionFile {
  readonly file: string
  /** At least one. */
  readonly transactions: readonly Members[]
}

type Members = Readonly<Record<string, unknown>>

/** @returns a body for each transaction of the file, or the body that the options make */
export function transactionBodies(options: TransactionOptions): string[] {
  return (options.transaction?.transactions ?? [{}]).map((given) => transactionBody(options, given))
}

/** @returns JSON with places; ids and times are new for each request, everything else is as given */
export function transactionBody(options: TransactionOptions, given: Members = {}): string {
  const of = (name: string) => (given[name] ?? {}) as Members
  const { action, target, policy, policyVersion, parameters, signals, principal } = options
  return JSON.stringify({
    ...given,
    businessTransactionId: '{{0}}',
    metadata: {
      sourceSystem: 'bench',
      submittedBy: 'bench',
      ...of('metadata'),
      businessTransactionId: '{{0}}',
      correlationId: '{{3}}',
      submittedAt: '{{now}}',
    },
    authority: {
      authorityType: 'SERVICE',
      principalId: '{{principal}}',
      displayName: 'Bench',
      ...of('authority'),
      ...named({ principalId: principal }),
      authorityId: '{{1}}',
      issuedAt: '{{now}}',
    },
    authorization: {
      purpose: 'measurement',
      ...of('authorization'),
      authorizationId: '{{2}}',
      authorityId: '{{1}}',
      issuedAt: '{{now}}',
    },
    intent: {
      action: 'sandbox:echo',
      target: 'bench',
      parameters: { amount: 42, currency: 'EUR', reference: 'bench-0001' },
      ...of('intent'),
      ...named({ action, target, parameters }),
      intentId: '{{4}}',
      authorizationId: '{{2}}',
      createdAt: '{{now}}',
    },
    policy: {
      name: 'sandbox-echo',
      version: '1.0.0',
      schemaVersion: '1.0.0',
      ...of('policy'),
      ...named({ name: policy, version: policyVersion }),
    },
    signals: signals ?? given['signals'] ?? { approved: true, amount: 42 },
  })
}

/**
 * @returns the caller's own transaction for the constants of a report, without the principal, which the bench may have filled in;
 *   undefined where it is the sandbox's, whose answers the bench knows
 */
export function ownTransaction(options: TransactionOptions): string | undefined {
  const { transaction, action, target, policy, policyVersion, parameters, signals } = options
  const file = transaction && `${transaction.file}, ${transaction.transactions.length} in turn`
  const isSandbox = [file, action, policy, parameters, signals].every((option) => option === undefined)
  const given = { file, action, target, policy, policyVersion, parameters, signals }
  return isSandbox ? undefined : `the caller's own, ${JSON.stringify(given)}`
}

function named(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/**
 * @param file with one transaction, a JSON array of them, or one on each line
 * @throws Error with a sentence
 */
export function readTransactions(file: string): TransactionFile {
  const text = readFileSync(file, 'utf8')
  const transactions = parsed(text)
  const wrong = transactions.findIndex(
    (value) => typeof value !== 'object' || value === null || Array.isArray(value),
  )
  if (transactions.length === 0) throw new Error('it holds no transaction')
  if (wrong >= 0) throw new Error(`transaction ${wrong + 1} is no JSON object`)
  return { file, transactions: transactions as Members[] }
}

function parsed(text: string): unknown[] {
  try {
    return [JSON.parse(text)].flat()
  } catch (error) {
    const lines = text.split('\n').filter((line) => line.trim() !== '')
    if (lines.length < 2) throw error
    return lines.map((line, i) => {
      try {
        return JSON.parse(line)
      } catch (lineError) {
        const both = `as a whole, ${errorText(error)}; nor line by line, line ${i + 1}: ${errorText(lineError)}`
        throw new Error(`it is no JSON: ${both}`, { cause: lineError })
      }
    })
  }
}
