// The checks of an Execution Trust Record (decisions §4 "Verification"), from its text alone. Browser-safe: hashing and
// signatures are arguments. The server runs the same checks on what it is about to store.
import { canonicalize } from '../canonical.ts'
import type { Json } from '../canonical.ts'

export interface Check {
  readonly name: string
  /** Undefined: it holds. Otherwise the sentence that says what does not. */
  readonly problem: string | undefined
}

/** One signature as the artifacts carry it. */
export interface CarriedSignature {
  readonly algorithm: string
  readonly keyId: string
  readonly value: string
}

/** The cryptography that the checks stand on. Keys come from what was published, never from the evidence. */
export interface Crypto {
  readonly sha256Hex: (text: string) => string
  readonly verifySignature: (
    artifact: 'trust-record' | 'execution-authorization',
    canonicalText: string,
    signature: CarriedSignature,
  ) => boolean
}

type Members = { readonly [name: string]: Json }

/**
 * Every check of a record, each with its outcome; never throws: evidence that cannot be read fails the check that reads it.
 * in   evidence  the parsed record, with trustRecordHash and signature beside the signed members; or whatever was sent as one
 */
export function checkTrustRecord(evidence: Json, crypto: Crypto): Check[] {
  const record = isMembers(evidence) ? evidence : {}
  const signed = canonicalText(signedMembers(record))
  return [
    check('canonical hash', 'The trust record hash does not match the canonical record', () => {
      return signed !== undefined && crypto.sha256Hex(signed) === record['trustRecordHash']
    }),
    check('record signature', 'The trust record signature is not valid', () => {
      if (signed === undefined) return false
      return requiredSignatures(record).every((one) => crypto.verifySignature('trust-record', signed, one))
    }),
    check('authorization signature', 'The execution authorization signature is not valid', () => {
      const { payload, keyId, algorithm, signature } = members(record['authorization'])
      const carried = { algorithm: string(algorithm), keyId: string(keyId), value: string(signature) }
      // Authorizations are always Ed25519 (decisions §4), whatever else is published.
      if (carried.algorithm !== 'ed25519') return false
      return crypto.verifySignature('execution-authorization', canonicalize(payload ?? null), carried)
    }),
    check('transaction binding', 'The execution authorization is not bound to this transaction', () =>
      boundToTransaction(record, crypto),
    ),
    check('decision binding', 'The execution authorization is not bound to this decision', () =>
      boundToDecision(record),
    ),
    // No verifier of state exists yet: a record that claims to have been verified by one claims what nothing here can check.
    check('approvals', 'The verified signals cannot be verified', () =>
      list(record['executions']).every(
        (execution) =>
          Object.keys(members(members(members(execution)['decision'])['verifiedSignals'])).length === 0,
      ),
    ),
  ]
}

/** Undefined for evidence that has no canonical form: no hash and no signature is of that. */
function canonicalText(value: Json): string | undefined {
  try {
    return canonicalize(value)
  } catch {
    return undefined
  }
}

/** The members that trustRecordHash and the signature cover (decisions §4 "Hash"). */
function signedMembers(record: Members): Members {
  const names = [
    'trustRecordId',
    'businessTransactionId',
    'transaction',
    'authorization',
    'executions',
    'overrides',
    'createdAt',
  ]
  if ('requiredAlgorithms' in record) names.push('requiredAlgorithms')
  return Object.fromEntries(names.map((name) => [name, record[name] as Json]))
}

/** The signatures that must all hold: the one, or exactly one for each required algorithm of a hybrid record. */
function requiredSignatures(record: Members): CarriedSignature[] {
  const first = carriedSignature(record['signature'])
  if (!('requiredAlgorithms' in record)) {
    if ('signatures' in record) throw new Error('signatures that the record does not require')
    return [first]
  }
  const required = list(record['requiredAlgorithms']).map(string)
  const carried = list(record['signatures']).map(carriedSignature)
  const complete =
    required.length > 1 &&
    new Set(required).size === required.length &&
    carried.length === required.length &&
    carried.every((one, i) => one.algorithm === required[i])
  if (!complete) throw new Error('a required signature is missing')
  // `signature` repeats the first of them, for readers that know one algorithm only: it must not be another one.
  if (
    first.algorithm !== carried[0]?.algorithm ||
    first.keyId !== carried[0].keyId ||
    first.value !== carried[0].value
  ) {
    throw new Error('signature is not the first of signatures')
  }
  return carried
}

function boundToTransaction(record: Members, crypto: Crypto): boolean {
  const transaction = members(record['transaction'])
  const intent = members(transaction['intent'])
  const { action, target, parameters } = intent
  const payload = members(members(record['authorization'])['payload'])
  const id = record['businessTransactionId'] as Json
  const bound = canonicalize({
    businessTransactionId: id,
    action: action as Json,
    target: target as Json,
    parameters: parameters as Json,
  })
  return (
    transaction['businessTransactionId'] === id &&
    payload['businessTransactionId'] === id &&
    payload['businessTransactionHash'] === crypto.sha256Hex(bound) &&
    payload['signalsHash'] === crypto.sha256Hex(canonicalize(transaction['signals'] as Json)) &&
    payload['callerId'] === members(transaction['metadata'])['submittedBy'] &&
    list(record['executions'])
      .map(members)
      .every((execution) => {
        const evidence = members(execution['evidence'])
        const shown = {
          businessTransactionId: evidence['businessTransactionId'] as Json,
          action: evidence['action'] as Json,
          target: evidence['target'] as Json,
          parameters: evidence['parameters'] as Json,
        }
        return execution['businessTransactionId'] === id && canonicalize(shown) === bound
      })
  )
}

function boundToDecision(record: Members): boolean {
  const payload = members(members(record['authorization'])['payload'])
  const transaction = members(record['transaction'])
  const executions = list(record['executions']).map(members)
  return (
    executions.length > 0 &&
    executions.every((execution) => {
      const decision = members(execution['decision'])
      const policy = members(decision['policy'])
      return (
        decision['outcome'] === 'APPROVED' &&
        decision['decisionId'] === payload['decisionId'] &&
        decision['policyContentHash'] === payload['policyContentHash'] &&
        policy['name'] === payload['policyName'] &&
        policy['version'] === payload['policyVersion'] &&
        decision['intentId'] === members(transaction['intent'])['intentId'] &&
        canonicalize(policy) === canonicalize(transaction['policy'] as Json) &&
        canonicalize(decision['signals'] as Json) === canonicalize(transaction['signals'] as Json) &&
        members(execution['metadata'])['authorizationId'] === payload['authorizationId']
      )
    })
  )
}

function check(name: string, problem: string, holds: () => boolean): Check {
  try {
    return { name, problem: holds() ? undefined : problem }
  } catch (error) {
    return { name, problem: `${problem} (${error instanceof Error ? error.message : 'unreadable'})` }
  }
}

function carriedSignature(value: Json | undefined): CarriedSignature {
  const { algorithm, keyId, value: bytes } = members(value)
  return { algorithm: string(algorithm), keyId: string(keyId), value: string(bytes) }
}

function members(value: Json | undefined): Members {
  if (!isMembers(value)) throw new Error('an object is missing')
  return value
}

function isMembers(value: Json | undefined): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function list(value: Json | undefined): readonly Json[] {
  if (!Array.isArray(value)) throw new Error('a list is missing')
  return value as readonly Json[]
}

function string(value: Json | undefined): string {
  if (typeof value !== 'string') throw new Error('a string is missing')
  return value
}
