// Checks who may act and where it goes (decisions §6, §7): approvers, external connectors, event endpoints and callers' keys, each as its signed
// change says.
import { createPublicKey } from 'node:crypto'
import { canonicalize, type Json } from '../../formats/json/canonical.ts'
import { sha256Hex } from '../../store/sha256.ts'
import { isMembers, type Members } from '../../formats/json/members.ts'
import { approvedChange } from './approved-change.ts'
import { lazyMembers, sameTime, tableCheck, type Rule } from './check.ts'

/** A thing that humans put in effect, and may end. */
interface Revocable {
  readonly revokedAt: Date | null
  readonly revokedByChange: string | null
  /** The resolved change that this names. */
  readonly revocation: string | null
}

/**
 * Nothing is revoked but by an approved change that says so of it.
 * @param said the target of the change and, beside the action, the members of what it proposes
 */
const revocationRule = <Row extends Revocable>(
  kind: string,
  said: (row: Row) => readonly [target: string, members: Members],
): Rule<Row> => [
  'revocation differs from what the changes say',
  (row) => {
    const { revokedAt, revokedByChange, revocation } = row
    if (revokedAt === null || revokedByChange === null) return revokedAt === null && revokedByChange === null
    const [target, members] = said(row)
    const { proposed, resolvedAt } = approvedChange(revocation, kind, target)
    const isSaid = Object.entries({ ...members, action: 'revoke' }).every(
      ([name, value]) => (proposed as Members)[name] === value,
    )
    // A key of an approver is revoked at the database's time: after every execution that has rested on it.
    return isSaid && (kind === 'approver' || sameTime(revokedAt, resolvedAt))
  },
]

interface ApproverRow extends Revocable {
  readonly key: string
  readonly approverId: string
  readonly keyId: string
  readonly publicKeyPem: string
  /** JSON. */
  readonly passkey: string | null
  readonly fingerprint: string
  readonly enrolledAt: Date
  readonly enrolment: string | null
}

export const approvers = tableCheck<ApproverRow>({
  table: 'approvers',
  text: `
    SELECT k.approver_id || ':' || k.key_id AS key, k.approver_id AS "approverId", k.key_id AS "keyId",
      k.public_key_pem AS "publicKeyPem", k.passkey, k.fingerprint, k.enrolled_at AS "enrolledAt", k.revoked_at AS "revokedAt",
      k.revoked_by_change AS "revokedByChange", e.resolved_body AS enrolment, r.resolved_body AS revocation
    FROM $table AS k LEFT JOIN pending_changes AS e ON e.change_id = k.enrolled_by_change
    LEFT JOIN pending_changes AS r ON r.change_id = k.revoked_by_change`,
  rules: [
    [
      'fingerprint does not match the public key',
      ({ publicKeyPem, fingerprint }) =>
        sha256Hex(createPublicKey(publicKeyPem).export({ type: 'spki', format: 'der' })) === fingerprint,
    ],
    [
      'differs from what the change enrolled',
      ({ key, approverId, keyId, publicKeyPem, passkey, enrolledAt, enrolment }) => {
        const { proposed, resolvedAt } = approvedChange(enrolment, 'approver', key)
        const due = canonicalize({
          action: 'add',
          approverId,
          keyId,
          publicKeyPem,
          ...(passkey === null ? {} : { passkey: JSON.parse(passkey) as Json }),
        })
        return canonicalize(withoutProof(proposed as Members)) === due && sameTime(enrolledAt, resolvedAt)
      },
    ],
    revocationRule('approver', ({ key, approverId, keyId }) => [key, { approverId, keyId }]),
  ],
})

interface ConnectorRow extends Revocable {
  readonly key: string
  readonly capability: string
  readonly registration: { readonly endpointUrl: string; readonly policy: string; readonly timeoutMs: number }
  readonly readBack: boolean
  /** JSON. */
  readonly allowedParameters: string
  readonly registeredAt: Date
  readonly change: string | null
}

export const externalConnectors = tableCheck<ConnectorRow>({
  table: 'external_connectors',
  text: `
    SELECT e.change_id AS key, e.capability,
      json_build_object('endpointUrl', e.endpoint_url, 'policy', e.policy, 'timeoutMs', e.timeout_ms) AS registration,
      e.read_back AS "readBack",
      e.allowed_parameters AS "allowedParameters", e.registered_at AS "registeredAt", e.revoked_at AS "revokedAt",
      e.revoked_by_change AS "revokedByChange", c.resolved_body AS change, r.resolved_body AS revocation
    FROM $table AS e LEFT JOIN pending_changes AS c USING (change_id)
    LEFT JOIN pending_changes AS r ON r.change_id = e.revoked_by_change`,
  rules: [
    [
      'differs from what the change registered',
      ({ capability, registration, readBack, allowedParameters, registeredAt, change }) => {
        const { proposed, resolvedAt } = approvedChange(change, 'external-connector', capability)
        const parameters = JSON.parse(allowedParameters) as Json
        const due = {
          action: 'register',
          capability,
          ...registration,
          ...(readBack ? { readBack } : {}),
          allowedParameters: parameters,
        }
        return canonicalize(proposed as Json) === canonicalize(due) && sameTime(registeredAt, resolvedAt)
      },
    ],
    revocationRule('external-connector', ({ capability }) => [capability, { capability }]),
  ],
})

interface EndpointRow extends Revocable {
  readonly key: string
  readonly url: string
  /** JSON, as `callerIds`. */
  readonly types: string
  readonly withParameters: boolean
  readonly callerIds: string | null
  readonly registeredAt: Date
  readonly change: string | null
}

export const eventEndpoints = tableCheck<EndpointRow>({
  table: 'event_endpoints',
  text: `
    SELECT e.endpoint_id AS key, e.url, e.types, e.with_parameters AS "withParameters", e.caller_ids AS "callerIds",
      e.registered_at AS "registeredAt", e.revoked_at AS "revokedAt", e.revoked_by_change AS "revokedByChange",
      c.resolved_body AS change, r.resolved_body AS revocation
    FROM $table AS e LEFT JOIN pending_changes AS c ON c.change_id = e.endpoint_id
    LEFT JOIN pending_changes AS r ON r.change_id = e.revoked_by_change`,
  rules: [
    [
      'differs from what the change registered',
      ({ url, types, withParameters, callerIds, registeredAt, change }) => {
        const { proposed, resolvedAt } = approvedChange(change, 'event-endpoint', url)
        const due = {
          action: 'register',
          url,
          types: JSON.parse(types) as Json,
          withParameters,
          ...(callerIds === null ? {} : { callerIds: JSON.parse(callerIds) as Json }),
        }
        return canonicalize(proposed as Json) === canonicalize(due) && sameTime(registeredAt, resolvedAt)
      },
    ],
    revocationRule('event-endpoint', ({ url }) => [url, { url }]),
  ],
})

interface CallerKeyRow extends Revocable {
  readonly key: string
  readonly callerId: string
  readonly keyHash: string
  /** JSON. */
  readonly scope: string | null
  readonly expiresAt: Date | null
  readonly issuedAt: Date | null
  readonly issuedByChange: string | null
  readonly change: string | null
}

export const callerKeys = tableCheck<CallerKeyRow>({
  table: 'caller_keys',
  text: `
    SELECT k.caller_id || ':' || left(k.key_hash, 16) AS key, k.caller_id AS "callerId", k.key_hash AS "keyHash", k.scope,
      k.expires_at AS "expiresAt", k.issued_at AS "issuedAt", k.issued_by_change AS "issuedByChange",
      k.revoked_at AS "revokedAt", k.revoked_by_change AS "revokedByChange",
      c.resolved_body AS change, r.resolved_body AS revocation
    FROM $table AS k LEFT JOIN pending_changes AS c ON c.change_id = k.issued_by_change
    LEFT JOIN pending_changes AS r ON r.change_id = k.revoked_by_change`,
  rules: [
    [
      'differs from what the change issued',
      ({ key, callerId, keyHash, scope, expiresAt, issuedAt, issuedByChange, change }) => {
        if (issuedByChange === null || scope === null || issuedAt === null)
          return [issuedByChange, scope, issuedAt, expiresAt].every((value) => value === null)
        const { proposed, resolvedAt } = approvedChange(change, 'caller-key', key)
        const due = {
          ...lazyMembers(scope, 'caller_keys', 'scope')(),
          action: 'issue',
          callerId,
          keyHash,
          ...(expiresAt === null ? {} : { expiresAt: expiresAt.toISOString() }),
        }
        return canonicalize(proposed as Json) === canonicalize(due) && sameTime(issuedAt, resolvedAt)
      },
    ],
    revocationRule('caller-key', ({ key, callerId, keyHash }) => [key, { callerId, keyHash }]),
  ],
})

/** The proof of a passkey stands in the change alone. */
function withoutProof({ passkey, ...proposed }: Members): Members {
  if (!isMembers(passkey)) return passkey === undefined ? proposed : { ...proposed, passkey }
  const { proof: _, ...enrolled } = passkey
  return { ...proposed, passkey: enrolled }
}
