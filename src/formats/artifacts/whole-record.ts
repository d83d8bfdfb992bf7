// A record as the service returns it and readers save it: its own checks, and those of members appended to it outside its signature
// (interface §2.2: verifications and receipts; confirmations of providers).
import type { Json } from '../json/canonical.ts'
import {
  check,
  checkSigned,
  itemsOf,
  list,
  members,
  mustHold,
  string,
  type Check,
  type CheckCrypto,
  type Crypto,
} from './evidence.ts'
import { isMembers, type Members } from '../json/members.ts'
import { notesOnApprovals } from './approvals.ts'
import { notesOnConfirmation, providerConfirmation, wordOf } from './provider-confirmation.ts'
import { checkReceipt, notesOnReceipt, receipt as receiptKind } from './receipt.ts'
import { authenticationText } from './caller-authentication.ts'
import { checkTrustRecord } from './trust-record.ts'
import type { ArtifactKind } from './kind.ts'
import * as shape from './known-members.ts'
import {
  actionOf,
  approvalsOf,
  approversOf,
  membersAt,
  joined,
  ofIntent,
  policyText,
  reasonsOf,
  textAt,
  type AccountText,
} from './account-text.ts'

/**
 * Checks a record with everything appended to it; never throws.
 * @param evidence the parsed record, or any other JSON that was sent as one
 * @returns at least one check
 */
export function checkWholeRecord(evidence: Json, given: Crypto): Check[] {
  const record = isMembers(evidence) ? evidence : {}
  return [
    ...checkTrustRecord(record, given),
    check('verifications', 'A verification is not one of this record', () => {
      leftOut(record, 'verifications')
      return list(record['verifications'])
        .map(members)
        .every((verification) => isOf(record, verification) && isVerification(verification))
    }),
    checkSigned('receipts', 'A receipt is not a valid one of this record', given, (crypto) => {
      leftOut(record, 'receipts')
      return list(record['receipts'])
        .map(members)
        .every((receipt) => isOf(record, receipt) && isReceipted(record, receipt, crypto))
    }),
    ...(record['confirmations'] === undefined && record['confirmationCount'] === undefined
      ? []
      : [
          checkSigned(
            'confirmations',
            'A confirmation is not a valid one of this record',
            given,
            (crypto) => {
              leftOut(record, 'confirmations')
              return list(record['confirmations'])
                .map(members)
                .every((one) => isConfirmed(record, one, crypto))
            },
          ),
        ]),
  ]
}

function isOf(record: Members, appended: Members): boolean {
  return (
    string(appended['businessTransactionId']) === record['businessTransactionId'] &&
    string(appended['trustRecordHash']) === record['trustRecordHash']
  )
}

function isVerification({ verificationId, status, message, verifiedAt }: Members): boolean {
  return (
    [verificationId, message, verifiedAt].every((member) => typeof member === 'string') &&
    (status === 'VERIFIED' || status === 'FAILED')
  )
}

const COUNTED = {
  verifications: 'verificationCount',
  receipts: 'receiptCount',
  confirmations: 'confirmationCount',
} as const

/** Number of entries that the list of a record leaves out (decisions §12). Throws for a count that is invalid or below the list's length. */
function leftOut(record: Members, name: keyof typeof COUNTED): number {
  const held = list(record[name]).length
  const { [COUNTED[name]]: count = held } = record
  if (!Number.isSafeInteger(count) || (count as number) < held)
    throw new Error(`${COUNTED[name]} is not the number of ${name}`)
  return (count as number) - held
}

/** Throws with the problems of the receipt itself. */
function isReceipted(record: Members, receipt: Members, crypto: CheckCrypto): boolean {
  mustHold(checkReceipt(receipt, crypto))
  const verificationId = string(receipt['verificationId'])
  const named = list(record['verifications'])
    .map(members)
    .filter((one) => one['verificationId'] === verificationId)
  // A shortened list may have left it out. Nothing is lost: verifications are not signed, the receipt is.
  if (named.length === 0) return leftOut(record, 'verifications') > 0
  return named.some(({ status }) => status === 'VERIFIED')
}

/** Throws with the problems of the confirmation itself. */
function isConfirmed(record: Members, confirmation: Members, crypto: CheckCrypto): boolean {
  mustHold(providerConfirmation.evidence.check(confirmation, crypto))
  const named = members(confirmation['confirmation'])['businessTransactionId']
  return named === string(record['businessTransactionId'])
}

/** The note on a shortened list; if the count is missing, a check has failed. */
function cutNote(record: Members, name: keyof typeof COUNTED): string[] {
  const [held, count] = [record[name], record[COUNTED[name]]]
  return Array.isArray(held) && typeof count === 'number' && count > held.length
    ? [`It holds ${held.length} of the ${count} ${name} that it says the record has.`]
    : []
}

/**
 * Notes facts that no check fails on and that a reader should know.
 * @param also.promise whether to mention the promise of its latest receipt: not if the proof is given
 */
export function notesOnRecord(
  record: Members,
  { promise }: { readonly promise: boolean },
): readonly string[] {
  const { verifications, receipts } = record
  const [latest, receipt] = [verifications, receipts].map((entries) => itemsOf(entries).at(-1))
  return [
    ...(itemsOf(receipts).length > 0 ? [] : ['The record carries no receipt.']),
    ...(isMembers(latest) && latest['status'] === 'FAILED'
      ? ['The latest verification that was stored with it is FAILED.']
      : []),
    ...(itemsOf(verifications).some((one) => isMembers(one) && one['status'] === 'FAILED')
      ? ['Nothing signs what a verification says that is FAILED.']
      : []),
    ...(['verifications', 'receipts', 'confirmations'] as const).flatMap((name) => cutNote(record, name)),
    ...(promise && isMembers(receipt) ? notesOnReceipt(receipt, 'Its latest receipt') : []),
    ...notesOnConfirmations(record),
    ...notesOnApprovals(
      itemsOf(record['executions']).map((one) => (isMembers(one) ? one['decision'] : undefined)),
    ),
  ]
}

function notesOnConfirmations({ confirmations, executions }: Members): string[] {
  const [execution] = itemsOf(executions)
  const status = isMembers(execution) ? execution['status'] : undefined
  return itemsOf(confirmations).flatMap((one) =>
    isMembers(one) ? notesOnConfirmation(one['confirmation'], status) : [],
  )
}

/** The message of the service for a valid record. */
export const VERIFIED_MESSAGE = 'Execution Trust Record verified successfully.'

const VERIFICATION = shape.closed({
  ...shape.all(shape.checked, ['businessTransactionId', 'status', 'trustRecordHash']),
  verificationId: shape.text,
  // A note on a failed verification says that nothing signs it.
  message: (value, { status }) => status !== 'VERIFIED' || value === VERIFIED_MESSAGE,
  verifiedAt: shape.time,
})

export function ofRecord(record: Members): AccountText {
  const transaction = membersAt(record, 'transaction')
  const intent = membersAt(transaction, 'intent')
  const authority = membersAt(transaction, 'authority')
  const [executed] = itemsOf(record['executions'])
  const execution = isMembers(executed) ? executed : {}
  const isDone = textAt(execution, 'status') === 'COMPLETED'
  const ending = isDone ? 'Done, as the connector reported' : 'Not done'
  const why = isDone ? '' : textAt(membersAt(membersAt(execution, 'evidence'), 'result'), 'reason')
  const decision = membersAt(execution, 'decision')
  const approvers = approversOf(decision)
  const at = textAt(execution, 'completedAt') || textAt(record, 'createdAt')
  const confirmations = itemsOf(record['confirmations']).flatMap((one) =>
    isMembers(one) ? [wordOf(membersAt(one, 'confirmation'))] : [],
  )
  return {
    execution: textAt(record, 'businessTransactionId'),
    ...(confirmations.length > 0 ? { words: confirmations } : {}),
    action: actionOf(intent, { ending, at }),
    approvers,
    approvals: approvalsOf(decision),
    said: {
      ...ofIntent(intent),
      'Asked by': textAt(membersAt(transaction, 'metadata'), 'submittedBy'),
      'Authenticated by': authenticationText(membersAt(record, 'authorization')),
      'On behalf of': textAt(authority, 'displayName') || textAt(authority, 'principalId'),
      'Approved by': approvers.join(', '),
      'Reasons given': reasonsOf(decision),
      'Under policy': policyText(membersAt(transaction, 'policy')),
      'What was done': joined(': ', ending, why),
      When: at,
    },
  }
}

export const trustRecord = {
  name: 'trust-record',
  times: ['createdAt'],
  evidence: {
    marks: ['trustRecordId'],
    idOf: ({ trustRecordId }) => trustRecordId,
    check: checkWholeRecord,
    notesOn: (record) => notesOnRecord(record, { promise: true }),
    members: shape.closed({
      ...shape.all(shape.checked, [
        'trustRecordId',
        'businessTransactionId',
        'transaction',
        'authorization',
        'executions',
        'overrides',
        'createdAt',
        'requiredAlgorithms',
        'trustRecordHash',
        'verificationCount',
        'receiptCount',
        'confirmationCount',
      ]),
      signature: shape.SIGNATURE,
      signatures: [shape.SIGNATURE],
      verifications: [VERIFICATION],
      receipts: [receiptKind.evidence.members],
      confirmations: [providerConfirmation.evidence.members],
    }),
    title: 'Execution Trust Record',
    plainTitle: 'Executed action',
    account: ofRecord,
    notProven: [
      'That the policy was a good one, or is the one whose hash is signed: compare policyContentHash with the policy that you expect.',
      'That the declared signals were true, beyond what was verified.',
      'That as many approved as the policy asks for: the record shows who approved, the policy how many must.',
      'That the approvers are the humans that they are named after, or that a key was not revoked: that is what their key files say.',
      'That the human saw what was signed: the page at the origin that a passkey names showed it.',
      'That a passkey was not copied: it may be kept in a cloud account (`backupEligible`).',
      'That no approval was used for another execution too: compare the nonces.',
      'That the effect happened, or happened as reported: the record holds what the connector reported.',
      'That the verifications were run: they are not signed. Only a receipt confirms one.',
    ],
  },
} as const satisfies ArtifactKind
