// The published keys, by which anyone can check our evidence (interface §2.7, §4.1).
import { failures, type Failure } from '../../core/errors/errors.ts'
import { NonEmptyText } from '../../formats/schemas/primitives.ts'
import { KeySet, PublicSigningKey } from '../../formats/schemas/signing-key.ts'
import { approverKeyId, approverKeyJson } from '../../core/signing/approver-keys.ts'
import { publicKeyJson, type PublishedKeys } from '../../core/signing/published.ts'
import type { ApproverRow } from '../../store/tables/approvers.ts'
import { answerKept, onceFor, type KeptDocument } from '../kept-document.ts'
import signingKey from '../openapi/examples/signing-key.json' with { type: 'json' }
import { json, openGet, type RouteRequest, type Route } from '../route.ts'
import type { Answer } from '../answer.ts'
import type { Service } from '../service.ts'

// The key of an id never changes, but it may be revoked at any time, and readers must see that within seconds.
const KEY_CACHE = 'public, max-age=5'

export const keys = [
  {
    ...openGet,
    path: '/keys/{keyId}',
    operationId: 'getKey',
    tag: 'System',
    summary: 'A public key of the service or of an approver',
    description:
      'Keys that no longer sign stay readable, so that their signatures can be checked. An id with a colon, `{approverId}:{keyId}`, names an approver’s key, which is valid for approvals only. A revoked key has `revokedAt`: its signatures from that time on do not count.',
    params: {
      keyId: {
        schema: NonEmptyText,
        description: 'The keyId, as signatures name it.',
        example: signingKey.keyId,
      },
    },
    answers: {
      200: { description: 'The key.', schema: PublicSigningKey, example: signingKey, cached: true },
    },
    failures: ['keyNotFound'],
    handle: publicKey,
  },
  {
    ...openGet,
    path: '/.well-known/jwks.json',
    operationId: 'getKeySet',
    tag: 'System',
    summary: 'All public signing keys',
    description:
      'A superset of a standard key set (RFC 7517): each entry repeats the members of its `jwk` at the top level, so that JWKS libraries can read it. Entries may lack `jwk`.',
    answers: {
      200: {
        description:
          'Ed25519 keys first, since some libraries know no other type; then in ascending order of keyId.',
        schema: KeySet,
        example: { keys: [{ ...signingKey, ...signingKey.jwk }] },
        kept: true,
      },
    },
    failures: [],
    /** Without the approvers' keys: a reader must not take one of them for a key of the service. */
    handle: (request, service) => answerKept(keySetOf(service.keys.jwks()), request),
  },
  {
    ...openGet,
    path: '/.well-known/approver-keys.json',
    operationId: 'getApproverKeySet',
    tag: 'System',
    summary: 'All public keys of approvers',
    description:
      'Each entry is the answer of GET /keys/{keyId}; revoked keys have `revokedAt`. Offline verifiers need this list and the key set of the service.',
    answers: {
      200: {
        description: 'In ascending order of keyId.',
        schema: KeySet,
        example: { keys: [{ ...signingKey, keyId: 'carol@example.com:2026-11' }] },
        kept: true,
      },
    },
    failures: [],
    handle: (request, { authority }) => answerKept(approverKeySetOf(authority.current().approvers), request),
  },
] as const satisfies readonly Route[]

const keySetOf = onceFor((keySet: ReturnType<PublishedKeys['jwks']>): KeptDocument => ({
  body: JSON.stringify(keySet),
  cache: KEY_CACHE,
}))

/** The rows stay the same until governance changes one. */
const approverKeySetOf = onceFor((approvers: readonly ApproverRow[]): KeptDocument => {
  const inOrder = approvers.map(approverKeyJson).toSorted((a, b) => (a.keyId < b.keyId ? -1 : 1))
  return { body: JSON.stringify({ keys: inOrder }), cache: KEY_CACHE }
})

/** Only the id of an approver's key has a colon, so neither kind can pass for the other (decisions §7). */
async function publicKey({ params }: RouteRequest, service: Service): Promise<Answer | Failure> {
  const keyId = params['keyId'] ?? ''
  if (!keyId.includes(':')) {
    const key = service.keys.get(keyId)
    return key === undefined ? failures.keyNotFound(keyId) : json(publicKeyJson(key), { cache: KEY_CACHE })
  }
  const approver = service.authority.current().approvers.find((row) => approverKeyId(row) === keyId)
  if (approver === undefined) return failures.keyNotFound(keyId)
  return json(approverKeyJson(approver), { cache: KEY_CACHE })
}
