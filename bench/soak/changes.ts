// Stories of human authority (decisions §7): changes proposed by one and resolved by another. What is approved stays with the service
// for good, so those are few and the soak says how many.
import { keyIdOf, makeRawKey } from '../../src/core/callers.ts'
import { sha256Hex } from '../../src/core/signing/sha256.ts'
import {
  aConnector,
  anEndpoint,
  aPolicy,
  aSigningKey,
  checker,
  propose,
  putIntoEffect,
  resolve,
} from '../authority.ts'
import type { Call } from '../calls.ts'
import { EXTERNAL, EXTERNAL_CAPABILITY, type Story, type World } from './story.ts'

const newPolicy = ({ next }: World) => aPolicy('soak-proposed', `1.0.${next()}`, 'soak:nothing')

const newConnector = ({ next, receiverUrl }: World) =>
  aConnector(`${EXTERNAL_CAPABILITY}-${next()}`, EXTERNAL, receiverUrl)

function newApprover({ next }: World) {
  const { publicKeyPem } = aSigningKey('newcomer')
  return { body: { action: 'add', approverId: 'soak-newcomer', keyId: `key-${next()}`, publicKeyPem } }
}

const newRules = ({ next }: World) => ({ body: { provider: `soak_${next()}`, rules: [] } })

function newCallerKey({ next }: World) {
  const callerId = `soak-caller-${next()}`
  return { body: { action: 'issue', callerId, keyHash: sha256Hex(makeRawKey()) } }
}

const newEndpoint = ({ next, receiverUrl }: World) =>
  anEndpoint(new URL(`/events/${next()}`, receiverUrl).href)

type Area = Parameters<typeof propose>[1]

/** One proposes, the other turns it down. */
const turnedDown = (area: Area, everySeconds: number, proposal: (world: World) => Call): Story => ({
  name: `proposes a ${area} and is turned down`,
  everySeconds,
  async tell(world) {
    const { call } = world.client
    await resolve(call, area, await propose(call, area, proposal(world)), 'reject')
  },
})

export const changeStories: readonly Story[] = [
  turnedDown('policy', 3, newPolicy),
  turnedDown('approver', 10, newApprover),
  turnedDown('connector', 10, newConnector),
  turnedDown('rules', 10, newRules),
  turnedDown('endpoint', 10, newEndpoint),
  turnedDown('caller key', 10, newCallerKey),
  {
    name: 'proposes a policy, looks at it before it is approved, and retires it',
    everySeconds: 60,
    async tell(world) {
      const { call } = world.client
      const policy = newPolicy(world)
      const change = await propose(call, 'policy', policy)
      const look = { key: checker.key }
      await call('GET /policies/pending-changes', { ...look, query: '?status=PENDING_APPROVAL' })
      await call('GET /policies/pending-changes/{id}', { ...look, params: { id: change.changeId } })
      await resolve(call, 'policy', change, 'approve')
      const retirement = { params: policy.params, body: { action: 'retire' } }
      await resolve(call, 'policy', await propose(call, 'policy', retirement), 'approve')
    },
  },
  {
    name: 'enrols an approver and revokes the key',
    everySeconds: 60,
    async tell(world) {
      const { call } = world.client
      const look = { key: checker.key }
      const proposal = newApprover(world)
      const change = await propose(call, 'approver', proposal)
      await call('GET /approvers/changes', look)
      await call('GET /changes', look)
      await call('GET /approvers/changes/{id}', { ...look, params: { id: change.changeId } })
      await resolve(call, 'approver', change, 'approve')
      const { approverId, keyId } = proposal.body
      await putIntoEffect(call, 'approver', { body: { action: 'revoke', approverId, keyId } })
      await call('GET /approvers', look)
    },
  },
  {
    name: 'registers an external connector and revokes it',
    everySeconds: 60,
    async tell(world) {
      const { call } = world.client
      const look = { key: checker.key }
      const proposal = newConnector(world)
      const change = await propose(call, 'connector', proposal)
      await call('GET /external-connectors/changes', look)
      await call('GET /external-connectors/changes/{id}', { ...look, params: { id: change.changeId } })
      await resolve(call, 'connector', change, 'approve')
      const { capability } = proposal.body
      await putIntoEffect(call, 'connector', { body: { action: 'revoke', capability } })
      await call('GET /external-connectors', look)
    },
  },
  {
    name: 'issues a key of a caller and revokes it',
    everySeconds: 60,
    async tell(world) {
      const { call } = world.client
      const look = { key: checker.key }
      const proposal = newCallerKey(world)
      const change = await propose(call, 'caller key', proposal)
      await call('GET /caller-keys/changes', look)
      await call('GET /caller-keys/changes/{id}', { ...look, params: { id: change.changeId } })
      await resolve(call, 'caller key', change, 'approve')
      const { callerId, keyHash } = proposal.body
      const body = { action: 'revoke', callerId, keyId: keyIdOf(keyHash) }
      await putIntoEffect(call, 'caller key', { body })
      await call('GET /caller-keys', look)
    },
  },
  {
    name: 'puts webhook rules in effect',
    everySeconds: 60,
    async tell(world) {
      const { call } = world.client
      const look = { key: checker.key }
      const change = await propose(call, 'rules', newRules(world))
      await call('GET /webhook-rules/changes', look)
      await call('GET /webhook-rules/changes/{id}', { ...look, params: { id: change.changeId } })
      await resolve(call, 'rules', change, 'approve')
      await call('GET /webhook-rules', look)
    },
  },
  {
    name: 'registers an event endpoint, has a secret made and events delivered again, and revokes it',
    everySeconds: 60,
    async tell(world) {
      const { call } = world.client
      const look = { key: checker.key }
      const { body } = newEndpoint(world)
      const change = await propose(call, 'endpoint', { body })
      await call('GET /event-endpoints/changes', look)
      await call('GET /event-endpoints/changes/{id}', { ...look, params: { id: change.changeId } })
      await resolve(call, 'endpoint', change, 'approve')
      const own = { ...look, params: { id: change.changeId }, body: {} }
      await call('POST /event-endpoints/{id}/secret', own)
      await call('POST /event-endpoints/{id}/redeliver', own)
      await call('GET /event-endpoints', look)
      await putIntoEffect(call, 'endpoint', { body: { action: 'revoke', url: body.url } })
    },
  },
]
