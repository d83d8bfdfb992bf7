// Stories of human authority (decisions §7): changes proposed by one and resolved by another. What is approved stays with the service
// for good, so those are few and the soak says how many.
import { generateKeyPairSync } from 'node:crypto'
import { aPolicy, type Change } from '../calls.ts'
import { propose, resolve } from './people.ts'
import type { Story, World } from './story.ts'
import { EXTERNAL } from './transactions.ts'

function proposedPolicy(world: World): Promise<Change> {
  const policy = { name: 'soak-proposed', version: `1.0.${world.next()}` }
  return propose(
    world,
    'POST /policies/{name}/{version}/pending-changes',
    { reason: 'soak', proposedContent: aPolicy(policy, 'soak:nothing') },
    policy,
  )
}

function proposedConnector(world: World): Promise<Change> {
  return propose(world, 'POST /external-connectors/changes', {
    action: 'register',
    capability: `soak:act-${world.next()}`,
    endpointUrl: world.receiverUrl,
    policy: EXTERNAL.name,
    allowedParameters: ['amount'],
    reason: 'soak',
  })
}

function proposedApprover(world: World, keyId: string): Promise<Change> {
  const { publicKey } = generateKeyPairSync('ed25519')
  return propose(world, 'POST /approvers/changes', {
    action: 'add',
    approverId: 'soak-newcomer',
    keyId,
    publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    reason: 'soak',
  })
}

export const authorityStories: readonly Story[] = [
  {
    name: 'proposes a policy and is turned down',
    routes: [
      'POST /policies/{name}/{version}/pending-changes',
      'GET /policies/pending-changes',
      'GET /policies/pending-changes/{id}',
      'POST /policies/pending-changes/{id}/reject',
    ],
    pace: { everySeconds: 3 },
    async tell(world) {
      const { client, checker } = world
      const change = await proposedPolicy(world)
      const key = checker.key
      await client.call('GET /policies/pending-changes', { key, query: '?status=PENDING_APPROVAL' })
      await client.call('GET /policies/pending-changes/{id}', { key, params: { id: change.changeId } })
      await resolve(world, '/policies/pending-changes', change, 'reject')
    },
  },
  {
    name: 'proposes a policy and has it approved',
    routes: [
      'POST /policies/{name}/{version}/pending-changes',
      'POST /policies/pending-changes/{id}/approve',
    ],
    pace: { everySeconds: 60 },
    tell: async (world) =>
      resolve(world, '/policies/pending-changes', await proposedPolicy(world), 'approve'),
  },
  {
    name: 'enrols an approver and revokes the key',
    routes: [
      'POST /approvers/changes',
      'GET /approvers/changes',
      'GET /approvers/changes/{id}',
      'POST /approvers/changes/{id}/approve',
      'GET /approvers',
    ],
    pace: { everySeconds: 60 },
    async tell(world) {
      const { client, checker } = world
      const key = checker.key
      const keyId = `key-${world.next()}`
      const change = await proposedApprover(world, keyId)
      await client.call('GET /approvers/changes', { key })
      await client.call('GET /approvers/changes/{id}', { key, params: { id: change.changeId } })
      await resolve(world, '/approvers/changes', change, 'approve')
      const revoked = { action: 'revoke', approverId: 'soak-newcomer', keyId, reason: 'soak' }
      const revocation = await propose(world, 'POST /approvers/changes', revoked)
      await resolve(world, '/approvers/changes', revocation, 'approve')
      await client.call('GET /approvers', { key })
    },
  },
  {
    name: 'proposes an approver and is turned down',
    routes: ['POST /approvers/changes', 'POST /approvers/changes/{id}/reject'],
    pace: { everySeconds: 10 },
    tell: async (world) =>
      resolve(world, '/approvers/changes', await proposedApprover(world, `no-${world.next()}`), 'reject'),
  },
  {
    name: 'registers an external connector and revokes it',
    routes: [
      'POST /external-connectors/changes',
      'GET /external-connectors/changes',
      'GET /external-connectors/changes/{id}',
      'POST /external-connectors/changes/{id}/approve',
      'GET /external-connectors',
    ],
    pace: { everySeconds: 60 },
    async tell(world) {
      const { client, checker } = world
      const key = checker.key
      const change = await proposedConnector(world)
      await client.call('GET /external-connectors/changes', { key })
      const { json } = await client.call('GET /external-connectors/changes/{id}', {
        key,
        params: { id: change.changeId },
      })
      await resolve(world, '/external-connectors/changes', change, 'approve')
      const revoked = { action: 'revoke', capability: json()['target'], reason: 'soak' }
      const revocation = await propose(world, 'POST /external-connectors/changes', revoked)
      await resolve(world, '/external-connectors/changes', revocation, 'approve')
      await client.call('GET /external-connectors', { key })
    },
  },
  {
    name: 'proposes an external connector and is turned down',
    routes: ['POST /external-connectors/changes', 'POST /external-connectors/changes/{id}/reject'],
    pace: { everySeconds: 10 },
    tell: async (world) =>
      resolve(world, '/external-connectors/changes', await proposedConnector(world), 'reject'),
  },
]
