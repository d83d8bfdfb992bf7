// SignedApproval (decisions §7): a human's signature under one action, within a scope, for a time. Version 2 is for the execution that
// one approval request asked for, and for no other execution; version 3 also has a reason.
import { Type } from 'typebox'
import { isObject } from '../json/fields.ts'
import { REASON_MAX } from './approval-reason.ts'
import { AnyKey } from './business-transaction.ts'
import { Base64, closed, Instant, NonEmptyText, Sha256, Timestamp, Uuid } from './primitives.ts'

/** The members besides the payload of a human's signature: a raw key signs the payload itself, a passkey an assertion. */
export const humanSignature = {
  algorithm: Type.Enum(['ed25519', 'webauthn-es256', 'webauthn-ed25519'], {
    type: 'string',
    description: 'one of ed25519, webauthn-es256, webauthn-ed25519',
  }),
  signature: Base64,
  /** Present only for a passkey. */
  webauthn: Type.Optional(
    closed({
      authenticatorData: Base64,
      clientDataJSON: Base64,
    }),
  ),
}

/** Part of a keyId in its published form `{approverId}:{keyId}`. */
export const ApproverName = Type.String({
  pattern: '^[A-Za-z0-9._@-]{1,64}$',
  description: '1 to 64 letters, digits or . _ @ -',
})

const Line = (maxLength: number) =>
  Type.String({
    pattern: `^[^\\u0000-\\u001f]{1,${maxLength}}$`,
    description: `1 to ${maxLength} characters on one line`,
  })

const Nonce = Type.String({
  pattern: '^[\\x21-\\x7e]{16,128}$',
  description: '16 to 128 printable characters',
})

const Limit = closed({
  path: Type.String({
    pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}(\\.[A-Za-z_][A-Za-z0-9_-]{0,63}){0,9}$',
    description: 'a path into intent.parameters, such as invoice.total',
  }),
  max: Type.Number({ description: 'a number' }),
})

/** Counted in characters, as verifiers count them. PostgreSQL cannot read JSON with U+0000 as text. */
const ApprovalReason = Type.String({
  pattern: `^(?=[^]*\\S)[^\\u0000]{1,${REASON_MAX}}$`,
  description: `a text of 1 to ${REASON_MAX} characters, without U+0000`,
})

const Scope = Type.Union(
  [
    closed({ parametersHash: Sha256 }),
    closed({ limits: Type.Array(Limit, { minItems: 1, maxItems: 16, description: '1 to 16 limits' }) }),
  ],
  { description: '{parametersHash} or {limits: [{path, max}]}' },
)

const Payload = closed({
  version: Type.Union([Type.Literal(1), Type.Literal(2), Type.Literal(3)], { description: '1, 2 or 3' }),
  approvalId: Line(128),
  approverId: ApproverName,
  keyId: ApproverName,
  capability: Line(129),
  // A character has up to four bytes: together with the capability, an index entry stays within PostgreSQL's limit.
  target: Line(512),
  scope: Scope,
  requestHash: Type.Optional(Sha256),
  /** The human's reason for the approval, for later readers. */
  reason: Type.Optional(ApprovalReason),
  issuedAt: Timestamp,
  expiresAt: Timestamp,
  nonce: Nonce,
})

export const SignedApproval = closed({
  payload: Type.Refine(
    Type.Object(Payload.properties, {
      additionalProperties: false,
      description:
        'of version 1 without requestHash and reason, of version 2 with requestHash and scope.parametersHash and without reason, or of version 3, which may have a reason too',
    }),
    isOfItsVersion,
  ),
  ...humanSignature,
})

/** True for a value with another mistake: then that mistake is reported. */
function isOfItsVersion(payload: unknown): boolean {
  if (!isObject(payload) || !isObject(payload['scope'])) return true
  const { version, requestHash, scope, reason } = payload
  if (version !== 1 && version !== 2 && version !== 3) return true
  if (version !== 3 && reason !== undefined) return false
  return version === 1 ? requestHash === undefined : requestHash !== undefined && 'parametersHash' in scope
}

export type SignedApproval = Type.Static<typeof SignedApproval>

export const approvalStatuses = ['UNUSED', 'USED', 'EXPIRED', 'REVOKED', 'CLOSED'] as const
export type ApprovalStatus = (typeof approvalStatuses)[number]

export const Approval = Type.Object({
  approvalId: NonEmptyText,
  status: Type.Enum([...approvalStatuses], {
    description:
      'EXPIRED: it or the approval request that it is for, whose policy version may have been retired; REVOKED: the key of its approver was; CLOSED: the request was declined, withdrawn, or used by approvals of others. Only UNUSED counts',
  }),
  approval: Type.Record(AnyKey, Type.Unknown(), { description: 'the SignedApproval as it was delivered' }),
  deliveredBy: NonEmptyText,
  deliveredAt: Instant,
  consumedBy: Type.Optional(Uuid),
  consumedAt: Type.Optional(Instant),
})

export const ApprovalPage = Type.Object({ approvals: Type.Array(Approval) })
