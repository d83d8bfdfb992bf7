// The one outside effect: a connector is called once for each released intent, and whatever it does becomes one of three outcomes.
import { beforeAll, expect, test } from 'vitest'
import { once } from 'node:events'
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises'
import type { Connector, Order } from '../../workers/connectors/connector.ts'
import { authorizeAlone, type Authorized } from '../../workers/execute/decide/authorize.ts'
import type { Released } from '../../workers/execute/claim.ts'
import { decide, type Concluded } from '../../workers/execute/decide/decide.ts'
import { perform } from '../../workers/execute/perform.ts'
import { validate, type Accepted } from '../../workers/execute/validate/validate.ts'
import { aTransaction } from '../transactions.ts'
import { aRequest, openSteps, releasedAlone, type Steps } from './thread.ts'

let steps: Steps
beforeAll(() => {
  steps = openSteps()
})

function aReleased(connector: Connector, transaction = aTransaction()): Released {
  const now = new Date()
  const accepted = validate(aRequest(transaction), now.toISOString()) as Accepted
  const connectors = { find: () => connector, registered: () => undefined }
  const concluded = decide(accepted, { ...steps, connectors, now }) as Concluded
  return releasedAlone(authorizeAlone(concluded, steps.key) as Authorized)
}

function connectorOf(call: Connector['call']): Connector & { orders: Order[] } {
  const orders: Order[] = []
  return {
    connectorId: 'test',
    connectorVersion: '1',
    endpoint: 'local:test',
    actions: ['sandbox:echo'],
    timeoutMs: 50,
    orders,
    call(order) {
      orders.push(order)
      return call(order)
    },
  }
}

/** How one call ends: its outcome, or the status and cause of the answer. */
async function outcomeOf(call: Connector['call'], transaction = aTransaction()) {
  const connector = connectorOf(call)
  const { atOnce, deferred } = await perform([aReleased(connector, transaction)], steps)
  expect(atOnce.length + deferred.length).toBe(1)
  const result = atOnce[0] ?? (await deferred[0])
  expect(connector.orders).toHaveLength(1)
  if (result === undefined) throw new Error('no result')
  return {
    inTime: atOnce.length === 1,
    signal: connector.orders[0]?.signal,
    ended: result.outcomeOfCall,
  }
}

const completed = { kind: 'completed', result: 'done' } as const
const failed = { kind: 'failed', reason: 'no' } as const
const unknown = { kind: 'unknown', cause: 'lost' } as const

test.each([completed, failed])(
  'what is known is taken as it is, at once or later: $kind',
  async (outcome) => {
    expect(await outcomeOf(async () => outcome)).toMatchObject({ inTime: true, ended: outcome })
    const later = () => nextTurn().then(() => nextTurn(outcome))
    expect(await outcomeOf(later)).toMatchObject({ inTime: false, ended: outcome })
  },
)

test.each<[string, Connector['call'], string]>([
  ['an unknown outcome', async () => unknown, 'lost'],
  ['an unknown outcome that comes later', () => delay(1, unknown), 'lost'],
  [
    'a throw',
    () => {
      throw new TypeError('oops')
    },
    'oops',
  ],
  ['a rejection', () => Promise.reject(new Error('reset')), 'reset'],
  ['no answer', () => new Promise(() => undefined), 'no answer within 50 ms'],
  [
    'an answer after the time-out',
    async ({ signal }) => {
      await once(signal, 'abort')
      return completed
    },
    'no answer within 50 ms',
  ],
  [
    'a rejection after the time-out',
    async ({ signal }) => {
      await once(signal, 'abort')
      throw new Error('late')
    },
    'no answer within 50 ms',
  ],
])('%s is an outcome that nobody knows, and the call is not made again', async (_, call, cause) => {
  const { ended, signal } = await outcomeOf(call)
  expect(ended).toEqual({ kind: 'unknown', cause })
  if (cause.startsWith('no answer')) expect(signal?.aborted).toBe(true)
})

test('the order is the intent that was authorized', async () => {
  const connector = connectorOf(async () => completed)
  const transaction = aTransaction({ intent: { target: 't', parameters: { b: 1, amount: 42 } } })
  await perform([aReleased(connector, transaction)], steps)
  expect(connector.orders).toMatchObject([
    { action: 'sandbox:echo', target: 't', parametersText: { text: '{"amount":42,"b":1}' } },
  ])
})

test('sandbox:echo waits as long as it was asked to, longer than a timer can too', async () => {
  const { call } = steps.connectors.find('sandbox:echo') as Connector
  const transaction = aTransaction({ intent: { parameters: { amount: 42, delayMs: 3e9 } } })
  const { inTime, ended } = await outcomeOf(call, transaction)
  expect(inTime).toBe(false)
  expect(ended).toEqual({ kind: 'unknown', cause: 'no answer within 50 ms' })
})

test('sandbox:echo answers with its parameters, fails when asked to, and a connector is found by its exact action only', async () => {
  const { call } = steps.connectors.find('sandbox:echo') as Connector
  const echo = async (parameters: object) => {
    const { atOnce } = await perform(
      [aReleased(connectorOf(call), aTransaction({ intent: { parameters } }))],
      steps,
    )
    return atOnce[0]
  }
  expect(await echo({ amount: 42, hang: false, delayMs: 0 })).toMatchObject({
    outcomeOfCall: {
      kind: 'completed',
      result: { echo: { text: '{"amount":42,"delayMs":0,"hang":false}' } },
    },
  })
  expect(await echo({ amount: 42, fail: true })).toMatchObject({ outcomeOfCall: { kind: 'failed' } })
  expect(steps.connectors.find('sandbox:ech')).toBeUndefined()
  expect(steps.connectors.find('__proto__')).toBeUndefined()
})
