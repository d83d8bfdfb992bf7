// An example of each row of src/core/errors.ts for the document, made by the row itself, with `<…>` in place of a detail.
import { failures, type Failure } from '../../core/errors.ts'

export type FailureRow = keyof typeof failures

const outsideScope = { principalId: '<principalId>', capability: '<action>' }

export const shownFailures: Readonly<Record<FailureRow, Failure>> = {
  invalidBusinessTransactionId: failures.invalidBusinessTransactionId(),
  invalidTransaction: failures.invalidTransaction(
    'authorization.authorityId must match authority.authorityId.',
  ),
  fieldRequired: failures.fieldRequired('<field>'),
  authenticationRequired: failures.authenticationRequired(),
  policyDenied: failures.policyDenied(
    'declared signals do not match independently verified state (<signal>=<declared> != verified <signal>=<verified>).',
    '<id>',
  ),
  nonHumanCaller: failures.nonHumanCaller(),
  sameActor: failures.sameActor(),
  stepUpInvalid: failures.stepUpInvalid('<why>'),
  principalOutsideScope: failures.principalOutsideScope(outsideScope),
  capabilityOutsideScope: failures.capabilityOutsideScope(outsideScope),
  policyNotFound: failures.policyNotFound({ name: '<name>', version: '<version>' }),
  transactionNotFound: failures.transactionNotFound(),
  noRecordToVerify: failures.noRecordToVerify(),
  trustRecordNotFound: failures.trustRecordNotFound(),
  verificationNotFound: failures.verificationNotFound(),
  receiptNotFound: failures.receiptNotFound(),
  callerIdentityMissing: failures.callerIdentityMissing(),
  duplicateTransaction: failures.duplicateTransaction('<id>'),
  receiptNotVerified: failures.receiptNotVerified(),
  rateLimited: failures.rateLimited(1),
  executionRejected: failures.executionRejected('<reason>', '<id>'),
  internal: failures.internal(undefined),
  noConnector: failures.noConnector('<action>'),
  executionFailed: failures.executionFailed('<reason>'),
  malformedJson: failures.malformedJson(''),
  invalidPage: failures.invalidPage(),
  invalidPageSize: failures.invalidPageSize(),
  invalidQuery: failures.invalidQuery('since must be an RFC 3339 timestamp.'),
  invalidEvidence: failures.invalidEvidence(),
  invalidField: failures.invalidField('reason is required.'),
  missingSignature: failures.missingSignature('<provider>'),
  invalidSignature: failures.invalidSignature('<provider>'),
  missingEventId: failures.missingEventId(),
  changeNotFound: failures.changeNotFound(),
  approvalNotFound: failures.approvalNotFound(),
  intentNotFound: failures.intentNotFound(),
  conflict: failures.conflict('<contradiction>'),
  refusalNotFound: failures.refusalNotFound(),
  keyNotFound: failures.keyNotFound('<keyId>'),
  pathNotFound: failures.pathNotFound(),
  methodNotAllowed: failures.methodNotAllowed('<methods>'),
  payloadTooLarge: failures.payloadTooLarge(),
  outcomeUnknown: failures.outcomeUnknown(undefined),
  evidenceRefused: failures.evidenceRefused(''),
  overloaded: failures.overloaded(),
  stateUnavailable: failures.stateUnavailable(undefined),
  databaseUnavailable: failures.databaseUnavailable(undefined),
}

/** Rows whose message says what exactly is wrong: the message in the document is one of many. */
const ONE_OF_MANY: readonly FailureRow[] = ['invalidTransaction', 'invalidQuery', 'invalidField']

/**
 * Finds the row that a failure was made by.
 *
 * @param rows those that the route lists
 * @param failure as the reply shows it; `code` is null where the body has no member for one
 */
export function rowOf(
  rows: readonly FailureRow[],
  { status, error, code }: { status: number; error: string; code: string | undefined | null },
): FailureRow | undefined {
  const alike = rows.filter((row) => {
    const shown = shownFailures[row]
    return shown.status === status && (code === null || shown.code === code)
  })
  return (
    alike.find((row) => !ONE_OF_MANY.includes(row) && sentence(row).test(error)) ??
    alike.find((row) => ONE_OF_MANY.includes(row))
  )
}

/** Matches the row's message with any detail. */
function sentence(row: FailureRow): RegExp {
  const parts = shownFailures[row].message.split(/<\w+>(?:.*<\w+>)?/).map((part) => RegExp.escape(part))
  return new RegExp(`^${parts.join('[\\s\\S]+')}$`)
}
