// Records of callers by token: what their signed authorization says of how they were authenticated, right and wrong.
import type { Cases } from '../case.ts'
import { put, type Json, type Members } from '../edit.ts'
import { aRecord, reauthorized, reissue } from '../evidence.ts'
import { modes, sha256 } from '../keys.ts'
import { aConfirmation } from '../provider-confirmations.ts'

const FAILING = ['caller authentication']
const ISSUER = 'https://login.example.com/agents'
const DOMAIN = 'spiffe://example.org'
const WORKLOAD = `${DOMAIN}/billing`

const token = {
  method: 'access-token',
  issuer: ISSUER,
  subject: 'dana',
  actor: 'agent-7',
  tokenHash: sha256('a token'),
}
const bound = { ...token, method: 'dpop', keyThumbprint: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs' }
const workload = {
  method: 'jwt-svid',
  issuer: DOMAIN,
  subject: WORKLOAD,
  tokenHash: sha256('a JWT-SVID'),
}

/** A record of this caller, signed with what its authorization says of them. */
function by(callerId: string, callerAuthentication: Json): Members {
  const named = put(aRecord({ name: 'first' }, modes.ed25519), 'transaction.metadata.submittedBy', callerId)
  const caller = put(named, 'authorization.payload.callerId', callerId)
  return reissue(
    reauthorized(put(caller, 'authorization.payload.callerAuthentication', callerAuthentication)),
    modes.ed25519,
  )
}

export function authenticatedRecords(all: Cases): void {
  const agent = `${ISSUER}#agent-7`
  const { actor: _, ...direct } = token
  const { keyThumbprint, ...unbound } = bound
  const { tokenHash, ...unhashed } = token
  all.add('valid-by-token', 'The caller had an access token.', by(agent, direct))
  all.add('valid-by-token-for-another', 'The caller had an access token for a person.', by(agent, token))
  all.add('valid-by-bound-token', 'The caller had an access token that is bound to a key.', by(agent, bound))
  all.add(
    'valid-by-token-confirmed',
    'The caller had an access token, and a provider confirms the execution.',
    put(by(agent, token), 'confirmations', [aConfirmation()]),
  )
  all.add('valid-by-svid', 'The caller is a workload with a JWT-SVID.', by(WORKLOAD, workload))
  all.add(
    'valid-by-token-more',
    'The service signed a member that this verifier does not know.',
    by(agent, { ...token, later: 1 }),
  )
  const rows: [id: string, what: string, callerId: string, said: Json][] = [
    ['null', 'It is null.', agent, null],
    ['text', 'It is a text.', agent, 'access-token'],
    ['empty', 'It is empty.', agent, {}],
    ['configured-name', 'The caller has the name of one with a key.', 'agent-7', token],
    ['other-issuer', 'The caller is one of another issuer.', `https://other.example.com#agent-7`, token],
    ['longer-issuer', 'The issuer is the beginning of another.', `${ISSUER}/more#agent-7`, token],
    ['no-name', 'The caller has no name behind its issuer.', `${ISSUER}#`, token],
    [
      'issuer-number-sign',
      'The issuer holds a number sign.',
      `${ISSUER}#a#b`,
      { ...token, issuer: `${ISSUER}#a` },
    ],
    ['issuer-empty', 'The issuer is empty.', '#agent-7', { ...token, issuer: '' }],
    ['issuer-null', 'There is no issuer.', agent, { ...token, issuer: null }],
    ['subject-empty', 'The subject is empty.', agent, { ...token, subject: '' }],
    ['actor-null', 'The actor is null.', agent, { ...token, actor: null }],
    ['actor-empty', 'The actor is empty.', agent, { ...token, actor: '' }],
    ['no-hash', 'There is no hash of the token.', agent, unhashed],
    [
      'hash-upper-case',
      'The hash is in upper case.',
      agent,
      { ...token, tokenHash: tokenHash.toUpperCase() },
    ],
    [
      'hash-line-break',
      'A line break stands after the hash.',
      agent,
      { ...token, tokenHash: `${tokenHash}\n` },
    ],
    ['method-unknown', 'The method is one that nobody knows.', agent, { ...token, method: 'password' }],
    ['method-null', 'There is no method.', agent, { ...token, method: null }],
    ['bound-without-key', 'It is bound to a key that it does not name.', agent, unbound],
    ['key-null', 'The key is null.', agent, { ...bound, keyThumbprint: null }],
    [
      'key-short',
      'The thumbprint of the key is too short.',
      agent,
      { ...bound, keyThumbprint: keyThumbprint.slice(1) },
    ],
    ['key-of-bearer', 'A bearer token names a key.', agent, { ...bound, method: 'access-token' }],
    [
      'key-short-of-bearer',
      'A bearer token names a key whose thumbprint is too short.',
      agent,
      { ...token, keyThumbprint: keyThumbprint.slice(1) },
    ],
    [
      'key-null-of-bearer',
      'A bearer token has a key that is null.',
      agent,
      { ...token, keyThumbprint: null },
    ],
    [
      'svid-of-issuer',
      'An access token is of a trust domain.',
      WORKLOAD,
      { ...workload, method: 'access-token' },
    ],
    ['token-as-svid', 'A JWT-SVID is of no trust domain.', agent, { ...token, method: 'jwt-svid' }],
    [
      'svid-of-another',
      'The JWT-SVID is of another workload.',
      WORKLOAD,
      { ...workload, subject: `${DOMAIN}/mail` },
    ],
    [
      'svid-elsewhere',
      'The workload is in another trust domain.',
      'spiffe://example.org.uk/x',
      { ...workload, subject: 'spiffe://example.org.uk/x' },
    ],
  ]
  for (const [id, what, callerId, said] of rows)
    all.add(`authentication-${id}`, what, by(callerId, said), FAILING)
  all.add(
    'authentication-added',
    'Somebody without a key added it to a record.',
    put(by(agent, token), 'authorization.payload.callerAuthentication', { ...token, subject: 'erik' }),
    ['canonical hash', 'record signature', 'authorization signature'],
  )
}
