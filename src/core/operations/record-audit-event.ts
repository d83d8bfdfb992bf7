// Signs and stores an audit event: workers/evidence/audit.ts.
import { ONE, ownWork, STORED } from './operation.ts'

/** The members that are signed. An event that cannot be signed is not stored. */
export interface AuditEventToSign {
  readonly eventId: string
  readonly type: string
}

export const recordAuditEvent = ownWork<AuditEventToSign, null>({ lane: 'background', ...STORED, ...ONE })
