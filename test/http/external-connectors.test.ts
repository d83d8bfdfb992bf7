// External connectors, and the changes of them that two humans make (decisions §7, §8).
import { describe, expect, test } from 'vitest'
import { aHuman, proposed, putInEffect, resolved } from '../authority.ts'
import { aCaller, reply, type TestService } from '../service.ts'
import { withDatabase } from '../with-service.ts'

const CHANGES = '/external-connectors/changes'
const maker = aHuman('maker')
const checker = aHuman('checker')
const robot = aCaller('robot')
const humans = { maker, checker }

let service: TestService
let production: TestService

withDatabase(async ({ start }) => {
  const options = { callers: [maker.entry, checker.entry, robot.entry] }
  service = await start(options)
  const { signingKeyDir, key } = service
  production = await start({ ...options, signingKeyDir, key, env: { NODE_ENV: 'production' } })
})

/** To an address that is public and looked up nowhere: nothing is called until something is executed. */
function aRegistration(capability: string, members: object = {}) {
  return {
    action: 'register',
    capability,
    endpointUrl: 'https://1.1.1.1/releases',
    policy: 'vendor-payment',
    allowedParameters: ['amount', 'invoice'],
    reason: 'test',
    ...members,
  }
}

const aRevocation = (capability: string) => ({ action: 'revoke', capability, reason: 'test' })
const propose = (body: unknown, to: TestService = service) => to.post(CHANGES, body, { key: maker.key })

async function listed(capability: string): Promise<unknown> {
  const { body } = await service.get('/external-connectors', { key: checker.key })
  return (body.externalConnectors as { capability: string }[]).find((row) => row.capability === capability)
}

describe('POST /external-connectors/changes 201', () => {
  test('answers what a checker is to be shown, the default timeout included; nothing is in effect yet', async () => {
    const { status, body } = await propose(aRegistration('vendor:pay'))
    expect(status).toBe(201)
    expect(body).toMatchObject({
      kind: 'external-connector',
      target: 'vendor:pay',
      proposed: {
        action: 'register',
        capability: 'vendor:pay',
        endpointUrl: 'https://1.1.1.1/releases',
        policy: 'vendor-payment',
        allowedParameters: ['amount', 'invoice'],
        timeoutMs: 10_000,
      },
      warnings: [],
    })
    expect(await listed('vendor:pay')).toBeUndefined()
  })

  test.each([
    ['no such policy', { policy: 'nowhere' }, 'There is no policy nowhere.'],
    [
      'a policy for something else',
      { policy: 'sandbox-echo' },
      'No version of policy sandbox-echo lists warned:verb.',
    ],
    [
      'an endpoint on the same machine',
      { endpointUrl: 'http://127.0.0.1:9/x', policy: 'nowhere' },
      'The endpoint is on the machine of the service itself, and is refused in production.',
    ],
  ])('a checker is warned of %s', async (_, members, warning) => {
    const change = await proposed(service, maker, CHANGES, aRegistration('warned:verb', members))
    expect(change['warnings']).toContain(warning)
    await resolved(service, checker, change, 'reject', { rejectionReason: 'a test' })
  })

  test.each([
    ['no parameter at all', { allowedParameters: [] }],
    ['64 parameters', { allowedParameters: Array.from({ length: 64 }, (_, i) => `p${i}`) }],
    ['the shortest timeout', { timeoutMs: 100 }],
    ['one that can be asked what became of a release', { readBack: true }],
    ['the longest timeout', { timeoutMs: 30_000 }],
    ['another port', { endpointUrl: 'https://1.1.1.1:8443/a/b' }],
    ['IPv6', { endpointUrl: 'https://[2606:4700:4700::1111]/x' }],
    ['the loopback address in the clear', { endpointUrl: 'http://[::1]:8080/x' }],
  ])('takes %s', async (_, members) => {
    const change = await proposed(service, maker, CHANGES, aRegistration('taken:verb', members))
    expect(change['proposed']).toMatchObject(members)
    await resolved(service, checker, change, 'reject', { rejectionReason: 'a test' })
  })
})

describe('POST /external-connectors/changes 400 invalidField', () => {
  /** The rule is looked into by test/connectors/address.test.ts: here, that this door asks it, and the resolver of names. */
  test.each([
    // proves abuse: An endpoint inside (SSRF): decimal
    'https://2130706433/',
    // proves abuse: An endpoint inside (SSRF): decimal
    'https://[::ffff:7f00:1]/',
    // proves abuse: A URL that reads as
    'https://user:secret@1.1.1.1/',
    'https://no-such-name.invalid/',
  ])('%j is no endpoint', async (endpointUrl) => {
    const { status, body } = await propose(aRegistration('ssrf:verb', { endpointUrl }))
    expect([status, body.error]).toEqual([400, expect.stringMatching(/^endpointUrl must /)])
  })

  // proves abuse: A URL that reads as
  test('a query is refused: a secret in it would be shown and signed', async () => {
    for (const endpointUrl of ['https://1.1.1.1/x?token=s3cret', 'https://1.1.1.1/x?'])
      expect(reply(await propose(aRegistration('query:verb', { endpointUrl })))).toEqual({
        status: 400,
        body: { error: 'endpointUrl must not have a query: no secret belongs there.' },
      })
  })

  test('in production the loopback address is refused in the clear too', async () => {
    const body = aRegistration('local:verb', { endpointUrl: 'http://127.0.0.1:8080/' })
    expect(reply(await propose(body, production))).toEqual({
      status: 400,
      body: { error: 'endpointUrl must be https.' },
    })
  })

  const parameters =
    'allowedParameters must be an array of at most 64 different parameter names, which may leave with a release; an execution with another one fails.'
  const parameter = 'allowedParameters.0 must be the name of a parameter.'
  const timeout = 'timeoutMs must be a whole number from 100 to 30000.'
  const readBack =
    'readBack must be true or false: whether it answers a signed GET that asks what became of a release.'
  const policy = 'policy must be the name of a policy.'
  const builtIn = 'capability must not be one that this service carries out itself.'
  const capability = 'capability must be a namespace:verb.'
  test.each<[string, object, string]>([
    ['an unknown action', { action: 'add' }, 'action must be one of register, revoke.'],
    ['a capability without a verb', { capability: 'vendor' }, capability],
    ['a capability with two verbs', { capability: 'vendor:pay:now' }, capability],
    ['a capability in upper case', { capability: 'Vendor:pay' }, capability],
    ['a capability with a line end', { capability: 'vendor:pay\n' }, capability],
    ['a capability that is no text', { capability: ['vendor:pay'] }, capability],
    ['the sandbox', { capability: 'sandbox:echo' }, builtIn],
    ['a deal update', { capability: 'hubspot:deal-update' }, builtIn],
    ['another deed at the CRM', { capability: 'hubspot:deal-delete' }, builtIn],
    [
      'an endpoint that is no text',
      { endpointUrl: ['https://1.1.1.1/'] },
      'endpointUrl must be https, to a host whose addresses are all public, without a query; http to a loopback literal outside production.',
    ],
    ['a policy with its version', { policy: 'vendor-payment/2.0.0' }, policy],
    ['a policy that is no text', { policy: {} }, policy],
    ['a text of parameters', { allowedParameters: 'amount' }, parameters],
    ['a parameter twice', { allowedParameters: ['amount', 'amount'] }, parameters],
    ['a parameter that is no text', { allowedParameters: [1] }, parameter],
    ['every parameter', { allowedParameters: ['*'] }, parameter],
    ['65 parameters', { allowedParameters: Array.from({ length: 65 }, (_, i) => `p${i}`) }, parameters],
    ['a timeout of 99 ms', { timeoutMs: 99 }, timeout],
    ['a timeout of 30001 ms', { timeoutMs: 30_001 }, timeout],
    ['a timeout of half a millisecond', { timeoutMs: 100.5 }, timeout],
    ['a timeout as text', { timeoutMs: '1000' }, timeout],
    ['a promise to answer in words', { readBack: 'true' }, readBack],
    ['no timeout, by null', { timeoutMs: null }, timeout],
  ])('%s is refused', async (_, members, error) => {
    expect(reply(await propose(aRegistration('refused:verb', members)))).toEqual({
      status: 400,
      body: { error },
    })
  })

  test.each(['register', 'revoke'])('a member that nobody reads is named: %s', async (action) => {
    const body = aRegistration('refused:verb', { action, timeoutms: 100 })
    expect(reply(await propose(body))).toEqual({
      status: 400,
      body: { error: 'timeoutms is not a member that is known here.' },
    })
  })
})

describe('POST /external-connectors/changes 400 fieldRequired', () => {
  test.each(['action', 'capability', 'endpointUrl', 'policy', 'allowedParameters', 'reason'])(
    '%s is required',
    async (name) => {
      for (const missing of [undefined, null, ' '])
        expect(reply(await propose(aRegistration('vendor:void', { [name]: missing })))).toEqual({
          status: 400,
          body: { error: `${name} is required.` },
        })
    },
  )
})

describe('POST /external-connectors/changes 409 conflict', () => {
  test('one registration is in effect for a capability, until it is revoked', async () => {
    expect(reply(await propose(aRevocation('once:verb')))).toEqual({
      status: 409,
      body: { error: 'No external connector is registered for once:verb.', code: 'CONFLICT' },
    })
    await putInEffect(service, humans, CHANGES, aRegistration('once:verb'))
    expect(reply(await propose(aRegistration('once:verb', { endpointUrl: 'https://1.0.0.1/' })))).toEqual({
      status: 409,
      body: {
        error: 'An external connector is registered for once:verb already: https://1.1.1.1/releases',
        code: 'CONFLICT',
      },
    })
    await putInEffect(service, humans, CHANGES, aRevocation('once:verb'))
    expect((await propose(aRegistration('once:verb'))).status).toBe(201)
  })

  test('one change of a capability is open at a time: a checker is never asked about two endpoints', async () => {
    expect((await propose(aRegistration('open:verb'))).status).toBe(201)
    expect((await propose(aRegistration('open:verb', { endpointUrl: 'https://1.0.0.1/' }))).status).toBe(409)
  })
})

describe('POST /external-connectors/changes/{id}/approve 200', () => {
  // proves §4.6 POST /refusal/verify, POST /audit/verify
  test('the registration is in effect under the id of its change, and a revocation ends it', async () => {
    const change = await putInEffect(
      service,
      humans,
      CHANGES,
      aRegistration('effect:verb', { timeoutMs: 500, readBack: true }),
    )
    expect(await listed('effect:verb')).toEqual({
      changeId: change.changeId,
      capability: 'effect:verb',
      endpointUrl: 'https://1.1.1.1/releases',
      policy: 'vendor-payment',
      allowedParameters: ['amount', 'invoice'],
      timeoutMs: 500,
      readBack: true,
      registeredAt: change['resolvedAt'],
    })
    await putInEffect(service, humans, CHANGES, aRevocation('effect:verb'))
    expect(await listed('effect:verb')).toBeUndefined()
    const again = await putInEffect(service, humans, CHANGES, aRegistration('effect:verb'))
    expect(await listed('effect:verb')).toMatchObject({
      changeId: again.changeId,
      timeoutMs: 10_000,
      readBack: false,
    })
  })

  test('a revocation that repeats the registration revokes what stands, and shows no more than that', async () => {
    await putInEffect(service, humans, CHANGES, aRegistration('repeated:verb'))
    const change = await putInEffect(
      service,
      humans,
      CHANGES,
      aRegistration('repeated:verb', { action: 'revoke' }),
    )
    expect(change['proposed']).toEqual({ action: 'revoke', capability: 'repeated:verb' })
    expect(await listed('repeated:verb')).toBeUndefined()
  })
})

describe('POST /external-connectors/changes/{id}/approve 400 invalidField', () => {
  // proves abuse: An endpoint inside (SSRF): decimal
  test('an endpoint is looked at again when it is approved: what may be proposed outside production is not approved in it', async () => {
    const body = aRegistration('moved:verb', { endpointUrl: 'http://127.0.0.1:8080/' })
    const change = await proposed(service, maker, CHANGES, body)
    expect(reply(await resolved(production, checker, change, 'approve'))).toEqual({
      status: 400,
      body: { error: 'endpointUrl must be https.' },
    })
    expect(await listed('moved:verb')).toBeUndefined()
    expect((await resolved(service, checker, change, 'approve')).status).toBe(200)
  })
})

describe('POST /external-connectors/changes/{id}/reject 200', () => {
  test('what was rejected never takes effect', async () => {
    const change = await proposed(service, maker, CHANGES, aRegistration('rejected:verb'))
    const { status, body } = await resolved(service, checker, change, 'reject', { rejectionReason: 'No.' })
    expect([status, body.status]).toEqual([200, 'REJECTED'])
    expect(await listed('rejected:verb')).toBeUndefined()
  })
})

describe('GET /external-connectors 200', () => {
  test('a human sees what is in effect, by capability', async () => {
    await putInEffect(service, humans, CHANGES, aRegistration('zz:verb'))
    await putInEffect(service, humans, CHANGES, aRegistration('aa:verb'))
    const { status, body } = await service.get('/external-connectors', { key: maker.key })
    const capabilities = (body.externalConnectors as { capability: string }[]).map((row) => row.capability)
    expect([status, Object.keys(body)]).toEqual([200, ['externalConnectors']])
    expect(capabilities).toEqual(capabilities.toSorted())
    expect(capabilities).toEqual(expect.arrayContaining(['aa:verb', 'zz:verb']))
  })
})
