// Events in the form of OCSF 1.9, for a SIEM: class API Activity with the profile `record_integrity`.
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import { sha256Hex } from '../../store/sha256.ts'
import type { FeedEvent } from './event.ts'
import type { EventType } from '../../formats/schemas/event-types.ts'

const CATEGORY_APPLICATION = 6
const CLASS_API_ACTIVITY = 6003
const [CREATE, UPDATE] = [1, 3]
const [SUCCESS, FAILURE, OTHER] = [1, 2, 99]
const [INFORMATIONAL, MEDIUM, HIGH] = [1, 3, 4]
const FINGERPRINT_SHA256 = 3

interface Mapped {
  readonly operation: string
  readonly activity: number
  readonly status: number
  readonly severity: number
  readonly message: string
}

const mapped: Readonly<Record<EventType, Mapped>> = {
  'execution.completed': of('execute', CREATE, SUCCESS, INFORMATIONAL, 'An execution was completed.'),
  'execution.failed': of('execute', CREATE, FAILURE, INFORMATIONAL, 'An execution failed for certain.'),
  'execution.refused': of('execute', CREATE, FAILURE, MEDIUM, 'A policy refused an execution.'),
  'execution.in_doubt': of('execute', CREATE, OTHER, MEDIUM, 'Whether an execution happened is not known.'),
  'execution.closed': of('closeIntent', UPDATE, SUCCESS, INFORMATIONAL, 'An execution in doubt was closed.'),
  'confirmation.received': of('confirm', UPDATE, SUCCESS, INFORMATIONAL, 'A provider spoke of an execution.'),
  'confirmation.contradicts': of('confirm', UPDATE, FAILURE, HIGH, 'A provider contradicts a record.'),
  'change.proposed': of('proposeChange', CREATE, SUCCESS, INFORMATIONAL, 'A change was proposed.'),
  'change.resolved': of(
    'resolveChange',
    UPDATE,
    SUCCESS,
    INFORMATIONAL,
    'A change was approved or rejected.',
  ),
  'approval_request.opened': of(
    'requestApproval',
    CREATE,
    SUCCESS,
    INFORMATIONAL,
    'An approval was asked for.',
  ),
  'approval_request.noted': of(
    'note',
    UPDATE,
    SUCCESS,
    INFORMATIONAL,
    'A note was written on an approval request.',
  ),
  'approval_request.approved': of(
    'approve',
    UPDATE,
    SUCCESS,
    INFORMATIONAL,
    'What was asked for is approved.',
  ),
  'approval_request.declined': of('decline', UPDATE, FAILURE, INFORMATIONAL, 'A human declined an approval.'),
  'approval_request.expired': of('expire', UPDATE, FAILURE, INFORMATIONAL, 'Nobody approved in time.'),
  'approval_request.ended': of(
    'end',
    UPDATE,
    FAILURE,
    INFORMATIONAL,
    'The policy version of an approval request was retired.',
  ),
}

function of(operation: string, activity: number, status: number, severity: number, message: string): Mapped {
  return { operation, activity, status, severity, message }
}

/**
 * @param service.version of the build
 * @param service.logName LOG_ORIGIN of the service
 */
export function ocsfEvent(
  event: FeedEvent,
  { version, logName }: { readonly version: string; readonly logName: string },
): Readonly<Record<string, Json>> {
  const { operation, activity, status, severity, message } = mapped[event.type]
  const { eventId, type, occurredAt, entry, businessTransactionId, changeId, requestId, callerId, by } = event
  const who = callerId ?? by ?? 'unknown'
  const attestation = { authority_uid: logName, chain_uid: `${logName}/log/${entry.log}` }
  const unsealed = {
    category_uid: CATEGORY_APPLICATION,
    class_uid: CLASS_API_ACTIVITY,
    type_uid: CLASS_API_ACTIVITY * 100 + activity,
    activity_id: activity,
    severity_id: severity,
    status_id: status,
    time: Date.parse(occurredAt),
    message,
    metadata: {
      version: '1.9.0',
      uid: eventId,
      event_code: type,
      sequence: entry.index,
      log_name: attestation.chain_uid,
      profiles: ['record_integrity'],
      product: { name: 'Countersign', vendor_name: 'Countersign', version },
    },
    actor: { user: { uid: who } },
    src_endpoint: { uid: who },
    api: { operation, service: { name: 'countersign' } },
    resources: [
      businessTransactionId !== undefined
        ? { uid: businessTransactionId, type: 'business transaction' }
        : requestId !== undefined
          ? { uid: requestId, type: 'approval request' }
          : { uid: changeId ?? eventId, type: 'change' },
    ],
    unmapped: JSON.parse(JSON.stringify(event)) as Json,
  }
  // The attestation covers the whole event except its own fingerprint.
  const value = sha256Hex(canonicalize({ ...unsealed, attestation_list: [attestation] }))
  const fingerprint = { algorithm_id: FINGERPRINT_SHA256, algorithm: 'SHA-256', value }
  return { ...unsealed, attestation_list: [{ ...attestation, fingerprint }] }
}
