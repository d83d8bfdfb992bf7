// What the soak's humans and its approver sign (decisions §7), and the changes that they carry through.
import { randomBytes, randomUUID } from 'node:crypto'
import { canonicalize } from '../../src/core/json/canonical.ts'
import type { RouteName } from '../../src/server/routes/index.ts'
import { signEd25519 } from '../../src/core/signing/signature.ts'
import { stepUpFor, type Change } from '../calls.ts'
import type { World } from './story.ts'

type Area = '/policies/pending-changes' | '/approvers/changes' | '/external-connectors/changes'

export async function propose(
  { client, maker }: World,
  route: RouteName,
  body: object,
  params: Readonly<Record<string, string>> = {},
): Promise<Change> {
  const { json } = await client.call(route, { params, key: maker.key, body, expect: 201 })
  return json() as unknown as Change
}

/** The checker's word on a change, with a step-up of its own. */
export async function resolve(
  { client, checker }: World,
  area: Area,
  change: Change,
  action: 'approve' | 'reject',
): Promise<void> {
  await client.call(`POST ${area}/{id}/${action}`, {
    params: { id: change.changeId },
    key: checker.key,
    body: {
      stepUpAuthorization: stepUpFor(checker, change, action),
      ...(action === 'reject' ? { rejectionReason: 'Only a soak.' } : {}),
    },
  })
}

/** For one execution of `sandbox:echo` with these parameters on this target. */
export function aSignedApproval({ approverId, key }: World['approver'], target: string) {
  const now = Date.now()
  const payload = {
    version: 1,
    approvalId: randomUUID(),
    approverId,
    keyId: key.public.keyId,
    capability: 'sandbox:echo',
    target,
    scope: { limits: [{ path: 'amount', max: 1000 }] },
    issuedAt: new Date(now - 1_000).toISOString(),
    expiresAt: new Date(now + 600_000).toISOString(),
    nonce: randomBytes(16).toString('hex'),
  }
  const { value } = signEd25519('approval', canonicalize(payload), key)
  return { payload, algorithm: 'ed25519', signature: value }
}
