// THE route table: every path and method of the service, in the order of interface §4.
import { execute, executeAsTransaction } from './execute.ts'
import { key, keySet } from './keys.ts'
import { refusal } from './refusals.ts'
import type { Route } from './route.ts'
import { callerIdentity, health, ready, root, version } from './system.ts'
import { transaction, transactions } from './transactions.ts'
import { trustRecord } from './trust-records.ts'

export const routes: readonly Route[] = [
  { method: 'GET', path: '/', handle: root },
  { method: 'GET', path: '/health', open: true, limit: 'health', handle: health },
  { method: 'GET', path: '/ready', open: true, limit: 'health', handle: ready },
  { method: 'GET', path: '/version', handle: version },
  { method: 'GET', path: '/keys/{keyId}', open: true, limit: 'public', handle: key },
  { method: 'GET', path: '/.well-known/jwks.json', open: true, limit: 'public', handle: keySet },
  { method: 'GET', path: '/callers/me', handle: callerIdentity },

  { method: 'POST', path: '/execute', limit: 'execute', takesBody: true, handle: execute },
  { method: 'POST', path: '/transactions', limit: 'execute', takesBody: true, handle: executeAsTransaction },
  { method: 'GET', path: '/transactions', handle: transactions },
  { method: 'GET', path: '/transactions/{id}', handle: transaction },

  { method: 'GET', path: '/trust-records/{id}', handle: trustRecord },
  { method: 'GET', path: '/refusal/{businessTransactionId}', handle: refusal },
]
