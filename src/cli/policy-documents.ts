// The documents of policies that requests name, read from the service for their words.
import { canonicalize } from '../formats/json/canonical.ts'
import type { ApprovalRequestContent } from '../formats/schemas/approval-request.ts'
import type { PolicyDocument } from '../formats/schemas/policy.ts'
import { PolicyDetail } from '../formats/schemas/policy-version.ts'
import { shapeOf } from '../core/json/shape.ts'
import { sha256Hex } from '../store/sha256.ts'
import { get, shapedAnswer, type ServiceAt } from './service.ts'

const policyDetail = shapeOf(PolicyDetail)

type Named = ApprovalRequestContent['policy']

/**
 * Reads each document once.
 * @returns a function that answers undefined where the service has no such version, or shows other content than the
 *   request names
 */
export function policyDocuments(service: ServiceAt): (policy: Named) => Promise<PolicyDocument | undefined> {
  const read = new Map<string, Promise<PolicyDocument | undefined>>()
  return ({ name, version, contentHash }) => {
    const path = `/policies/${encodeURIComponent(name)}/${encodeURIComponent(version)}`
    const key = `${path} ${contentHash}`
    const known = read.get(key) ?? documentAt(service, { path, contentHash })
    read.set(key, known)
    return known
  }
}

async function documentAt(
  service: ServiceAt,
  { path, contentHash }: { readonly path: string; readonly contentHash: string },
): Promise<PolicyDocument | undefined> {
  const answer = await get(service, path, { accept: [404] })
  if (answer.status === 404) return undefined
  const { document } = shapedAnswer(policyDetail, answer)
  return sha256Hex(canonicalize(document)) === contentHash ? document : undefined
}
