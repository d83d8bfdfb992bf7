// A warning about passkeys whose signature counter does not grow, as the audit reports: beside the approval that showed it, and beside the key.
import type { AuditEventPage } from '../../formats/schemas/audit-event.ts'
import type { Static } from 'typebox'
import { useLater, useLoaded } from '../hooks.ts'
import { Problem } from './basic.tsx'

interface Misfit {
  readonly approvalId: string
  readonly approverId: string
  readonly keyId: string
}

/** The newest reports of the audit; none for a reader who may not read the audit. */
export function useCounterMisfits(): readonly Misfit[] {
  const { data } = useLoaded<Static<typeof AuditEventPage>>(
    useLater('/audit/events?type=approval.counter_went_back&pageSize=100'),
    30_000,
  )
  return data?.events.map(({ event }) => event.detail as unknown as Misfit) ?? []
}

export function CounterMisfit() {
  return (
    <Problem text="The signature counter of this passkey does not grow: there may be a copy of it. Ask the approver whether they have signed this, and revoke the key if they have not." />
  )
}
