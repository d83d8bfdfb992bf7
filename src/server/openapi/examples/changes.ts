// A change of each kind in every state, with the two requests that resolve it, made of the members that differ between kinds. The
// private keys that signed them are gone, so each file holds its five signatures; examples.test.ts posts the changes.
import { canonicalize, type Json } from '../../../formats/json/canonical.ts'
import { sha256Hex } from '../../../store/sha256.ts'
import approver from './approver-change.json' with { type: 'json' }
import approverGroup from './approver-group-change.json' with { type: 'json' }
import callerKey from './caller-key-change.json' with { type: 'json' }
import eventEndpoint from './event-endpoint-change.json' with { type: 'json' }
import externalConnector from './external-connector-change.json' with { type: 'json' }
import policy from './policy-change.json' with { type: 'json' }
import standIn from './stand-in-change.json' with { type: 'json' }
import webhookRules from './webhook-rules-change.json' with { type: 'json' }

interface Facts<Proposed> {
  readonly changeId: string
  readonly kind: string
  readonly target: string
  readonly proposed: Proposed
  readonly reason: string
  readonly warnings?: readonly string[]
  readonly diff?: object
  readonly rejectionReason: string
  readonly nonces: Readonly<Record<'approve' | 'reject', string>>
  readonly signatures: Readonly<Record<'pending' | 'approve' | 'approved' | 'reject' | 'rejected', string>>
}

const PROPOSED_AT = '2026-11-21T15:00:00.000Z'
const RESOLVED_AT = '2026-11-21T15:20:10.000Z'

function seal(signedAt: string, value: string) {
  return { signature: { algorithm: 'ed25519', keyId: '20261121T143000Z-ed25519', signedAt, value } }
}

function exampleOf<Proposed extends Json>(facts: Facts<Proposed>) {
  const { changeId, kind, target, proposed, reason, rejectionReason, warnings = [], diff } = facts
  const { nonces, signatures } = facts
  const shown = { changeId, kind, target, proposed, reason, proposedBy: 'alice', proposedAt: PROPOSED_AT }
  const changeHash = sha256Hex(canonicalize(shown))
  const advice = { warnings, ...(diff === undefined ? {} : { diff }) }
  const stepUp = (action: 'approve' | 'reject') => ({
    stepUpAuthorization: {
      payload: {
        version: 1,
        nonce: nonces[action],
        changeId,
        action,
        changeHash,
        authorizedAt: '2026-11-21T15:20:00.000Z',
        expiresAt: '2026-11-21T15:21:00.000Z',
      },
      keyId: 'step-up',
      algorithm: 'ed25519',
      signature: signatures[action],
    },
  })
  const resolved = { resolvedBy: 'local-dev', resolvedAt: RESOLVED_AT }
  return {
    pending: {
      ...shown,
      changeHash,
      status: 'PENDING_APPROVAL',
      ...advice,
      ...seal(PROPOSED_AT, signatures.pending),
    },
    approve: stepUp('approve'),
    approved: {
      ...shown,
      changeHash,
      status: 'APPROVED',
      ...resolved,
      ...stepUp('approve'),
      ...advice,
      ...seal(RESOLVED_AT, signatures.approved),
    },
    reject: { rejectionReason, ...stepUp('reject') },
    rejected: {
      ...shown,
      changeHash,
      status: 'REJECTED',
      ...resolved,
      rejectionReason,
      ...stepUp('reject'),
      ...advice,
      ...seal(RESOLVED_AT, signatures.rejected),
    },
  }
}

export const approverChange = exampleOf(approver)
export const approverGroupChange = exampleOf(approverGroup)
export const callerKeyChange = exampleOf(callerKey)
export const eventEndpointChange = exampleOf(eventEndpoint)
export const externalConnectorChange = exampleOf(externalConnector)
export const policyChange = exampleOf(policy)
export const standInChange = exampleOf(standIn)
export const webhookRulesChange = exampleOf(webhookRules)
