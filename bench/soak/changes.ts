// Stories of human authority (decisions §7): one human proposes a change and another resolves it. Approved changes stay with the service
// for good, so they are few and the soak says how many.
import { randomBytes, randomInt } from 'node:crypto'
import { makeRawKey } from '../../src/core/callers/callers.ts'
import { keyIdOf } from '../../src/formats/people/caller.ts'
import { sha256Hex } from '../../src/store/sha256.ts'
import {
  aConnector,
  anEndpoint,
  aPolicy,
  aSigningKey,
  AREAS,
  checker,
  propose,
  putIntoEffect,
  resolve,
  type Area,
} from '../authority.ts'
import type { Call, CallRoute } from '../calls.ts'
import { EXTERNAL, EXTERNAL_CAPABILITY, rarely, type Story, type World } from './story.ts'

/** A unique part of a name. */
const fresh = () => randomBytes(6).toString('hex')

const newPolicy = () => aPolicy('soak-proposed', `1.${randomInt(1e6)}.${randomInt(1e6)}`, 'soak:nothing')

const newConnector = ({ receiverUrl }: World) =>
  aConnector(`${EXTERNAL_CAPABILITY}-${fresh()}`, EXTERNAL, receiverUrl)

function newApprover() {
  const { publicKeyPem } = aSigningKey('newcomer')
  return { body: { action: 'add', approverId: 'soak-newcomer', keyId: `key-${fresh()}`, publicKeyPem } }
}

const newRules = () => ({ body: { provider: `soak_${fresh()}`, rules: [] } })

const newCallerKey = () => ({
  body: { action: 'issue', callerId: `soak-caller-${fresh()}`, keyHash: sha256Hex(makeRawKey()) },
})

const newGroup = () => ({ body: { action: 'set', group: `soak-${fresh()}`, members: ['soak-newcomer'] } })

/** A stand-in that begins in a year, so that it does not affect the measurement. */
const newStandIn = () => {
  const from = Date.now() + 365 * 86_400_000
  const [since, until] = [from, from + 86_400_000].map((ms) => new Date(ms).toISOString())
  return { body: { action: 'set', for: `soak-${fresh()}`, by: 'soak-newcomer', from: since, until } }
}

const newEndpoint = ({ receiverUrl }: World) => anEndpoint(new URL(`/events/${fresh()}`, receiverUrl).href)

/** One human proposes a change, the other rejects it. */
const turnedDown = (area: Area, everySeconds: number, proposal: (world: World) => Call): Story =>
  rarely(`proposes a ${area} and is turned down`, everySeconds, async (world) =>
    resolve(world.call, area, await propose(world.call, area, proposal(world)), 'reject'),
  )

const look = { key: checker.key }

/** One human proposes a change, the other looks at the open changes and approves it; `then` takes it back, as far as it can be. */
const approved = <Proposal extends Call>(
  area: Area,
  name: string,
  proposal: (world: World) => Proposal,
  then: (call: CallRoute, proposed: Proposal, id: string) => Promise<unknown>,
): Story =>
  rarely(name, 60, async (world) => {
    const { call } = world
    const proposed = proposal(world)
    const change = await propose(call, area, proposed)
    await call(`GET ${AREAS[area]}`, { ...look, query: '?status=PENDING_APPROVAL' })
    await call(`GET ${AREAS[area]}/{id}`, { ...look, params: { id: change.changeId } })
    await resolve(call, area, change, 'approve')
    await then(call, proposed, change.changeId)
  })

export const changeStories: readonly Story[] = [
  turnedDown('policy', 3, newPolicy),
  turnedDown('approver', 10, newApprover),
  turnedDown('connector', 10, newConnector),
  turnedDown('rules', 10, newRules),
  turnedDown('endpoint', 10, newEndpoint),
  turnedDown('caller key', 10, newCallerKey),
  turnedDown('group', 10, newGroup),
  turnedDown('stand-in', 10, newStandIn),
  approved('policy', 'proposes a policy, looks at it, and retires it', newPolicy, (call, { params }) =>
    putIntoEffect(call, 'policy', { params, body: { action: 'retire' } }),
  ),
  approved('approver', 'enrols an approver and revokes the key', newApprover, async (call, { body }) => {
    const { approverId, keyId } = body
    await call('GET /changes', look)
    await putIntoEffect(call, 'approver', { body: { action: 'revoke', approverId, keyId } })
    await call('GET /approvers', look)
  }),
  approved('connector', 'registers a connector and revokes it', newConnector, async (call, { body }) => {
    await putIntoEffect(call, 'connector', { body: { action: 'revoke', capability: body.capability } })
    await call('GET /external-connectors', look)
  }),
  approved('caller key', 'issues a key of a caller and revokes it', newCallerKey, async (call, { body }) => {
    const { callerId, keyHash } = body
    await putIntoEffect(call, 'caller key', { body: { action: 'revoke', callerId, keyId: keyIdOf(keyHash) } })
    await call('GET /caller-keys', look)
  }),
  approved(
    'group',
    'sets a group of approvers and removes it',
    newGroup,
    async (call, { body: { group } }) => {
      await putIntoEffect(call, 'group', { body: { action: 'remove', group } })
      await call('GET /approver-groups', look)
    },
  ),
  approved('stand-in', 'sets a stand-in and removes it', newStandIn, async (call, { body }) => {
    const { for: away, from } = body
    await putIntoEffect(call, 'stand-in', { body: { action: 'remove', for: away, from } })
    await call('GET /stand-ins', look)
  }),
  approved('rules', 'puts webhook rules in effect', newRules, (call) => call('GET /webhook-rules', look)),
  approved(
    'endpoint',
    'registers an event endpoint, has a secret made and events delivered again, and revokes it',
    newEndpoint,
    async (call, { body: { url } }, id) => {
      const own = { ...look, params: { id }, body: {} }
      await call('POST /event-endpoints/{id}/secret', own)
      await call('POST /event-endpoints/{id}/redeliver', own)
      await call('GET /event-endpoints', look)
      await call('GET /event-endpoints/{id}', { ...look, params: { id } })
      await putIntoEffect(call, 'endpoint', { body: { action: 'revoke', url } })
    },
  ),
]
