// Stories of requests that are refused before anything is stored (interface §7, decisions §3).
import { randomUUID } from 'node:crypto'
import type { Call } from '../calls.ts'
import { aTransaction, type Story, type World } from './story.ts'

const refused = (name: string, route: string, expect: number, call: (world: World) => Call): Story => ({
  name,
  weight: 0.5,
  tell: (world) => world.client.call(route, { ...call(world), expect }),
})

export const refusedStories: readonly Story[] = [
  refused('has no key', 'POST /execute', 401, () => ({ body: aTransaction(), key: null })),
  refused('has a wrong key', 'GET /transactions', 401, () => ({ key: `csk_${'x'.repeat(43)}` })),
  refused('asks for a path that is not there', 'GET /no-such-path', 404, () => ({})),
  refused('posts what can only be read', 'POST /health', 405, () => ({ body: {}, key: null })),
  refused('sends too much', 'POST /execute', 413, () => ({ body: `"${'x'.repeat(200_000)}"` })),
  refused('sends no JSON', 'POST /execute', 400, () => ({ body: '{"a":' })),
  refused('sends an id that is none', 'POST /transactions', 400, () => ({
    body: aTransaction({ id: 'one' }),
  })),
  refused('leaves out its metadata', 'POST /execute', 500, () => ({
    body: { ...(JSON.parse(aTransaction()) as object), metadata: undefined },
  })),
  refused('leaves out its target', 'POST /execute', 400, () => ({ body: aTransaction({ target: '' }) })),
  refused('speaks for somebody else', 'POST /execute', 403, () => ({
    body: aTransaction({ principal: 'somebody-else' }),
  })),
  refused('may not do that', 'POST /execute', 403, ({ narrow: key }) => ({
    key,
    body: aTransaction({ action: 'vendor:pay', principal: 'narrow' }),
  })),
  refused('is no human', 'GET /approvers', 403, () => ({})),
  refused('asks for what is not there', 'GET /trust-records/{id}', 404, () => ({
    params: { id: randomUUID() },
  })),
  refused('reads what is another’s', 'GET /transactions/{id}', 404, ({ narrow: key, executed }) => ({
    key,
    params: { id: executed.any() },
  })),
  refused('asks for page 0', 'GET /transactions', 400, () => ({ query: '?page=0' })),
  refused('verifies what is not there', 'POST /verify', 404, () => ({
    body: { businessTransactionId: randomUUID() },
  })),
  refused('asks for an unknown policy', 'POST /policies/validate', 404, () => ({
    body: { policyId: 'nobody', policyVersion: '1.0.0' },
  })),
  refused('asks for an unknown key', 'GET /keys/{keyId}', 404, () => ({ params: { keyId: 'nobody' } })),
]
