// SERVICE_TOKEN_ISSUERS: what is taken, and the sentence about each mistake.
import { expect, test } from 'vitest'
import { parseTokenIssuers } from '../src/core/callers/token-issuers.ts'
import { readConfig } from '../src/core/config/config.ts'
import { ConfigError } from '../src/core/errors/config-error.ts'

const issuer = {
  issuer: 'https://idp.example.com',
  audience: 'countersign',
  jwksUri: 'https://idp.example.com/jwks',
  algorithms: ['ES256'],
}

function problems(run: () => unknown): readonly string[] {
  try {
    run()
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

const rsa = { kty: 'RSA', n: 'AQAB', e: 'AQAB' }
const at = 'SERVICE_TOKEN_ISSUERS[0]'

test('an issuer has defaults for what is not said', () => {
  expect(parseTokenIssuers(JSON.stringify([issuer]))).toEqual([
    {
      issuer: issuer.issuer,
      audience: 'countersign',
      keys: { jwksUri: issuer.jwksUri },
      algorithms: ['ES256'],
      callerClaim: 'sub',
      allowedCapabilities: [],
      maxAgeSeconds: 3600,
    },
  ])
})

test.each<[what: string, entry: unknown, sentence: RegExp]>([
  ['an unknown member', { ...issuer, readAll: true }, /^\.readAll is not a member of an issuer\.$/],
  ['no audience', { ...issuer, audience: undefined }, /^\.audience is required\.$/],
  [
    'a shared secret',
    { ...issuer, algorithms: ['HS256'] },
    /^\.algorithms must be an array with at least one of/,
  ],
  ['no signature', { ...issuer, algorithms: ['none'] }, /^\.algorithms must be /],
  ['no algorithm', { ...issuer, algorithms: [] }, /^\.algorithms must be /],
  [
    'both kinds of keys',
    { ...issuer, jwks: { keys: [rsa] } },
    /^ must have one of jwks and jwksUri, not both\.$/,
  ],
  ['no keys', { ...issuer, jwksUri: undefined }, /^ must have one of jwks and jwksUri/],
  [
    'a private key',
    { ...issuer, jwksUri: undefined, jwks: { keys: [{ ...rsa, d: 'x' }] } },
    /^\.jwks must be /,
  ],
  [
    'a secret key',
    { ...issuer, jwksUri: undefined, jwks: { keys: [{ kty: 'oct', k: 'x' }] } },
    /^\.jwks must be /,
  ],
  [
    'keys over http',
    { ...issuer, jwksUri: 'http://idp.example.com/jwks' },
    /^\.jwksUri must be an https URL/,
  ],
  [
    'credentials in an address',
    { ...issuer, jwksUri: 'https://a:b@idp.example.com/' },
    /^\.jwksUri must be /,
  ],
  ['an issuer with a fragment', { ...issuer, issuer: 'https://idp.example.com#a' }, /^\.issuer must be /],
  [
    'an age of days',
    { ...issuer, maxAgeSeconds: 86_401 },
    /^\.maxAgeSeconds must be a whole number from 1 to 86400\.$/,
  ],
  [
    'a workload by another claim',
    { ...issuer, issuer: 'spiffe://a.org', callerClaim: 'x' },
    /^\.callerClaim must be sub/,
  ],
  [
    'proofs for an address with a query',
    { ...issuer, dpop: { url: 'https://api.example.com/?a' } },
    /^\.dpop must be \{url, required, nonces\}: the https URL/,
  ],
  [
    'nonces by a word',
    { ...issuer, dpop: { url: 'https://api.example.com', nonces: 'always' } },
    /^\.dpop must be .*, and true where each proof needs a nonce of this service\.$/,
  ],
  ['proofs without an address', { ...issuer, dpop: { required: true } }, /^\.dpop must be /],
  [
    'proofs of a workload',
    { ...issuer, issuer: 'spiffe://a.org', dpop: { url: 'https://api.example.com' } },
    /^\.dpop must be left out/,
  ],
  ['a text', 'https://idp.example.com', /^ must be an object\.$/],
])('%s is a mistake that names its member', (_what, entry, sentence) => {
  const found = problems(() => parseTokenIssuers(JSON.stringify([entry])))
  expect(found.map((one) => one.replace(at, ''))).toEqual([expect.stringMatching(sentence)])
})

test('two entries of one issuer, and what is no list', () => {
  expect(problems(() => parseTokenIssuers(JSON.stringify([issuer, issuer])))).toEqual([
    `SERVICE_TOKEN_ISSUERS[1].issuer is that of ${at} too.`,
  ])
  expect(problems(() => parseTokenIssuers('{'))).toEqual([
    'SERVICE_TOKEN_ISSUERS must be a JSON array of issuers.',
  ])
})

test('a key cannot have the name of a caller by token, in whatever case, and disabled authentication takes no issuers', () => {
  const SERVICE_TOKEN_ISSUERS = JSON.stringify([issuer])
  const callers = [{ callerId: 'HTTPS://idp.example.com#agent', keyHash: 'a'.repeat(64) }]
  expect(
    problems(() => readConfig({ SERVICE_TOKEN_ISSUERS, SERVICE_API_KEYS: JSON.stringify(callers) })),
  ).toEqual(['SERVICE_API_KEYS[0].callerId is a name of the callers by token of https://idp.example.com.'])
  expect(problems(() => readConfig({ SERVICE_TOKEN_ISSUERS, SERVICE_AUTH_DISABLED: 'true' }))).toEqual([
    'SERVICE_TOKEN_ISSUERS must not be set with SERVICE_AUTH_DISABLED: no token would be checked.',
  ])
})
