// Signed approvals as humans' tools make them (decisions §7), of the record that `approvable` makes.
import { aRecord, CALLER, reissue, time, uuid } from './evidence.ts'
import { put, type Json, type Members } from './edit.ts'
import { canonical, humans, modes, sha256, sign, type Forgery, type Key } from './keys.ts'

export const DECIDED = 'executions.0.decision'
export const PARAMETERS: Members = {
  amount: 42,
  currency: 'EUR',
  text: '42',
  urgent: true,
  invoice: { total: 40, lines: [{ total: 40 }], 'a.b': 1 },
}

/** A record whose decision has no verified signals yet; the principal is another one than the caller. */
export const approvable = put(
  aRecord(
    { name: 'approved', parameters: PARAMETERS, signals: { humanApproved: true, amount: 42 } },
    modes.ed25519,
  ),
  'transaction.authority.principalId',
  'treasury',
)

/** The record with these verified signals, signed anew. */
export function verified(verifiedSignals: Json, record: Members = approvable): Members {
  return reissue(put(record, `${DECIDED}.verifiedSignals`, verifiedSignals), modes.ed25519)
}

/** As `verified`, by approvals of one signal, in evidence of before decisions said who is behind them. */
export function approvedBy(approvals: Json, record?: Members): Members {
  return verified({ humanApproved: { value: true, by: 'approval', approvals } }, record)
}

/** As `approvedBy`, and the decision says who the persons behind the execution are as approvers. */
export function approvedBeside(notCounted: Json, approvals: Json, more: Members = {}): Members {
  return verified({ humanApproved: { value: true, by: 'approval', approvals, notCounted, ...more } })
}

/** Said of evidence that does not. */
export const NAMES_UNKNOWN =
  'It does not say which approver names the caller and the principal have: whether one of them approved it under another name is not known.'

/** @param change replaces members of the payload */
export function anApproval(due: Key = humans.dana, change: Members = {}, forgery?: Forgery): Members {
  const [approverId = '', keyId = ''] = due.keyId.split(':')
  const payload = {
    version: 1,
    approvalId: uuid(`approval by ${approverId}`),
    approverId,
    keyId,
    capability: 'sandbox:echo',
    target: 'invoice-1001',
    scope: { parametersHash: sha256(canonical(PARAMETERS)) },
    issuedAt: time(-60_000),
    expiresAt: time(600_000),
    nonce: sha256(`nonce of ${approverId}`).slice(0, 32),
    ...change,
  }
  const { algorithm, value } = sign('approval', canonical(payload), due, forgery)
  return { payload, algorithm, signature: value }
}

/** An approval within limits. */
export function limited(...limits: Json[]): Members {
  return anApproval(humans.dana, { scope: { limits } })
}

/** Approvals by those who must not: the keys are made and published for these two names. */
export const selfApprovals: readonly [id: string, what: string, approval: Members][] = [
  ['principal', 'The principal in whose name it was asked for approved it.', anApproval(humans.treasury)],
  ['caller', `The caller ${CALLER} approved what it asked for itself.`, anApproval(humans.caller)],
]
