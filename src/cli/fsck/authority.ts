// What humans have put in effect (decisions §6, §7): policies, webhook rules, approvers, external connectors, event endpoints and callers'
// keys, each as its signed change says.
import { createPublicKey } from 'node:crypto'
import { canonicalize, type Json } from '../../core/json/canonical.ts'
import { sha256Hex } from '../../core/signing/sha256.ts'
import { isMembers, list, members, string, type Members } from '../../core/verifier/evidence.ts'
import { lazyMembers, sameTime, tableCheck, type Rule } from './check.ts'

/** A document that a change has approved, or genesis. */
interface DocumentRow {
  readonly key: string
  /** Of the change. */
  readonly target: string
  readonly content: string
  readonly contentHash: string
  readonly loadedAt: Date
  readonly approvedBy: string | null
  readonly approvedAt: Date | null
  readonly byChange: string | null
  /** As resolved; null where there is no such change. */
  readonly change: string | null
}

/** @param contentOf what of `proposed` became the content */
function documentRules(
  kind: string,
  contentOf: (proposed: Members) => Members = (proposed) => proposed,
): Rule<DocumentRow>[] {
  return [
    ['content does not match its hash', ({ content, contentHash }) => sha256Hex(content) === contentHash],
    [
      'is approved by genesis, but was not present at the first start',
      ({ approvedBy, approvedAt, loadedAt }, { genesisAt }) =>
        approvedBy !== 'genesis' ||
        (approvedAt !== null && sameTime(approvedAt, genesisAt) && sameTime(loadedAt, genesisAt)),
    ],
    [
      'is approved, but no change approved it',
      ({ approvedBy, byChange }) => (approvedBy !== null && approvedBy !== 'genesis') === (byChange !== null),
    ],
    [
      'differs from what the change approved',
      ({ target, content, approvedBy, approvedAt, byChange, change }) => {
        if (byChange === null) return true
        const { proposed, resolvedBy, resolvedAt } = approvedChange(change, kind, target)
        const isSame = canonicalize(contentOf(members(proposed))) === content && resolvedBy === approvedBy
        return isSame && approvedAt !== null && sameTime(approvedAt, resolvedAt)
      },
    ],
  ]
}

interface PolicyRow extends DocumentRow {
  readonly name: string
  readonly version: string
  readonly retiredBy: string | null
  readonly retiredAt: Date | null
  readonly retiredByChange: string | null
  readonly retirement: string | null
}

export const policyVersions = tableCheck<PolicyRow, PolicyRow & { document: () => Members }>({
  text: `
    SELECT p.name || '/' || p.version AS key, p.name || '/' || p.version AS target, p.name, p.version, p.content,
      p.content_hash AS "contentHash", p.loaded_at AS "loadedAt", p.approved_by AS "approvedBy",
      p.approved_at AS "approvedAt", p.approved_by_change AS "byChange", c.resolved_body AS change,
      p.retired_by AS "retiredBy", p.retired_at AS "retiredAt", p.retired_by_change AS "retiredByChange",
      r.resolved_body AS retirement
    FROM $table AS p LEFT JOIN pending_changes AS c ON c.change_id = p.approved_by_change
    LEFT JOIN pending_changes AS r ON r.change_id = p.retired_by_change`,
  read: (row) => ({ ...row, document: lazyMembers(row.content, 'policy_versions', 'content') }),
  groups: [
    {
      table: 'policy_versions',
      rules: [
        ...documentRules('policy', withoutRetirement),
        [
          'retirement differs from what the changes say',
          ({ name, version, retiredBy, retiredAt, retiredByChange, retirement }) => {
            if (retiredAt === null || retiredByChange === null)
              return retiredBy === null && retiredAt === null
            const { target, proposed, resolvedBy, resolvedAt } = approvedChange(retirement, 'policy')
            const { action, retires = [] } = members(proposed)
            const isNamed =
              action === 'retire'
                ? target === `${name}/${version}`
                : string(target).startsWith(`${name}/`) && list(retires).includes(version)
            return isNamed && resolvedBy === retiredBy && sameTime(retiredAt, resolvedAt)
          },
        ],
        [
          'content is of another policy',
          ({ name, version, document }) => {
            const { policyId, policyVersion } = document()
            return policyId === name && policyVersion === version
          },
        ],
      ],
    },
  ],
})

export const webhookRules = tableCheck<DocumentRow, DocumentRow & { document: () => Members }>({
  text: `
    SELECT w.provider || '/' || w.version_id AS key, w.provider AS target, w.content, w.rules_hash AS "contentHash",
      w.loaded_at AS "loadedAt", w.approved_by AS "approvedBy", w.approved_at AS "approvedAt",
      w.approved_by_change AS "byChange", c.resolved_body AS change
    FROM $table AS w LEFT JOIN pending_changes AS c ON c.change_id = w.approved_by_change`,
  read: (row) => ({ ...row, document: lazyMembers(row.content, 'webhook_rules', 'content') }),
  groups: [
    {
      table: 'webhook_rules',
      rules: [
        ...documentRules('webhook-rules'),
        ['content is of another provider', ({ target, document }) => document()['provider'] === target],
      ],
    },
  ],
})

interface ApproverRow {
  readonly key: string
  readonly approverId: string
  readonly keyId: string
  readonly publicKeyPem: string
  /** JSON. */
  readonly passkey: string | null
  readonly fingerprint: string
  readonly enrolledAt: Date
  readonly revokedAt: Date | null
  readonly revokedByChange: string | null
  readonly enrolment: string | null
  readonly revocation: string | null
}

export const approvers = tableCheck<ApproverRow, ApproverRow>({
  text: `
    SELECT k.approver_id || ':' || k.key_id AS key, k.approver_id AS "approverId", k.key_id AS "keyId",
      k.public_key_pem AS "publicKeyPem", k.passkey, k.fingerprint, k.enrolled_at AS "enrolledAt", k.revoked_at AS "revokedAt",
      k.revoked_by_change AS "revokedByChange", e.resolved_body AS enrolment, r.resolved_body AS revocation
    FROM $table AS k LEFT JOIN pending_changes AS e ON e.change_id = k.enrolled_by_change
    LEFT JOIN pending_changes AS r ON r.change_id = k.revoked_by_change`,
  read: (row) => row,
  groups: [
    {
      table: 'approvers',
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
        [
          'revocation differs from what the changes say',
          ({ key, approverId, keyId, revokedAt, revokedByChange, revocation }) => {
            if (revokedAt === null || revokedByChange === null)
              return revokedAt === null && revokedByChange === null
            const { proposed } = approvedChange(revocation, 'approver', key)
            return canonicalize(proposed as Json) === canonicalize({ action: 'revoke', approverId, keyId })
          },
        ],
      ],
    },
  ],
})

interface ConnectorRow {
  readonly key: string
  readonly capability: string
  readonly registration: { readonly endpointUrl: string; readonly policy: string; readonly timeoutMs: number }
  readonly readBack: boolean
  /** JSON. */
  readonly allowedParameters: string
  readonly registeredAt: Date
  readonly revokedAt: Date | null
  readonly revokedByChange: string | null
  readonly change: string | null
  readonly revocation: string | null
}

export const externalConnectors = tableCheck<ConnectorRow, ConnectorRow>({
  text: `
    SELECT e.change_id AS key, e.capability,
      json_build_object('endpointUrl', e.endpoint_url, 'policy', e.policy, 'timeoutMs', e.timeout_ms) AS registration,
      e.read_back AS "readBack",
      e.allowed_parameters AS "allowedParameters", e.registered_at AS "registeredAt", e.revoked_at AS "revokedAt",
      e.revoked_by_change AS "revokedByChange", c.resolved_body AS change, r.resolved_body AS revocation
    FROM $table AS e LEFT JOIN pending_changes AS c USING (change_id)
    LEFT JOIN pending_changes AS r ON r.change_id = e.revoked_by_change`,
  read: (row) => row,
  groups: [
    {
      table: 'external_connectors',
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
        [
          'revocation differs from what the changes say',
          ({ capability, revokedAt, revokedByChange, revocation }) => {
            if (revokedAt === null || revokedByChange === null)
              return revokedAt === null && revokedByChange === null
            const { proposed, resolvedAt } = approvedChange(revocation, 'external-connector', capability)
            const isSame = canonicalize(proposed as Json) === canonicalize({ action: 'revoke', capability })
            return isSame && sameTime(revokedAt, resolvedAt)
          },
        ],
      ],
    },
  ],
})

interface EndpointRow {
  readonly key: string
  readonly url: string
  /** JSON, as `callerIds`. */
  readonly types: string
  readonly withParameters: boolean
  readonly callerIds: string | null
  readonly registeredAt: Date
  readonly revokedAt: Date | null
  readonly revokedByChange: string | null
  readonly change: string | null
  readonly revocation: string | null
}

export const eventEndpoints = tableCheck<EndpointRow, EndpointRow>({
  text: `
    SELECT e.endpoint_id AS key, e.url, e.types, e.with_parameters AS "withParameters", e.caller_ids AS "callerIds",
      e.registered_at AS "registeredAt", e.revoked_at AS "revokedAt", e.revoked_by_change AS "revokedByChange",
      c.resolved_body AS change, r.resolved_body AS revocation
    FROM $table AS e LEFT JOIN pending_changes AS c ON c.change_id = e.endpoint_id
    LEFT JOIN pending_changes AS r ON r.change_id = e.revoked_by_change`,
  read: (row) => row,
  groups: [
    {
      table: 'event_endpoints',
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
        [
          'revocation differs from what the changes say',
          ({ url, revokedAt, revokedByChange, revocation }) => {
            if (revokedAt === null || revokedByChange === null)
              return revokedAt === null && revokedByChange === null
            const { proposed, resolvedAt } = approvedChange(revocation, 'event-endpoint', url)
            const isSame = canonicalize(proposed as Json) === canonicalize({ action: 'revoke', url })
            return isSame && sameTime(revokedAt, resolvedAt)
          },
        ],
      ],
    },
  ],
})

/** What ends with a version stands in the change alone. */
function withoutRetirement(proposed: Members): Members {
  const { retires: _, ...document } = proposed
  return document
}

interface CallerKeyRow {
  readonly key: string
  readonly callerId: string
  readonly keyHash: string
  /** JSON. */
  readonly scope: string | null
  readonly expiresAt: Date | null
  readonly issuedAt: Date | null
  readonly issuedByChange: string | null
  readonly revokedAt: Date | null
  readonly revokedByChange: string | null
  readonly change: string | null
  readonly revocation: string | null
}

export const callerKeys = tableCheck<CallerKeyRow, CallerKeyRow>({
  text: `
    SELECT k.caller_id || ':' || left(k.key_hash, 16) AS key, k.caller_id AS "callerId", k.key_hash AS "keyHash", k.scope,
      k.expires_at AS "expiresAt", k.issued_at AS "issuedAt", k.issued_by_change AS "issuedByChange",
      k.revoked_at AS "revokedAt", k.revoked_by_change AS "revokedByChange",
      c.resolved_body AS change, r.resolved_body AS revocation
    FROM $table AS k LEFT JOIN pending_changes AS c ON c.change_id = k.issued_by_change
    LEFT JOIN pending_changes AS r ON r.change_id = k.revoked_by_change`,
  read: (row) => row,
  groups: [
    {
      table: 'caller_keys',
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
        [
          'revocation differs from what the changes say',
          ({ key, callerId, keyHash, revokedAt, revokedByChange, revocation }) => {
            if (revokedAt === null || revokedByChange === null)
              return revokedAt === null && revokedByChange === null
            const { proposed, resolvedAt } = approvedChange(revocation, 'caller-key', key)
            const said = proposed as Members
            const isSame =
              said['action'] === 'revoke' && said['callerId'] === callerId && said['keyHash'] === keyHash
            return isSame && sameTime(revokedAt, resolvedAt)
          },
        ],
      ],
    },
  ],
})

/** The proof of a passkey stands in the change alone. */
function withoutProof({ passkey, ...proposed }: Members): Members {
  if (!isMembers(passkey)) return passkey === undefined ? proposed : { ...proposed, passkey }
  const { proof: _, ...enrolled } = passkey
  return { ...proposed, passkey: enrolled }
}

/** The approved change of this kind and, if one is given, target; throws where there is none. Its own check verifies its signature. */
function approvedChange(text: string | null, kind: string, target?: string): Members {
  if (text === null) throw new Error('change is missing or not resolved')
  const change = lazyMembers(text, 'pending_changes', 'resolved_body')()
  const isOther = target !== undefined && change['target'] !== target
  if (change['status'] !== 'APPROVED' || change['kind'] !== kind || isOther)
    throw new Error('change is about something else, or was not approved')
  return change
}
