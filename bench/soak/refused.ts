// Stories of requests that are refused before anything is stored (interface §7, decisions §3).
import { randomUUID } from 'node:crypto'
import type { RouteName } from '../../src/server/routes/index.ts'
import type { Call, Elsewhere } from './client.ts'
import type { Story, World } from './story.ts'
import { aTransaction } from './transactions.ts'

const refused = (
  name: string,
  route: RouteName | Elsewhere,
  expect: number,
  call: (world: World) => Call,
): Story => ({
  name,
  routes: [route],
  pace: { weight: 0.5 },
  tell: (world) => world.client.call(route, { ...call(world), expect }),
})

export const refusedStories: readonly Story[] = [
  refused('has no key', 'POST /execute', 401, () => ({ body: aTransaction() })),
  refused('has a wrong key', 'GET /transactions', 401, () => ({ key: `csk_${'x'.repeat(43)}` })),
  refused('asks for a path that is not there', 'GET /no-such-path', 404, ({ keys }) => ({
    key: keys.caller,
  })),
  refused('posts what can only be read', 'POST /health', 405, () => ({ body: {} })),
  refused('sends too much', 'POST /execute', 413, ({ keys }) => ({
    key: keys.caller,
    body: `"${'x'.repeat(200_000)}"`,
  })),
  refused('sends no JSON', 'POST /execute', 400, ({ keys }) => ({ key: keys.caller, body: '{"a":' })),
  refused('sends an id that is none', 'POST /transactions', 400, ({ keys }) => ({
    key: keys.caller,
    body: aTransaction({ id: 'one' }),
  })),
  refused('leaves out its metadata', 'POST /execute', 500, ({ keys }) => ({
    key: keys.caller,
    body: { ...aTransaction(), metadata: undefined },
  })),
  refused('leaves out its target', 'POST /execute', 400, ({ keys }) => ({
    key: keys.caller,
    body: aTransaction({ target: '' }),
  })),
  refused('speaks for somebody else', 'POST /execute', 403, ({ keys }) => ({
    key: keys.caller,
    body: aTransaction({ principal: 'somebody-else' }),
  })),
  refused('may not do that', 'POST /execute', 403, ({ keys }) => ({
    key: keys.narrow,
    body: aTransaction({ action: 'vendor:pay', principal: 'narrow' }),
  })),
  refused('is no human', 'GET /approvers', 403, ({ keys }) => ({ key: keys.caller })),
  refused('asks for what is not there', 'GET /trust-records/{id}', 404, ({ keys }) => ({
    key: keys.caller,
    params: { id: randomUUID() },
  })),
  refused('reads what is another’s', 'GET /transactions/{id}', 404, ({ keys, executed }) => ({
    key: keys.narrow,
    params: { id: executed.any() },
  })),
  refused('asks for page 0', 'GET /transactions', 400, ({ keys }) => ({
    key: keys.caller,
    query: '?page=0',
  })),
  refused('verifies what is not there', 'POST /verify', 404, ({ keys }) => ({
    key: keys.caller,
    body: { businessTransactionId: randomUUID() },
  })),
  refused('asks for an unknown policy', 'POST /policies/validate', 404, ({ keys }) => ({
    key: keys.caller,
    body: { policyId: 'nobody', policyVersion: '1.0.0' },
  })),
  refused('asks for an unknown key', 'GET /keys/{keyId}', 404, () => ({ params: { keyId: 'nobody' } })),
]
