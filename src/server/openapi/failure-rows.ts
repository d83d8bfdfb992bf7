// Each row of src/core/errors.ts as the document shows it: made by the row itself, `<…>` where a detail stands.
import { failures, type Failure } from '../../core/errors.ts'

export type FailureRow = keyof typeof failures

const asked = { principalId: '<principalId>', capability: '<action>' }

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
  principalOutsideScope: failures.principalOutsideScope(asked),
  capabilityOutsideScope: failures.capabilityOutsideScope(asked),
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

/** Rows that say what exactly is wrong: their sentence in the document is one of many. */
const ONE_OF_MANY: readonly FailureRow[] = ['invalidTransaction', 'invalidQuery', 'invalidField']

/** The row that a failure is of, among those a route lists. in  code  null where the body has no place for one */
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

/** The row's message with anything where a detail stands. */
function sentence(row: FailureRow): RegExp {
  const parts = shownFailures[row].message.split(/<\w+>(?:.*<\w+>)?/).map((part) => RegExp.escape(part))
  return new RegExp(`^${parts.join('[\\s\\S]+')}$`)
}
