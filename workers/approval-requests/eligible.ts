// Whether a caller may decide on an approval request by a text alone: decline it, or write a note on it.
import { maySign, whoMaySign } from '../../src/core/approval-requests/signers.ts'
import { failures, type Failure } from '../../src/core/errors/errors.ts'
import { isBehind, type Persons } from '../../src/formats/people/persons.ts'
import type { StandingRequest } from '../../src/store/tables/approval-requests.ts'
import { readApproversInEffect } from '../../src/store/tables/approvers.ts'
import type { Sql } from '../../src/store/postgres/sql.ts'
import type { ScopedCaller } from '../in-flight.ts'

/**
 * Whether the caller is an approver who could sign the request, whether or not they have signed.
 * @returns undefined where they are; otherwise the condition that they do not meet
 */
export async function ineligible(
  { approverId }: ScopedCaller,
  request: StandingRequest,
  { sql, persons }: { readonly sql: Sql; readonly persons: Persons },
): Promise<Failure | undefined> {
  if (approverId === undefined)
    return failures.notAnEligibleApprover(
      'This caller has no approverId in SERVICE_API_KEYS, which says which approver a human is.',
    )
  const { requestedBy, principalId } = request
  const isEnrolled = (await readApproversInEffect(sql)).includes(approverId)
  if (isEnrolled && !isBehind(persons, approverId, [requestedBy, principalId]))
    return maySign(request, approverId)
      ? undefined
      : failures.notAnEligibleApprover(`Approver '${approverId}' is not ${whoMaySign(request)}.`)
  return failures.notAnEligibleApprover(
    `Approver '${approverId}' has no key in effect, or is a person who asked for this approval.`,
  )
}

/** Why a request can be neither declined nor annotated any more; undefined while it is open. */
export function notOpen(request: StandingRequest | null): Failure | undefined {
  if (request?.status === 'PENDING' || request?.status === 'APPROVED') return undefined
  return failures.conflict(`The approval request is ${request?.status} already.`)
}
