// The payload that a human signs to approve one request, on the command line as in the console. Browser-safe: hashing is an argument.
import { canonicalize, type Json } from '../json/canonical.ts'
import type { ApprovalRequest } from '../schemas/approval-request.ts'
import { requestHash } from './request-hash.ts'

/** The approver who signs, and the nonce and times that make each signature another one. */
interface Signing {
  readonly approverId: string
  readonly keyId: string
  readonly approvalId: string
  /** 16 to 128 printable characters. */
  readonly nonce: string
  readonly now: Date
  /** Why the human approves; '' or left out: they do not say. */
  readonly reason?: string
}

/**
 * The payload of a SignedApproval (decisions §7): once, for exactly this request, until it ends. It is of version 3 with a reason, else of
 * version 2, which older verifiers know too.
 * @param request as the human was shown it
 * @param sha256Hex of the UTF-8 bytes of a text
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
