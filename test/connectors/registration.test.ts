// The address rule at registration and at approval (decisions §8): a name is looked up each time, and what it was counts for nothing.
import { expect, test } from 'vitest'
import { externalConnectorChanges } from '../../workers/authority/external-connector.ts'

const proposed: Parameters<NonNullable<ReturnType<typeof externalConnectorChanges>['check']>>[0] = {
  action: 'register',
  capability: 'vendor:pay',
  endpointUrl: 'https://pay.example.com/releases',
  policy: 'vendor-payment',
  allowedParameters: [],
  timeoutMs: 10_000,
}

/** A name server that changes its mind. */
function answering(...answers: string[][]) {
  return () => Promise.resolve((answers.shift() ?? []).map((address) => ({ address, family: 4 })))
}

// proves abuse: DNS rebinding: a name that was public
test('a name that is public when it is proposed and private when it is approved is refused then', async () => {
  const lookup = answering(['1.1.1.1'], ['10.0.0.1'])
  const { check } = externalConnectorChanges({ production: true, lookup })
  expect(await check?.(proposed)).toBeUndefined()
  expect(await check?.(proposed)).toMatchObject({
    status: 400,
    message: 'endpointUrl must resolve to public addresses only.',
  })
})

test.each([
  ['one private address among public ones', ['1.1.1.1', '169.254.169.254', '1.0.0.1']],
  ['no address', []],
])('%s is refused', async (_, addresses) => {
  const { check } = externalConnectorChanges({ production: true, lookup: answering(addresses) })
  expect(await check?.(proposed)).toMatchObject({ status: 400 })
})

test('a revocation looks nothing up: an endpoint that has become private can always be revoked', async () => {
  const { check } = externalConnectorChanges({ production: true, lookup: answering() })
  expect(await check?.(proposed)).toMatchObject({ status: 400 })
  expect(await check?.({ action: 'revoke', capability: 'vendor:pay' })).toBeUndefined()
})
