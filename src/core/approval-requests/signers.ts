// Decides who may sign an open request when its policy asks for approvals of groups.
import type { StandingRequest } from '../../store/tables/approval-requests.ts'

/** Whether an approver's approval counts for one of the request's signals, even one that is met. Persons are compared elsewhere. */
export function maySign({ signals }: StandingRequest, approverId: string): boolean {
  return signals.length === 0 || signals.some(({ approverIds }) => approverIds.includes(approverId))
}

/** Completes "must be …" and "is not …". */
export function whoMaySign({ signals }: StandingRequest): string {
  const groups = new Set(signals.flatMap(({ from }) => from ?? []))
  return `in one of the groups whose approvals the request asks for (${[...groups].join(', ')})`
}
