// Stories of human authority (decisions §7): changes proposed by one and resolved by another. What is approved stays with the service
// for good, so those are few and the soak says how many.
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { keyIdOf } from '../../src/formats/people/caller.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import { aConnector, anEndpoint, aPolicy, aSigningKey, AREAS, checker } from '../authority.ts'
import { propose, putIntoEffect, resolve, type Area } from '../authority.ts'
import type { Call, CallRoute } from '../calls.ts'
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

/** One proposes, the other turns it down. */
const turnedDown = (area: Area, everySeconds: number, proposal: (world: World) => Call): Story => ({
  name: `proposes a ${area} and is turned down`,
  everySeconds,
  async tell(world) {
    const { call } = world.client
    await resolve(call, area, await propose(call, area, proposal(world)), 'reject')
  },
})

const look = { key: checker.key }

/** One proposes, the other looks at what waits and approves it; `then` takes it back, as far as it can be. */
const approved = <Proposal extends Call>(
  name: string,
  area: Area,
  proposal: (world: World) => Proposal,
  then: (call: CallRoute, proposed: Proposal, id: string) => Promise<unknown>,
): Story => ({
  name,
  everySeconds: 60,
  async tell(world) {
    const { call } = world.client
    const proposed = proposal(world)
    const change = await propose(call, area, proposed)
    await call(`GET ${AREAS[area]}`, { ...look, query: '?status=PENDING_APPROVAL' })
    await call(`GET ${AREAS[area]}/{id}`, { ...look, params: { id: change.changeId } })
    await resolve(call, area, change, 'approve')
    await then(call, proposed, change.changeId)
  },
})

export const changeStories: readonly Story[] = [
  turnedDown('policy', 3, newPolicy),
  turnedDown('approver', 10, newApprover),
  turnedDown('connector', 10, newConnector),
  turnedDown('rules', 10, newRules),
  turnedDown('endpoint', 10, newEndpoint),
  turnedDown('caller key', 10, newCallerKey),
  approved(
    'proposes a policy, looks at it before it is approved, and retires it',
    'policy',
    newPolicy,
    (call, { params }) => putIntoEffect(call, 'policy', { params, body: { action: 'retire' } }),
  ),
  approved('enrols an approver and revokes the key', 'approver', newApprover, async (call, { body }) => {
    const { approverId, keyId } = body
    await call('GET /changes', look)
    await putIntoEffect(call, 'approver', { body: { action: 'revoke', approverId, keyId } })
    await call('GET /approvers', look)
  }),
  approved(
    'registers an external connector and revokes it',
    'connector',
    newConnector,
    async (call, { body }) => {
      await putIntoEffect(call, 'connector', { body: { action: 'revoke', capability: body.capability } })
      await call('GET /external-connectors', look)
    },
  ),
  approved('issues a key of a caller and revokes it', 'caller key', newCallerKey, async (call, { body }) => {
    const { callerId, keyHash } = body
    await putIntoEffect(call, 'caller key', { body: { action: 'revoke', callerId, keyId: keyIdOf(keyHash) } })
    await call('GET /caller-keys', look)
  }),
  approved('puts webhook rules in effect', 'rules', newRules, (call) => call('GET /webhook-rules', look)),
  approved(
    'registers an event endpoint, has a secret made and events delivered again, and revokes it',
    'endpoint',
    newEndpoint,
    async (call, { body: { url } }, id) => {
      const own = { ...look, params: { id }, body: {} }
      await call('POST /event-endpoints/{id}/secret', own)
      await call('POST /event-endpoints/{id}/redeliver', own)
      await call('GET /event-endpoints', look)
      await putIntoEffect(call, 'endpoint', { body: { action: 'revoke', url } })
    },
  ),
]
