// Callers' keys, and changes of them (docs/handbook/callers.md). Raw keys never come here; the list shows the first 16 characters of a hash.
import { keyIdOf, type Caller } from '../../formats/people/caller.ts'
import { CallerKeyList, CallerKeyProposal } from '../../formats/schemas/caller-key.ts'
import { readCallerKeys, type CallerKeyRow } from '../../store/tables/caller-keys.ts'
import { callerKeyChange as change } from '../openapi/examples/changes.ts'
import type { Callers } from '../callers.ts'
import { changeRoutes } from './changes.ts'
import { wholeList } from './list.ts'
import { governingGet, type Route } from '../route.ts'

const { action: _, keyHash, ...scope } = change.pending.proposed

export const callerKeys = [
  wholeList({
    ...governingGet,
    path: '/caller-keys',
    readers: true,
    operationId: 'listCallerKeys',
    tag: 'Governance',
    summary: 'Keys of callers and their permissions',
    description:
      'All keys that governance has issued or revoked, and the entries of SERVICE_API_KEYS. For humans and auditors.',
    order: 'callerId',
    schema: CallerKeyList,
    member: 'callerKeys',
    example: {
      callerKeys: [
        {
          ...scope,
          keyId: keyIdOf(keyHash),
          source: 'governance',
          status: 'IN_EFFECT',
          issuedAt: change.approved.resolvedAt,
          issuedBy: change.approved.resolvedBy,
          issuedByChange: change.approved.changeId,
        },
      ],
    },
    read: async ({ pool, callers }) => shownKeys(await readCallerKeys(pool), callers),
    // No callerId has a space, so the keys of one caller are together.
    keyOf: (key) => `${key.callerId} ${key.keyId}`,
  }),
  ...changeRoutes({
    kind: 'caller-key',
    noun: 'a caller’s key',
    name: 'CallerKey',
    example: change,
    proposal: {
      description:
        'A key can be issued only once: a revoked key cannot be issued again. Its holder makes it with `countersign callers issue` and sends only its SHA-256. A revocation can also name an entry of SERVICE_API_KEYS.',
      schema: CallerKeyProposal,
    },
  }),
] as const satisfies readonly Route[]

/** In the order of callers; a configured key that governance knows is shown with the data of governance. */
function shownKeys(rows: readonly CallerKeyRow[], { configured, inEffect }: Callers) {
  const admitted = new Set(inEffect().map(({ caller }) => caller))
  const byHash = new Map(configured.map((caller) => [caller.keyHash, caller]))
  const now = new Date().toISOString()
  const isExpired = (caller: Caller | undefined) => caller?.expiresAt !== undefined && caller.expiresAt <= now
  const governed = rows.map(({ keyHash: hash, callerId, caller, isRevoked, ...row }) => ({
    ...scopeOf(caller ?? byHash.get(hash)),
    callerId,
    keyId: keyIdOf(hash),
    source: caller === undefined ? 'configuration' : 'governance',
    status: isRevoked ? 'REVOKED' : isExpired(caller) ? 'EXPIRED' : 'IN_EFFECT',
    issuedAt: row.issuedAt,
    issuedBy: row.issuedBy,
    issuedByChange: row.issuedByChange,
    revokedAt: row.revokedAt,
    revokedBy: row.revokedBy,
    revokedByChange: row.revokedByChange,
  }))
  const known = new Set(rows.map((row) => row.keyHash))
  const entries = configured
    .filter((caller) => !known.has(caller.keyHash))
    .map((caller) => ({
      ...scopeOf(caller),
      callerId: caller.callerId,
      keyId: keyIdOf(caller.keyHash),
      source: 'configuration',
      status: isExpired(caller) ? 'EXPIRED' : admitted.has(caller) ? 'IN_EFFECT' : 'REFUSED',
    }))
  const all = [...governed, ...entries]
  return all.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

const keyOf = (key: { readonly callerId: string; readonly keyId: string }) => `${key.callerId} ${key.keyId}`

function scopeOf(caller: Caller | undefined): object {
  if (caller === undefined) return {}
  const { keyHash: _1, unrestrictedCapabilities: _2, ...shown } = caller
  return shown
}
