// What the bench executes: a transaction with places for its ids (bench/request.ts), by default one that `sandbox-echo` 1.0.0 approves.
import { readJson } from './outputs.ts'

/** The caller's own transaction, for a deployment that has no sandbox or is to be measured with what it will really do. */
export interface TransactionOptions {
  readonly action?: string | undefined
  readonly target?: string | undefined
  readonly policy?: string | undefined
  readonly policyVersion?: string | undefined
  readonly parameters?: object | undefined
  readonly signals?: object | undefined
  readonly principal?: string | undefined
  /** File with a whole transaction; what the other options name stands in place of what it says. */
  readonly transaction?: string | undefined
}

type Members = Readonly<Record<string, unknown>>

/** @returns JSON with places; ids and times are new for each request, everything else is as given */
export function transactionBody(options: TransactionOptions): string {
  const given = options.transaction === undefined ? {} : readTransaction(options.transaction)
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
      principalId: 'bench',
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
  const { transaction: file, action, target, policy, policyVersion, parameters, signals } = options
  const isSandbox = [file, action, policy, parameters, signals].every((option) => option === undefined)
  const given = { file, action, target, policy, policyVersion, parameters, signals }
  return isSandbox ? undefined : `the caller's own, ${JSON.stringify(given)}`
}

function named(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** @throws Error with a sentence */
function readTransaction(file: string): Members {
  const value = readJson(file)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${file} is no transaction: it must hold a JSON object.`)
  return value as Members
}
