// SignedApproval (decisions §7): a human's signature under one action, within a scope, for a time.
import { Type } from 'typebox'
import { AnyKey } from './business-transaction.ts'
import { Base64, Instant, NonEmptyText, Sha256, Timestamp, Uuid } from './primitives.ts'

/** Exact: a member that nobody reads is one that somebody thinks counts. */
export const closed = <T extends Type.TProperties>(properties: T): Type.TObject<T> =>
  Type.Object(properties, { additionalProperties: false })

/** Part of a keyId that is published as `{approverId}:{keyId}`. */
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

const Scope = Type.Union(
  [
    closed({ parametersHash: Sha256 }),
    closed({ limits: Type.Array(Limit, { minItems: 1, maxItems: 16, description: '1 to 16 limits' }) }),
  ],
  { description: '{parametersHash} or {limits: [{path, max}]}' },
)

export const SignedApproval = closed({
  payload: closed({
    version: Type.Literal(1, { description: '1' }),
    approvalId: Line(128),
    approverId: ApproverName,
    keyId: ApproverName,
    capability: Line(129),
    // Of up to four bytes a character: with the capability, an entry of the index stays within what PostgreSQL takes.
    target: Line(512),
    scope: Scope,
    issuedAt: Timestamp,
    expiresAt: Timestamp,
    nonce: Nonce,
  }),
  algorithm: Type.Literal('ed25519', { description: 'ed25519' }),
  signature: Base64,
})
export type SignedApproval = Type.Static<typeof SignedApproval>

export const Approval = Type.Object({
  approvalId: NonEmptyText,
  status: Type.Enum(['UNUSED', 'USED', 'EXPIRED', 'REVOKED'], {
    description: 'REVOKED: the key of its approver was',
  }),
  approval: Type.Record(AnyKey, Type.Unknown(), { description: 'the SignedApproval as it was delivered' }),
  deliveredBy: NonEmptyText,
  deliveredAt: Instant,
  consumedBy: Type.Optional(Uuid),
  consumedAt: Type.Optional(Instant),
})

export const ApprovalPage = Type.Object({ approvals: Type.Array(Approval) })
