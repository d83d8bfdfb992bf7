// The hash that an approval of version 2 or 3 signs besides the action: it covers requester, principal, policy and signals.
// Browser-safe: hashing is an argument.
import { canonicalize, type Json } from '../json/canonical.ts'

/**
 * The hash that a SignedApproval of version 2 or 3 names as its `requestHash`: SHA-256 of the canonical text of the request's content.
 * @param content exactly the members of `ApprovalRequestContent`, parsed
 * @param sha256Hex hashes the UTF-8 bytes of a text
 * @returns 64 lowercase hex characters
 * @throws NotCanonical when the content has no canonical form
 */
export function requestHash(content: object, sha256Hex: (text: string) => string): string {
  return sha256Hex(canonicalize(content as Json))
}
