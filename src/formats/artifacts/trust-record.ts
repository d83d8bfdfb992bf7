// The checks of an Execution Trust Record (decisions §4 "Verification"), from its text alone. Browser-safe: hashing and
// signatures are arguments. The server runs the same checks before it stores a record.
import { canonicalize, type Json } from '../json/canonical.ts'
import { actionText } from '../action-text.ts'
import { checkApprovals } from './approvals.ts'
import { checkCallerAuthentication } from './caller-authentication.ts'
import {
  canonicalText,
  check,
  checkSigned,
  list,
  members,
  string,
  type Check,
  type Crypto,
} from './evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import { isAuthorizationSigned, carriedSignature, requiredSignatures } from './signatures.ts'

/**
 * Every check of a record, each with its outcome; never throws: evidence that cannot be read fails the check that reads it.
 * @param evidence the parsed record, with trustRecordHash and signature beside the signed members; or any other JSON sent as a record
 */
export function checkTrustRecord(evidence: Json, given: Crypto): Check[] {
  const record = isMembers(evidence) ? evidence : {}
  const signed = canonicalText(signedMembers(record))
  return [
    check('canonical hash', 'The trust record hash does not match the canonical record', () => {
      return signed !== undefined && given.sha256Hex(signed) === record['trustRecordHash']
    }),
    checkSigned('record signature', 'The trust record signature is not valid', given, (crypto) => {
      if (signed === undefined) return false
      const carried = requiredSignatures(record, carriedSignature(record['signature']))
      return carried.every((one) => crypto.verifySignature('trust-record', signed, one))
    }),
    checkSigned(
      'authorization signature',
      'The execution authorization signature is not valid',
      given,
      (crypto) => isAuthorizationSigned(members(record['authorization']), crypto),
    ),
    ...checkBindings(record, given),
  ]
}

/**
 * The checks of a record that depend only on its members, not on its bytes.
 * @param record may lack members that none of these checks reads: the overrides, the ids and times of the record, its hash and its signatures
 */
export function checkBindings(record: Members, given: Crypto): Check[] {
  return [
    check('transaction binding', 'The execution authorization is not bound to this transaction', () =>
      boundToTransaction(record, given),
    ),
    ...checkCallerAuthentication(record['authorization']),
    check('decision binding', 'The execution authorization is not bound to this decision', () =>
      boundToDecision(record),
    ),
    checkApprovals(record, given),
  ]
}

/** The members that trustRecordHash and the signature cover (decisions §4 "Hash"). */
function signedMembers(record: Members): Members {
  const names = [
    'authorization',
    'businessTransactionId',
    'createdAt',
    'executions',
    'overrides',
    ...('requiredAlgorithms' in record ? ['requiredAlgorithms'] : []),
    'transaction',
    'trustRecordId',
  ]
  return Object.fromEntries(names.map((name) => [name, record[name] as Json]))
}

function boundToTransaction(record: Members, crypto: Crypto): boolean {
  const transaction = members(record['transaction'])
  const payload = members(members(record['authorization'])['payload'])
  const id = record['businessTransactionId'] as Json
  const bound = actionText(id, members(transaction['intent']))
  return (
    transaction['businessTransactionId'] === id &&
    payload['businessTransactionId'] === id &&
    payload['businessTransactionHash'] === crypto.sha256Hex(bound) &&
    payload['signalsHash'] === crypto.sha256Hex(canonicalize(transaction['signals'] as Json)) &&
    string(payload['callerId']) === members(transaction['metadata'])['submittedBy'] &&
    list(record['executions'])
      .map(members)
      .every((execution) => {
        const evidence = members(execution['evidence'])
        return (
          execution['businessTransactionId'] === id &&
          actionText(evidence['businessTransactionId'], evidence) === bound
        )
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
        string(decision['decisionId']) === payload['decisionId'] &&
        string(decision['policyContentHash']) === payload['policyContentHash'] &&
        string(policy['name']) === payload['policyName'] &&
        string(policy['version']) === payload['policyVersion'] &&
        string(decision['intentId']) === members(transaction['intent'])['intentId'] &&
        canonicalize(policy) === canonicalize(transaction['policy'] as Json) &&
        canonicalize(decision['signals'] as Json) === canonicalize(transaction['signals'] as Json) &&
        string(members(execution['metadata'])['authorizationId']) === payload['authorizationId']
      )
    })
  )
}
