// The published signing keys (interface §2.7, §4.1): what anyone needs to check our evidence.
import { failures } from '../../core/errors.ts'
import { approverKeyId } from '../../core/signing/approver-keys.ts'
import { ed25519PublicKey } from '../../core/signing/keys.ts'
import { publicKeyJson } from '../../core/signing/published.ts'
import type { ApproverRow } from '../../core/tables/approvers.ts'
import { json, type Answer, type Handler } from './route.ts'

// A key never changes under its id; a new one must be found within minutes of a rotation, a revocation within seconds.
const KEY_CACHE = 'public, max-age=3600'
const KEY_SET_CACHE = 'public, max-age=300'
const APPROVER_KEY_CACHE = 'public, max-age=5'

/** An id with a colon is an approver's and no other is: neither can pass for the other (decisions §7). */
export const key: Handler = ({ params }, { keys, authority }) => {
  const keyId = params['keyId'] ?? ''
  if (keyId.includes(':')) {
    const approver = authority.current().approvers.find((row) => approverKeyId(row) === keyId)
    return approver === undefined ? failures.keyNotFound(keyId) : approverKey(approver)
  }
  const found = keys.get(keyId)
  return found === undefined ? failures.keyNotFound(keyId) : json(publicKeyJson(found), { cache: KEY_CACHE })
}

function approverKey(approver: ApproverRow): Answer {
  const published = publicKeyJson(ed25519PublicKey(approverKeyId(approver), approver.publicKeyPem))
  const { revokedAt } = approver
  return json(revokedAt === null ? published : { ...published, revokedAt }, { cache: APPROVER_KEY_CACHE })
}

/** The service's own keys only: an approver's must never be found by whoever looks for those. */
export const keySet: Handler = (_request, { keys }) => json(keys.jwks(), { cache: KEY_SET_CACHE })
