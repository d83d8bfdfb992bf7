// Stories of requests that are refused before anything is stored (interface §7, decisions §3).
import { randomUUID } from 'node:crypto'
import type { Call } from '../calls.ts'
import { aTransaction, one, type Given, type Story, type World } from './story.ts'

const refused = (name: string, route: string, expect: number, given: (world: World) => Call): Story =>
  one(0.5, route, (world) => ({ ...given(world), expect }), name)

const executes = (name: string, expect: number, given: Given): Story =>
  refused(name, 'POST /execute', expect, () => ({ body: aTransaction(given) }))

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
  executes('leaves out its target', 400, { target: '' }),
  executes('speaks for somebody else', 403, { principal: 'somebody-else' }),
  refused('may not do that', 'POST /execute', 403, ({ narrow: key }) => ({
    key,
    body: aTransaction({ action: 'vendor:pay', principal: 'narrow' }),
  })),
  executes('declares what is not so', 403, { signals: { approved: true, amount: 43 } }),
  executes('names an unknown policy', 404, { policy: 'nobody' }),
  refused('is no human', 'GET /approvers', 403, () => ({})),
  refused('asks for what is not there', 'GET /trust-records/{id}', 404, () => ({
    params: { id: randomUUID() },
  })),
  refused('reads what is another’s', 'GET /transactions/{id}', 404, ({ narrow: key, executed }) => ({
    key,
    params: { id: executed[0] ?? '' },
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
