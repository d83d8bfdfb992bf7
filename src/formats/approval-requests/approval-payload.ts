// The payload that a human signs to approve one request, on the command line and in the console. Browser-safe: hashing is an argument.
import { canonicalize, type Json } from '../json/canonical.ts'
import type { ApprovalRequest } from '../schemas/approval-request.ts'
import { requestHash } from './request-hash.ts'

/** The approver who signs, and the nonce and times that make each signature unique. */
interface Signing {
  readonly approverId: string
  readonly keyId: string
  readonly approvalId: string
  /** 16 to 128 printable characters. */
  readonly nonce: string
  readonly now: Date
  /** The human's reason for the approval; '' or left out: none given. */
  readonly reason?: string
}

/**
 * The payload of a SignedApproval (decisions §7): valid once, for exactly this request, until it ends. It has version 3 with a reason, else
 * version 2, which older verifiers also know.
 * @param request the request that was shown to the human
 * @param sha256Hex hashes the UTF-8 bytes of a text
 */
export function approvalPayload(
  request: ApprovalRequest['request'],
  { approverId, keyId, approvalId, nonce, now, reason = '' }: Signing,
  sha256Hex: (text: string) => string,
) {
  return {
    version: reason === '' ? 2 : 3,
    approvalId,
    approverId,
    keyId,
    capability: request.capability,
    target: request.target,
    scope: { parametersHash: sha256Hex(canonicalize(request.parameters as Json)) },
    requestHash: requestHash(request, sha256Hex),
    ...(reason === '' ? {} : { reason }),
    issuedAt: now.toISOString(),
    expiresAt: request.expiresAt,
    nonce,
  } as const
}
