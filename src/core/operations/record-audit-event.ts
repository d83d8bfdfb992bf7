// An audit event is signed and stored: workers/evidence/audit.ts.
import { ONE, ownWork, STORED } from './operation.ts'

/** The members that are signed; one that cannot be signed is not stored. */
export interface AuditEventToSign {
  readonly eventId: string
  readonly type: string
}

export const recordAuditEvent = ownWork<AuditEventToSign, null>({ lane: 'background', ...STORED, ...ONE })
